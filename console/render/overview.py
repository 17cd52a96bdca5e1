"""The overview's figures: counts over time, controller, audit, invariants."""

from itertools import groupby
from typing import Final

from console.model.history import sparkline
from console.model.workspace import Stage
from console.render.authority import controller_words, sentences
from console.render.lines import BLANK, Line, Span, cells, cut, fit, line, width_of, wrap
from console.render.state_words import WORD_OF, glyph_of
from emulator.audit.invariants import INVARIANTS
from sessions.model.clients import behind_by_group
from sessions.model.health import COUNTED, Counts
from sessions.text import clean, clock, number, plural

BETTER_MORE: Final = frozenset({"brokers_up", "partitions"})
"""Counts whose lowest value is their worst."""
UNTOLD: Final = ("unclean", "diverged", "lost")
"""Counts that no client of a cluster is told; a history tells that a leader is unclean."""
UNTOLD_SENTENCE: Final = "Clients are not told what is lost or diverged."
RECORDED: Final = "REPLAY"
"""The kind of a source that is a recording."""
UNRECORDED_SENTENCE: Final = "The controllers' records do not tell what is lost or diverged."
LABEL_WIDTH: Final = 20
FIGURE_WIDTH: Final = 9
SECONDS_MAX: Final = 120
CALM: Final = "No faults"
BLOCKED: Final = "blocked"
"""The count of partitions whose writes wait; a broker that does not respond may be their leader."""
BLOCKED_LABEL: Final = "writes blocked"
HEALTH: Final = tuple(
    name
    for _, state in COUNTED
    for name in ((state, BLOCKED) if state == "under_min_isr" else (state,))
)
"""The counts of the health pane, in order."""


def health_lines(stage: Stage, width: int) -> list[Line]:
    """Brokers and each count, with a bar for each of the last seconds (two minutes at most)."""
    counts = stage.view.counts()
    bars = max(10, min(SECONDS_MAX, width - LABEL_WIDTH - FIGURE_WIDTH - 6))
    down = counts.brokers - counts.brokers_up
    rows = [
        line(
            Span(fit("", 3)),
            Span(fit("", LABEL_WIDTH)),
            Span(f"{'now':>{FIGURE_WIDTH}}", "title"),
            Span(f"  last {bars} s", "title"),
        ),
        _count_line(
            stage,
            "brokers_up",
            "brokers up",
            f"{counts.brokers_up}/{counts.brokers}",
            bars,
            "error" if down else "ok",
            top=counts.brokers,
        ),
    ]
    untold: tuple[str, ...] = UNTOLD if stage.view.state.is_observed else ()
    if _is_recorded(stage):
        untold = tuple(name for name in untold if name != "unclean")
    for name in HEALTH:
        word = WORD_OF["waiting" if name == BLOCKED else name]
        text = BLOCKED_LABEL if name == BLOCKED else word.label
        if name in untold:
            label = Span(fit(text, LABEL_WIDTH), "muted")
            rows.append(line("   ", label, Span(f"{'-':>{FIGURE_WIDTH}}", "muted")))
            continue
        count = "lost_records" if name == "lost" else name
        value = getattr(counts, count)
        rows.append(
            _count_line(
                stage,
                count,
                text,
                number(value),
                bars,
                word.role if value else "",
                glyph=glyph_of(word, stage.glyphs),
            )
        )
    rows.append(_count_line(stage, "partitions", "partitions", number(counts.partitions), bars, ""))
    return [cut(row, width, stage.glyphs.more) for row in rows]


def _count_line(
    stage: Stage,
    name: str,
    label: str,
    figure: str,
    bars: int,
    role: str,
    *,
    glyph: str = " ",
    top: int | None = None,
) -> Line:
    worst = min if name in BETTER_MORE else max
    values = stage.history.values(name, stage.source.time_us, bars, worst)
    lit = "error" if role == "offline" else role or "muted"
    return line(
        Span(f" {glyph} ", role or "faint"),
        Span(fit(label, LABEL_WIDTH), "" if role else "muted"),
        Span(f"{figure:>{FIGURE_WIDTH}}", role or "muted"),
        "  ",
        *_bars(sparkline(values, stage.glyphs.sparks, top), stage.glyphs.sparks[0], lit),
    )


