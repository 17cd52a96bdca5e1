"""Recordings as lines: an entry of the list, and the details of one."""

from typing import Final

from console.render.lines import BLANK, Line, Span, data, fit, line, wrap
from console.render.rows import Pick
from console.render.time_bar import bar_spans, bars_of
from sessions.format.catalog import Listed
from sessions.format.metadata import Origin, Outcome
from sessions.text import clock, number, plural

STRIP: Final = 24
"""Columns of the strip that shows when there were alerts."""
ROOMY: Final = 100
"""Minimum columns of a pane that also shows release, seed and events."""
NAME_MIN: Final = 16
ENDED: Final = {
    "ok": "ok",
    "damaged": "error",
    "unreadable": "error",
    "not closed": "warning",
    "recording": "ok",
}
FAILURES: Final = ("failed", "fault")
NAMES: Final = 11
"""Columns before a fact, with its name."""
KILO: Final = 1024
SHORT: Final = 100
"""Sizes below this number of units have one decimal."""


def size_text(size: int) -> str:
    """``812 B``, ``4.2 KB``, ``310 MB``."""
    value, units = float(size), ["B", "KB", "MB", "GB", "TB"]
    while value >= KILO and len(units) > 1:
        value /= KILO
        units.pop(0)
    small = value < SHORT and units[0] != "B"
    return f"{value:.1f} {units[0]}" if small else f"{value:.0f} {units[0]}"


def titles_line(width: int) -> Line:
    """The titles of the list's columns."""
    roomy = f"{'RELEASE':>8} {'SEED':>6} {'EVENTS':>10} " if width >= ROOMY else ""
    text = f"  {fit('FILE', _name_width(width))} {'SIZE':>8} {roomy}{'TIME':>12} {'ENDED':<11}"
    return line(Span(f"{text} ALERTS", "title"))


def _name_width(width: int) -> int:
    fixed = 2 + 1 + 8 + 1 + 13 + 12 + STRIP + (27 if width >= ROOMY else 0)
    return max(NAME_MIN, width - fixed - 1)


def pick_of(listed: Listed, width: int, sparks: str, more: str, *, recording: bool = False) -> Pick:
    """One recording as a line of the list; ``recording``: it is being written just now."""
    ended = "recording" if recording else listed.ended
    name = fit(listed.path.name, _name_width(width), more=more)
    role = ENDED.get(ended, "error" if ended in FAILURES else "muted")
    origin = listed.origin
    parts: list[str | Span] = [data(name), f" {size_text(listed.size_bytes):>8} "]
    if origin is None:
        parts += [Span(f"{ended}: ", role), data(listed.problem, "muted")]
        return Pick(str(listed.path), line(*parts), f"{listed.path.name} {ended}")
    if width >= ROOMY:
        parts.append(f"{origin.version:>8} {origin.seed:>6} {number(listed.events):>10} ")
    parts += [f"{clock(listed.time_us):>12} ", Span(fit(ended, 11), role), " "]
    bars = bars_of(listed.alerts, STRIP, max(1, listed.time_us))
    text = f"{listed.path.name} {ended} {origin.version} {origin.script}"
    return Pick(str(listed.path), line(*parts, *bar_spans(bars, sparks)), text)


def about_lines(listed: Listed, width: int) -> list[Line]:
    """The details of a recording."""
    rows = [*_rows("file", str(listed.path), width), *_rows("ended", _ended(listed), width)]
    if listed.origin is not None:
        rows += _origin_lines(listed, listed.origin, width)
    if listed.outcome is not None:
        rows += _outcome_lines(listed.outcome, width)
    return rows


def _origin_lines(listed: Listed, origin: Origin, width: int) -> list[Line]:
    pairs = [
        ("release", f"{origin.version}, seed {origin.seed}"),
        ("script", origin.script or "none"),
        ("recorded", origin.began or "unknown"),
        ("events", f"{number(listed.events)} in {clock(listed.time_us)}"),
        ("bookmarks", number(listed.bookmarks)),
        ("alerts", _alerts(listed)),
    ]
    return [row for name, text in pairs for row in _rows(name, text, width)]


def _outcome_lines(outcome: Outcome, width: int) -> list[Line]:
    held = f"{number(outcome.passed)} held, {number(outcome.failed)} failed"
    records = (
        f"{number(outcome.acked)} acknowledged, {number(outcome.lost)} lost, "
        f"{number(outcome.duplicated)} duplicated, {number(outcome.diverged)} diverged"
    )
    pairs = [("expected", held), ("records", records), ("state", outcome.state_hash)]
    return [row for name, text in pairs for row in _rows(name, text, width)]


def _ended(listed: Listed) -> str:
    return f"{listed.ended}. {listed.problem}" if listed.problem else listed.ended


def _alerts(listed: Listed) -> str:
    bad = [counts for _, _, counts in listed.alerts if counts.offline or counts.under_min_isr]
    worst = max((counts.offline for counts in bad), default=0)
    if not bad:
        return "never offline, never below min ISR"
    changes = f"{plural(len(bad), 'change')} with partitions offline or below min ISR"
    return f"{changes}, at worst {number(worst)} offline"


def _rows(name: str, text: str, width: int) -> list[Line]:
    """One fact, in as many lines as it needs."""
    first, *rest = wrap(text, max(20, width - NAMES - 1)) or [""]
    head = line(Span(f" {name:<{NAMES - 1}}", "muted"), data(first))
    return [head, *(line(" " * NAMES, data(row)) for row in rest)]


def empty_lines(folder: str, problem: str, width: int) -> list[Line]:
    """Why there is nothing to list, and how to record."""
    reason = problem or f"There is no recording in {folder} (files named *.tide.db)."
    rows = [line(Span(row, "muted")) for row in wrap(reason, max(20, width - 2))]
    key = "'tidegauge console --record .' makes one; r looks again"
    return [BLANK, *rows, *(line(Span(row, "key")) for row in wrap(key, max(20, width - 2)))]
