"""The lines above and below every screen: header, tabs, footer, and the titles of panes.

Pure functions of a width.
"""

from collections.abc import Sequence
from typing import Final

from console.actions.lookup import Action, footer_actions, refusal
from console.model.pacer import speed_text
from console.model.questions import is_watched
from console.model.workspace import Stage
from console.render.event_text import describe
from console.render.lines import Line, Span, cut, data, fit, join_ends, line, width_of
from console.render.state_words import WORD_OF, glyph_of
from sessions.model.health import STATES
from sessions.model.quorum import controllers_running
from sessions.text import US_PER_DAY, age, clean, clock, dated_clock, number

TABS: Final = (
    ("1", "overview", "Overview"),
    ("2", "partitions", "Partitions"),
    ("3", "brokers", "Brokers"),
    ("4", "znodes", "Znodes"),
    ("5", "events", "Events"),
    ("6", "sessions", "Sessions"),
    ("7", "lab", "Lab"),
)
"""Key, mode and title of every screen that has a key of its own."""
KRAFT_TABS: Final = tuple(
    (key, "metadata", "Metadata") if mode == "znodes" else (key, mode, title)
    for key, mode, title in TABS
)
"""The same of a cluster without ZooKeeper."""
ACTION_OF: Final = {"metadata": "znodes"}
"""The actions of modes that have another name."""
MILD: Final = ("non_preferred", "reassigning")
"""States that call for nobody's attention."""
COMPARE: Final = ("8", "compare", "Side by side")
"""The screen that exists only while two runs are open."""
NAME_WIDTH_MAX: Final = 24
HELP_ACTION: Final = "app.help"
SHOWN: Final = tuple(state for state in STATES if state.flag and state.name not in MILD)
"""The states that the header counts, the most severe first."""
WATCHED_EVENTS_MAX: Final = 512
"""Longer steps are not searched for events to watch."""
KEY_NAMES: Final = {
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "shift+left": "s-left",
    "shift+right": "s-right",
    "shift+tab": "s-tab",
}


def key_name(key: str) -> str:
    """How a key is written in footer and help: ``^p`` for ``ctrl+p``."""
    return KEY_NAMES.get(key, key.replace("ctrl+", "^"))


def source_name(stage: Stage) -> str:
    """The source's name; its kind if it has none."""
    name = stage.source.name or stage.source.kind.lower()
    return fit(clean(name), NAME_WIDTH_MAX, more=stage.glyphs.more).rstrip()


def header_line(stage: Stage, width: int) -> Line:
    """The header: name, seed, pace, time cursor, and counts of what is wrong.

    Where there is little room, details give way one after another: counts of zero, the words of
    counts, the least severe first, the name, and the least severe counts. Seed, virtual time and
    event number always stay.
    """
    long, short = _time(stage, roomy=True), _time(stage, roomy=False)
    candidates = (
        (_title(stage, named=True), long, _counts(stage, zeros=True)),
        (_title(stage, named=True), long, _counts(stage)),
        *(
            (_title(stage, named=True), short, _counts(stage, words=words))
            for words in range(len(SHOWN), -1, -1)
        ),
        (_title(stage, named=False), short, _counts(stage, words=0)),
    )
    for title, time, counts in candidates:
        left = line(*title, " ", *time)
        if width_of(left) + width_of(counts) < width:
            return join_ends(left, counts, width, stage.glyphs.more)
    left = line(*candidates[-1][0], " ", *short)
    some = _counts(stage, words=0)
    while some and width_of(left) + width_of(some) >= width:
        some = some[:-1]
    return (
        join_ends(left, some, width, stage.glyphs.more)
        if some
        else cut(left, width, stage.glyphs.more)
    )


def _title(stage: Stage, *, named: bool) -> Line:
    state = stage.view.state
    name = Span(f" {source_name(stage)}", "strong") if named else ""
    run = f" {state.version}" if state.is_observed else f" seed {state.seed}"
    return line(name, Span(run, "muted"))


def _time(stage: Stage, *, roomy: bool) -> Line:
    source, pacer, glyphs = stage.source, stage.pacer, stage.glyphs
    mode = pacer.mode
    sign = glyphs.pause if pacer.paused else glyphs.play
    end = f"/{number(source.last_seq)}" if roomy and not source.at_tail else ""
    gap = "  " if roomy else " "
    stale_us = source.stale_us
    pace = (
        Span(f" {mode} {sign} ", f"mode-{mode.lower()}")
        if stale_us is None
        else Span(f" LOST {age(stale_us)} ", "error")
    )
    return line(
        " " if roomy else "",
        pace,
        f" {_speed(stage)}{gap}",
        Span(_clock(stage, roomy=roomy), "strong"),
        f"{gap}#{number(source.seq)}{end}",
        Span(f"{gap}READ-ONLY", "read-only") if stage.read_only else "",
        Span(f"{gap}{glyphs.up} REC", "error") if stage.recording else "",
    )


def _clock(stage: Stage, *, roomy: bool) -> str:
    """The time; of a history with its date, in narrow terminals only after the first midnight."""
    source = stage.source
    zero_us = source.wall_clock_us
    if zero_us is None or not (roomy or source.time_us >= US_PER_DAY):
        return clock(source.time_us)
    return dated_clock(source.time_us, zero_us)


def _speed(stage: Stage) -> str:
    """The chosen speed, followed by the actual speed if that is less."""
    pacer = stage.pacer
    managed = f" ({pacer.managed:.0f}x)" if pacer.is_behind and pacer.managed >= 1 else ""
    return f"{speed_text(pacer.speed)}{managed}"