def _bars(bars: str, zero: str, role: str) -> list[Span]:
    """The bars, with those for zero in the background."""
    return [
        Span("".join(run), "faint" if empty else role)
        for empty, run in groupby(bars, key=lambda bar: bar == zero)
    ]


def control_lines(stage: Stage, width: int) -> list[Line]:
    """Controller, audit, expectations, clients, configuration."""
    state = stage.view.state
    if state.is_observed:
        return [cut(row, width, stage.glyphs.more) for row in observed_lines(stage, width)]
    rows = [
        *_worded("controller", *controller_words(stage), width),
        *_waiting(stage, width),
        _pair("cluster", f"{state.version or '?'}", "", "stepwise" if state.stepwise else ""),
        BLANK,
        *audit_lines(stage, width),
        BLANK,
        *invariant_lines(stage),
        _expectations(stage),
        _clients(stage),
        *_links(stage),
    ]
    return [cut(row, width, stage.glyphs.more) for row in rows]


def observed_lines(stage: Stage, width: int) -> list[Line]:
    """What a cluster that runs outside says of itself, and what it tells no client."""
    state = stage.view.state
    lags = behind_by_group(stage.view)
    late = {group: lag for group, lag in lags.items() if lag}
    worst = max(late, key=late.__getitem__, default="")
    note = f"{clean(worst)} the most: {number(late[worst])} records" if late else ""
    groups: list[Line] = []
    if state.groups or stage.source.kind != RECORDED:  # a history of controllers knows of none
        figures = f"{len(state.groups)}, {len(late)} behind"
        groups = [_pair("groups", figures, "warning" * bool(late), note), BLANK]
    untold = UNRECORDED_SENTENCE if _is_recorded(stage) else UNTOLD_SENTENCE
    return [
        *_worded("controller", *controller_words(stage), width),
        *_waiting(stage, width),
        _pair("cluster", state.version or "?"),
        BLANK,
        *groups,
        *(line(Span(f" {row}", "muted")) for row in wrap(untold, width - 2)),
        *(
            line(Span(f" {row}", "warning"))
            for note in stage.source.notes
            for row in wrap(clean(note), width - 2)
        ),
    ]


def _is_recorded(stage: Stage) -> bool:
    """Whether this is the history that a metadata log tells."""
    quorum = stage.view.state.quorum
    return quorum is not None and bool(quorum.log)


def audit_lines(stage: Stage, width: int) -> list[Line]:
    """Return the audit's verdict on acknowledged records."""
    lost, duplicated, diverged, read_and_lost = stage.index.audit
    offline = stage.view.counts().offline
    unknown = f"not known of {plural(offline, 'offline partition')}" if offline else ""
    return [
        _pair("acknowledged", number(stage.view.state.acked)),
        *_worded(
            "lost", number(lost), "error" if lost else "" if offline else "ok", unknown, width
        ),
        _pair("duplicated", number(duplicated), "warning" if duplicated else "ok"),
        _pair("diverged", number(diverged), "error" if diverged else "ok"),
        _pair("read, then lost", number(read_and_lost), "error" if read_and_lost else "ok"),
    ]


def invariant_lines(stage: Stage) -> list[Line]:
    """How many of the invariants hold, and the last one that was broken."""
    broken = stage.view.state.invariants
    total = len(INVARIANTS)
    if not broken:
        return [_pair("invariants", f"{total} of {total} hold", "ok")]
    names = {violation[1] for violation in broken}
    held = f"{max(0, total - len(names))} of {total} hold"
    seq, name, tp, detail, known = broken[-1]
    note = "known to happen in this release" if known else "the run's seed and inputs reproduce it"
    return [
        _pair("invariants", held, "error", f"{len(broken)} broken"),
        line(Span(f"   #{seq:,} {clean(name)} {clean(tp)}: {clean(detail)}", "error")),
        line(Span(f"   {note}", "muted")),
    ]


