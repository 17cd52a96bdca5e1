"""The headline of every screen: the verdict on the cluster, in words."""

from typing import Final

from console.model.workspace import Stage
from console.render.lines import Line, Span, cut, join_ends, line, width_of
from console.styles.glyphs import Glyphs
from sessions.model.health import Counts
from sessions.model.verdict import (
    AT_LATEST,
    HEALTHY,
    NOBODY_DECIDES,
    REASONS,
    Verdict,
    counted,
    verdicts,
    words,
)
from sessions.text import plural

LOOKS: Final = {
    "offline": ("error", "offline"),
    "blocked": ("error", "waiting"),
    "refused": ("error", "under_min"),
    "no controller": ("error", "authority"),
    "zookeeper unreachable": ("error", "authority"),
    "quorum lost": ("error", "authority"),
    "lost": ("error", "lost"),
    "zookeeper cut": ("warning", "authority"),
    "unclean": ("unclean", "unclean"),
    "diverged": ("diverged", "diverged"),
    "at_min_isr": ("warning", "at_min"),
    "under_replicated": ("caution", "under_replicated"),
    "brokers down": ("warning", "down"),
    HEALTHY: ("ok", "up"),
}
"""Role and glyph of each kind of verdict."""
ACTION: Final = "go.verdict"
SIGN_WIDTH: Final = 3
IN_SHORT: Final = "no elections, no changes of ISRs"
"""What it means on a narrow screen that nobody decides."""
KEY: Final = line(Span("! ", "key", ACTION), Span("shows them ", "muted", ACTION))
HELP: Final = line(
    Span("? ", "key", "app.help"),
    Span("help  ", "muted", "app.help"),
    Span("^p ", "key", "app.palette"),
    Span("find ", "muted", "app.palette"),
)
"""What to press while nothing is wrong."""
TASKS: Final = line(
    *(
        span
        for key, label, action in (
            ("f2", "break a broker", "try.break"),
            ("f3", "lose a record", "try.lose"),
            ("f4", "why?", "try.why"),
        )
        for span in (Span(f"{key} ", "key", action), Span(f"{label}  ", "muted", action))
    )
)
"""What to try first."""


def look_of(held: Verdict, counts: Counts) -> tuple[str, str]:
    """The role of a verdict, and the name of its glyph."""
    role, glyph = LOOKS[held.kind]
    return role, "leaderless" if held.kind == "blocked" and counts.leaderless else glyph


def verdict_line(stage: Stage, width: int, *, names_help: bool = True) -> Line:
    """The worst verdict in words, the others in short, and the key that lists what it is about.

    ``names_help``: where that says nothing, it names the keys of help and palette.
    """
    view, counts = stage.view, stage.view.counts()
    held, *others = verdicts(counts)
    if held.kind == HEALTHY and (stalled := stage.index.stalled):
        return _stalled(stage, stalled, width)
    text = words(view, held)
    if len(text) + SIGN_WIDTH > width:
        text = text.partition(REASONS)[0]
    if len(text) + SIGN_WIDTH > width:
        text = text.removesuffix(AT_LATEST).replace(NOBODY_DECIDES, IN_SHORT)
    spans = [*_sign(held, counts, stage.glyphs), Span(text, _role(held), ACTION)]
    end: Line = KEY
    if held.kind == HEALTHY:
        end = TASKS if stage.offers_tasks else HELP if names_help else ()
    for other in others:
        role, _ = look_of(other, counts)
        more = [Span("   "), *_sign(other, counts, stage.glyphs), Span(counted(other), role)]
        if width_of([*spans, *more, *end]) >= width:
            break
        spans += more
    if width_of([*spans, *end]) >= width:
        end = ()
    more_sign = stage.glyphs.more
    return join_ends(tuple(spans), end, width, more_sign) if end else cut(spans, width, more_sign)


def _stalled(stage: Stage, count: int, width: int) -> Line:
    """What is shown if nothing is wrong but that records wait: no count tells that."""
    glyphs = stage.glyphs
    text = f"HW stalled: records of {plural(count, 'partition')} wait for a follower in the ISR"
    spans = line(Span(f" {glyphs.stalled} ", "warning"), Span(text, "warning", ACTION))
    if width_of([*spans, *KEY]) >= width:
        return cut(spans, width, glyphs.more)
    return join_ends(spans, KEY, width, glyphs.more)


def _role(held: Verdict) -> str:
    return "alarm" if held.is_loss else LOOKS[held.kind][0]


def _sign(held: Verdict, counts: Counts, glyphs: Glyphs) -> Line:
    role, glyph = look_of(held, counts)
    return line(Span(f" {getattr(glyphs, glyph)} ", role))