def _counts(stage: Stage, *, zeros: bool = False, words: int = len(SHOWN)) -> Line:
    """The counts by severity, also those of zero on request; the first ``words`` have a word.

    They count partitions, but for lost records.
    """
    counts = stage.view.counts()
    down = counts.brokers - counts.brokers_up
    brokers = f"brk {counts.brokers_up}/{counts.brokers} "
    spans = [Span(brokers, "error" if down else "muted"), *_controllers(stage)]
    tallies = [
        (state, counts.lost_records if state.name == "lost" else stage.view.tally(state.name))
        for state in SHOWN
    ]
    shown_counts = [
        (state, count) for state, count in tallies if count or (zeros and state.is_counted)
    ]
    for place, (state, count) in enumerate(shown_counts):
        word = WORD_OF[state.name]
        glyph = glyph_of(word, stage.glyphs)
        shown = (
            f"{glyph} {word.short} {number(count)} " if place < words else f"{glyph}{number(count)}"
        )
        spans.append(Span(f" {shown}", word.role if count else "faint"))
    return line(*spans)


def _controllers(stage: Stage) -> Line:
    """How many controllers of a quorum run, if not all do or none leads."""
    quorum = stage.view.state.quorum
    if quorum is None or not stage.view.state.brokers:
        return ()
    running, total = controllers_running(quorum), len(quorum.controllers)
    if running == total and quorum.leader is not None:
        return ()
    return line(
        Span(f"ctl {running}/{total} ", "warning" if quorum.leader is not None else "error")
    )


def tabs_line(stage: Stage, mode: str, trail: str, width: int) -> Line:
    """The screens by their keys with the current one highlighted, and the place within it."""
    end = line(Span("? help ", "muted", HELP_ACTION), Span(" ^p find ", "muted", "app.palette"))
    watched = _watched(stage)
    for short in (False, True):
        left = (*_tabs(stage, mode, trail, short=short), *watched)
        if width_of(left) + width_of(end) < width:
            break
        if width_of(left) <= width:  # names say more than keys that every screen has
            return left
    return join_ends(left, end, width, stage.glyphs.more)


def _tabs(stage: Stage, mode: str, trail: str, *, short: bool) -> Line:
    spans: list[Span] = [Span(" ")]
    twins = hasattr(stage.source, "pairing")
    tabs = TABS if stage.view.state.quorum is None else KRAFT_TABS
    for key, name, title in (*tabs, COMPARE) if twins else tabs:
        here = name == mode
        shown = f" {key} " if short and not here else f" {key} {title} "
        spans.append(Span(shown, "tab-here" if here else "tab", f"go.{ACTION_OF.get(name, name)}"))
    return line(*spans, data(f" {stage.glyphs.here} {trail}" if trail else "", "strong"))


def _watched(stage: Stage) -> Line:
    """What the open scenario asks to watch for, if the last step reached it."""
    first, last = stage.pacer.came_from + 1, stage.source.seq
    if stage.card is None or not stage.pacer.paused or not 0 <= last - first < WATCHED_EVENTS_MAX:
        return ()
    passed = stage.reader.page(first, last)
    event = next((event for event in reversed(passed) if is_watched(stage.card, event)), None)
    if event is None:
        return ()
    description = describe(event)
    return line(Span(f"  {stage.glyphs.watched} {description.word} {description.text}", "accent"))


def way_line(stage: Stage, shown_seq: int, width: int) -> Line:
    """How far a long move of the time cursor, or a long search, has come; empty if there is none.

    Of a move it also says which moment the panes still show.
    """
    source = stage.source
    if (touching := stage.touching) is not None:
        reached = stage.reader.reached(touching.objects, touching.seq, touching.direction)
        where = "later" if touching.direction > 0 else "earlier"
        text = f" Searching {where} events of {clean(' or '.join(touching.objects))}:"
        place = f" at #{number(reached)}."
        return cut(
            (Span(text + place, "accent"), Span(" esc stops.", "muted")), width, stage.glyphs.more
        )
    goal = source.heading_for
    if goal is None:
        return ()
    begin = source.first_seq - 1
    share = (source.seq - begin) / max(1, goal - begin)
    text = f" Reading up to #{number(goal)}: {share:.0%}."
    return cut(
        (Span(text, "accent"), Span(f" Below is what was so at #{number(shown_seq)}.", "muted")),
        width,
        stage.glyphs.more,
    )


def footer_line(
    context: str, width: int, *, read_only: bool, more: str, can_forecast: bool = False
) -> Line:
    """The most useful keys of a screen, as many as fit; what cannot be done now is faint."""
    spans: list[Span] = []
    room = width - 1
    for action in footer_actions(context):
        entry = _footer_entry(action, read_only=read_only, can_forecast=can_forecast)
        if width_of(entry) <= room:
            spans += entry
            room -= width_of(entry)
    return cut((Span(" "), *spans), width, more)


def _footer_entry(action: Action, *, read_only: bool, can_forecast: bool) -> Line:
    refused = refusal(action, read_only=read_only, can_forecast=can_forecast) is not None
    keys = action.shown or key_name(action.keys[0])
    return line(
        Span(keys, "faint" if refused else "key", action.id),
        Span(f" {action.label}  ", "faint" if refused else "muted", action.id),
    )


def rule_line(
    stage: Stage, title: str, parts: Sequence[str], width: int, *, focused: bool = False
) -> Line:
    """A pane's title in a rule: ``── partitions 9/96 ── faults only ────``."""
    dash = stage.glyphs.horizontal
    spans: list[Span] = [
        Span(dash * 2, "rule"),
        data(f" {title} ", "title-sorted" if focused else "title"),
    ]
    for part in parts:
        if part:
            spans += [Span(dash * 2, "rule"), data(f" {part} ", "muted")]
    head = cut(spans, width, stage.glyphs.more)
    return (*head, Span(dash * (width - width_of(head)), "rule"))