def _expectations(stage: Stage) -> Line:
    held = stage.view.state.expectations
    failed = len(held.failed)
    return _pair(
        "expectations",
        f"{held.passed} held",
        "error" if failed else "",
        f"{failed} failed" if failed else "",
    )


def _clients(stage: Stage) -> Line:
    state = stage.view.state
    failed = sum(producer.failed for producer in state.producers.values())
    pending = sum(producer.pending for producer in state.producers.values())
    connected = f", {number(len(state.connections))} connected" if state.connections else ""
    return _pair(
        "clients",
        f"{len(state.producers)} producing, {len(state.consumers)} consuming{connected}",
        "error" if failed else "",
        f"{number(failed)} failed, {number(pending)} pending" if failed or pending else "",
    )


def _waiting(stage: Stage, width: int) -> list[Line]:
    count = stage.view.tally("waiting")
    if not count:
        return []
    one = f"{plural(count, 'partition')} with acks=all"
    note = "for brokers in the ISR that do not respond or fetch"
    return _worded("writes waiting", one, "warning", note, width)


def _links(stage: Stage) -> list[Line]:
    count = len(stage.view.state.links)
    return [_pair("links", f"{count} with faults", "warning")] if count else []


def _worded(label: str, value: str, role: str, note: str, width: int) -> list[Line]:
    """A pair whose value is wrapped; its note stands below it where it does not fit beside it."""
    beside = _pair(label, value, role, note)
    if width_of(beside) <= width:
        return [beside]
    room = max(10, width - LABEL_WIDTH)
    first, *more = wrap(value, room)
    below = [*(Span(row, role) for row in more), *(Span(row, "muted") for row in wrap(note, room))]
    return [_pair(label, first, role), *(line(" " * LABEL_WIDTH, span) for span in below)]


def _pair(label: str, value: str, role: str = "", note: str = "") -> Line:
    return line(
        Span(fit(f" {label}", LABEL_WIDTH), "muted"),
        Span(value, role),
        Span(f"  {note}" if note else "", "muted"),
    )


def is_calm(counts: Counts) -> bool:
    """Whether none of the counted states holds of any partition."""
    return not any(getattr(counts, name) for _, name in COUNTED)


def healthy_words(stage: Stage, width: int) -> str:
    """The same as :func:`healthy_sentence` in at most ``width`` columns, as far as possible.

    What is wrong comes first, then how many are healthy.
    """
    sentence = healthy_sentence(stage)
    if cells(sentence) <= width:
        return sentence
    summary, _, rest = sentence.removesuffix(".").partition(". ")
    if summary != CALM:
        sentences = sentence.removesuffix(".").split(". ")
        heads = (". ".join(sentences[:count]) for count in range(len(sentences), 1, -1))
        return next((head for head in heads if cells(head) <= width), sentences[0])
    shorter = (rest, rest.replace(" partitions", ""), f"healthy{rest.partition(' healthy')[2]}")
    return next((words for words in shorter if cells(words) <= width), shorter[-1])


def healthy_sentence(stage: Stage) -> str:
    """What an empty list of faults says: how many are healthy, and since when.

    A dead broker is no partition's fault before its session ends, and a missing controller is none
    until something has to change, but neither is calm.
    """
    total = len(stage.index.keys)
    if not total:
        return "There are no partitions yet."
    since_us = stage.history.since(stage.source.time_us, is_calm)
    since = "" if since_us is None else f" since {clock(since_us)}"
    first = next(iter(stage.view.partitions.values()))
    if since_us is not None and since_us <= first.created_us:
        since = " since they exist"
    if stage.index.faults:
        since = ""
    counts = stage.view.counts()
    down = counts.brokers - counts.brokers_up
    frozen = sum(broker.state == "frozen" for broker in stage.view.state.brokers.values())
    lacking = [f"{plural(down - frozen, 'broker')} down."] if down > frozen else []
    lacking += [f"{plural(frozen, 'broker')} frozen."] if frozen else []
    lacking += sentences(stage)
    summary = " ".join(lacking) or f"{CALM}."
    return f"{summary} {total - stage.index.faults:,} of {total:,} partitions healthy{since}."
