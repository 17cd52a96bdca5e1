"""The report of an incident, for people: its sections, as text and tables."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from sessions.own_cluster.places import time_text
from sessions.postmortem.impact import BrokerLoss, Impact, Reign, Risk, Truncation, Window
from sessions.postmortem.incident import Incident
from sessions.postmortem.timeline import ISR_SHRINK, TimelineEntry
from sessions.postmortem.what_if import WhatIf, basis, sentences
from sessions.postmortem.words import Words, timeout_of, timeout_us_of, words_of
from sessions.text import brackets, plural

ROWS_MAX: Final = 500
"""How many rows a table has: what is left out is counted."""
NAMED_MAX: Final = 8
SOON_US: Final = 1_000_000
Row = tuple[str, ...]
TIMELINE_HEADER: Final = ("time", "what", "because", "source")


class Section(Struct, frozen=True):
    """A part of the report: sentences, then a table if it has a header."""

    title: str
    sentences: Sequence[str] = ()
    header: Row = ()
    rows: Sequence[Row] = ()


class Report(Struct, frozen=True):
    """A whole report; ``verdict`` is one sentence, ``is_bad`` whether something was unavailable."""

    title: str
    verdict: str
    is_bad: bool
    sections: Sequence[Section]


def report_of(
    incident: Incident, sources: Sequence[str], comparisons: Sequence[WhatIf] = ()
) -> Report:
    """Return the report of a history that was read from ``sources``.

    It includes what changes of the configuration would have done.
    """
    sources = [_source(source) for source in sources]
    sections = [
        _facts(incident, sources),
        _losses(incident),
        _offline(incident),
        _unwritable(incident),
        _risks(incident),
        _truncations(incident),
        *([_what_if(comparisons)] if comparisons else []),
        _leaders(incident),
        _shrinks(incident),
        _unexplained(incident),
        _entries("Timeline", incident.timeline.entries),
    ]
    impact = incident.impact
    is_unclean = any(risk.is_unclean for risk in impact.risks)
    is_bad = bool(impact.offline or is_unclean or _removed_verdict(impact))
    title = f"Postmortem of {', '.join(sources)}"
    kept = [section for section in sections if section.rows or not section.header]
    return Report(title, verdict(incident), is_bad, kept)


def _source(path: str) -> str:
    """The name of a source; the current folder has that of the folder itself."""
    return path if Path(path).name.strip(".") else Path(path).resolve().name or path


def verdict(incident: Incident) -> str:
    """One sentence about the whole history."""
    impact = incident.impact
    unclean = sum(risk.is_unclean for risk in impact.risks)
    crashes = sum(not loss.is_controlled for loss in impact.losses)
    parts = [
        f"{plural(crashes, 'time')} a broker was lost without a shutdown" if crashes else "",
        _offline_verdict(incident),
        f"{plural(unclean, 'unclean election')}" if unclean else "",
        _removed_verdict(impact),
    ]
    summary = "; ".join(part for part in parts if part) or "no partition was without a leader"
    count = incident.unexplained_count
    explained = f"{plural(count, 'record')} not explained" if count else "every record is explained"
    if not incident.is_checked:
        explained = "not checked against the rules"
    sentence = f"{summary}; {explained}."
    return sentence[0].upper() + sentence[1:]


def _removed_verdict(impact: Impact) -> str:
    """How many records replicas removed that may have been acknowledged, by partition the most."""
    removed: dict[str, int] = {}
    for cut in impact.truncations:
        if cut.end is not None:
            removed[cut.tp] = max(removed.get(cut.tp, 0), cut.end - cut.offset)
    if not removed:
        return ""
    return f"{plural(sum(removed.values()), 'record')} of {_partitions(sorted(removed))} removed"


def _offline_verdict(incident: Incident) -> str:
    windows = incident.impact.offline
    if not windows:
        return ""
    longest = max(windows, key=lambda window: window.lasts_us(incident.end_us))
    tps = {window.tp for window in windows}
    return (
        f"{plural(len(tps), 'partition')} without a leader, for up to "
        f"{_seconds(longest.lasts_us(incident.end_us))} ({longest.tp})"
    )


# ---- sections


def _facts(incident: Incident, sources: Sequence[str]) -> Section:
    mode = words_of(incident).mode
    sentences = [
        f"Kafka {incident.release} in {mode} mode; nodes {', '.join(map(str, incident.nodes))}.",
        f"{time_text(incident.begin_us)} to {time_text(incident.end_us)}; all times are UTC.",
        f"{amount(incident)}, read from {', '.join(sources)}.",
        *_configured(incident),
        *(f"Note: {note}." for note in incident.notes),
    ]
    return Section("What was read", sentences)


def amount(incident: Incident) -> str:
    """How much was read, in the words of its mode."""
    if incident.is_of_lines:
        return plural(incident.records, "line")
    words = words_of(incident)
    records = plural(incident.records, words.records)
    return f"{records} in {incident.batches:,} {words.batches}"


def _configured(incident: Incident) -> Iterator[str]:
    """What the processes were started with, where that is not the default."""
    processes = incident.processes
    if not processes.settings:
        return
    values = processes.configured(incident.release, incident.controllers)
    if not values:
        yield "What decides about failures was not configured, by the text logs: the defaults hold."
    for source in dict.fromkeys(value.source for value in values.values()):
        settings = [
            f"{name}={value.text}" for name, value in values.items() if value.source == source
        ]
        yield f"Configured, by {source}: {', '.join(settings)}."


def _losses(incident: Incident) -> Section:
    losses = incident.impact.losses
    words = words_of(incident)
    sentences = [
        f"Detection: {words.detection}. This takes up to {timeout_of(incident)}. {words.shutdown}",
        f"Election: {words.election}",
        f"Recovery: {words.recovery}",
    ]
    if any(loss.is_same_process or loss.lived is not None for loss in losses):
        sentences.append(
            "A broker that came back as the same process had hung, or was cut off if its own log"
            " shows it running. Until it heard of its successors, it took itself for the leader."
        )
    header = (
        "broker",
        words.lost,
        "how",
        "leaders moved",
        "no leader",
        "back",
        "in all ISRs after",
    )
    rows = (_loss(loss, words, timeout_us_of(incident)) for loss in losses)
    return Section("Brokers that were lost", sentences, header, _limited(rows))


def _loss(loss: BrokerLoss, words: Words, timeout_us: int) -> Row:
    back_us = loss.unfenced_us
    return (
        str(loss.broker),
        "not yet" if loss.fenced_us is None else time_text(loss.fenced_us),
        _how(loss, words, timeout_us),
        str(loss.elected),
        _partitions(loss.offline) or "-",
        "no" if back_us is None else time_text(back_us),
        "never" if loss.in_sync_us is None else _seconds(loss.in_sync_us - loss.begin_us),
    )


def _how(loss: BrokerLoss, words: Words, timeout_us: int) -> str:
    if loss.is_controlled:
        return "controlled shutdown"
    lived = f"; it was running ({loss.lived})" if loss.lived is not None else ""
    came_back = "; the same process came back" if loss.is_same_process else ""
    missed = ""
    if loss.missed_us is not None and loss.begin_us - loss.missed_us < timeout_us + SOON_US:
        missed = f", unreachable for {_seconds(loss.begin_us - loss.missed_us)} before"
    is_told = loss.elected or loss.offline or loss.has_log or lived or came_back
    return f"{words.silent}{'' if is_told else words.or_stopped}{missed}{lived}{came_back}"


def _what_if(comparisons: Sequence[WhatIf]) -> Section:
    explanations = [
        "Each incident was run on the emulator from the cluster as it was before, without and with"
        " the change. A producer wrote to each affected partition with acks=all, four records a"
        " second. Pauses of over a minute are shortened, and what was administered is left out.",
        *basis(comparisons),
        *(sentence for comparison in comparisons for sentence in sentences(comparison)),
    ]
    return Section("With another configuration", explanations)


def _offline(incident: Incident) -> Section:
    windows = incident.impact.offline
    sentences = [
        "Nobody could read from these partitions or write to them. Before, their leader may have"
        f" been dead already, for up to {timeout_of(incident)}.",
    ]
    header = ("partition", "from", "for", "led before", "because", "led after")
    rows = (
        (
            window.tp,
            time_text(window.begin_us),
            _lasted(window, incident),
            _broker(window.leader),
            window.because or "-",
            _led_after(window),
        )
        for window in windows
    )
    return Section("Partitions without a leader", sentences, header, _limited(rows))


def _led_after(window: Window) -> str:
    if window.successor is not None:
        return _broker(window.successor)
    return "nobody yet" if window.end_us is None else "the topic was deleted"


def _unwritable(incident: Incident) -> Section:
    windows = incident.impact.unwritable
    sentences = [
        "Their ISR was smaller than min.insync.replicas, so writes with acks=all were refused"
        f" (NOT_ENOUGH_REPLICAS). The value is that of the topic or of the cluster's dynamic"
        f" default{_static_value(incident)}",
    ]
    header = ("partition", "from", "for", "leader", "smallest ISR", "because")
    rows = (
        (
            window.tp,
            time_text(window.begin_us),
            _lasted(window, incident),
            _broker(window.leader),
            brackets(window.isr),
            window.because or "-",
        )
        for window in windows
    )
    return Section("Partitions that refused acks=all", sentences, header, _limited(rows))


def _static_value(incident: Incident) -> str:
    value = incident.processes.value("min.insync.replicas")
    if value is None:
        return "; what is in server.properties is not known here."
    return f", otherwise {value.text}, by {value.source}."


def _risks(incident: Incident) -> Section:
    risks = incident.impact.risks
    unclean = [risk for risk in risks if risk.is_unclean]
    sentences = []
    if unclean:
        sentences.append(
            "Unclean elections: the new leader was not in sync, so records may be lost that were"
            " acknowledged with acks=all. With unclean.leader.election.enable=false the partition"
            " would have waited for a replica that had them; a larger min.insync.replicas would"
            " have kept more such replicas. A partition whose ISR and ELR are both empty gets its"
            " last leader back with either value (KIP-966)."
        )
    if len(unclean) < len(risks):
        sentences.append(
            "acks=1: the former leader died, and records that it had acknowledged with acks=1 are"
            " lost if the new leader had not fetched them. What was acknowledged with acks=all is"
            " not lost."
        )
    header = ("partition", "at", "led before", "new leader", "what may be lost")
    ordered = [*unclean, *(risk for risk in risks if not risk.is_unclean)]
    rows = (
        (
            risk.tp,
            time_text(risk.time_us),
            _broker(risk.former),
            _broker(risk.leader),
            _at_risk(risk, incident.impact),
        )
        for risk in ordered
    )
    return Section("What may have been lost", sentences, header, _limited(rows))


def _at_risk(risk: Risk, impact: Impact) -> str:
    if risk.is_unclean and risk.leader == risk.former:
        return f"what {risk.leader} had not flushed to its disk when it died"
    if risk.is_unclean:
        had = brackets(risk.isr) if risk.isr else f"[{risk.former}]"
        sentence = f"all that {had} had and {risk.leader} had not"
    else:
        sentence = f"what {risk.former} acknowledged with acks=1 and {risk.leader} had not fetched"
        if _was_zombie(risk, impact):
            sentence += f", also afterwards, until {risk.former} heard of {risk.leader}"
    cut = _cut_after(risk, impact)
    return sentence if cut is None else f"{sentence}: {cut.node} removed {_removed(cut)} later"


def _was_zombie(risk: Risk, impact: Impact) -> bool:
    """Whether the former leader's process lived on."""
    return any(
        loss.broker == risk.former and loss.begin_us <= risk.time_us and loss.is_same_process
        for loss in impact.losses
        if loss.unfenced_us is not None and risk.time_us <= loss.unfenced_us
    )


def _cut_after(risk: Risk, impact: Impact) -> Truncation | None:
    """What the former leader removed when it followed again."""
    cuts = (cut for cut in impact.truncations if (cut.tp, cut.node) == (risk.tp, risk.former))
    return next((cut for cut in cuts if cut.time_us >= risk.time_us), None)


def _removed(cut: Truncation) -> str:
    if cut.end is None:
        return f"what it had from offset {cut.offset} on"
    return f"{plural(cut.end - cut.offset, 'record')} (offsets {cut.offset} to {cut.end - 1})"


def _truncations(incident: Incident) -> Section:
    truncations = incident.impact.truncations
    sentences = [
        "Replicas removed these records from the end of their logs, because their leader did not"
        " have them. They are lost if no other replica has them either."
    ]
    rows = (
        (
            truncation.tp,
            time_text(truncation.time_us),
            "unknown" if truncation.node is None else str(truncation.node),
            truncation.sentence
            if truncation.end is None
            else f"{truncation.sentence}: {_removed(truncation)}",
            truncation.source,
        )
        for truncation in truncations
    )
    header = ("partition", "at", "broker", "what", "source")
    return Section("Records that were truncated", sentences, header, _limited(rows))


def _leaders(incident: Incident) -> Section:
    changed = {tp: reigns for tp, reigns in incident.impact.reigns.items() if len(reigns) > 1}
    rows = ((tp, _reigns(reigns)) for tp, reigns in sorted(changed.items()))
    kept = len(incident.impact.reigns) - len(changed)
    sentence = f"{plural(kept, 'partition')} kept {'its' if kept == 1 else 'their'} leader."
    if not kept:
        sentence = "No partition kept its leader."
    return Section("Who led when", [sentence], ("partition", "leaders"), _limited(rows))


def _reigns(reigns: Sequence[Reign]) -> str:
    texts = [
        f"deleted at {time_text(reign.begin_us)}"
        if reign.leader is None
        else f"{_broker(reign.leader)} from {time_text(reign.begin_us)}"
        for reign in reigns
    ]
    if len(texts) > NAMED_MAX:
        return "; ".join(
            [texts[0], f".. {len(texts) - NAMED_MAX} more ..", *texts[1 - NAMED_MAX :]]
        )
    return "; ".join(texts)


def _shrinks(incident: Incident) -> Section:
    shrinks = [entry for entry in incident.timeline.entries if entry.kind == ISR_SHRINK]
    return _entries("ISRs that shrank", shrinks)


def _unexplained(incident: Incident) -> Section:
    rows = (
        (str(unexplained.offset), unexplained.kind, unexplained.why)
        for unexplained in incident.unexplained
    )
    sentence = f"No rule of Kafka {incident.release} permits these records."
    return Section("Not explained", [sentence], ("offset", "record", "why"), _limited(rows))


def _entries(title: str, entries: Sequence[TimelineEntry]) -> Section:
    rows = (
        (time_text(entry.time_us), entry.what, entry.because or "-", entry.source)
        for entry in entries
    )
    return Section(title, (), TIMELINE_HEADER, _limited(rows))


# ---- words


def _limited(rows: Iterable[Row]) -> list[Row]:
    listed = list(rows)
    if len(listed) <= ROWS_MAX:
        return listed
    summary = f".. {len(listed) - ROWS_MAX:,} more"
    return [*listed[:ROWS_MAX], (summary, *[""] * (len(listed[0]) - 1))]


def _partitions(tps: Sequence[str]) -> str:
    if len(tps) <= NAMED_MAX:
        return ", ".join(tps)
    return f"{', '.join(tps[:NAMED_MAX])} and {len(tps) - NAMED_MAX:,} more"


def _broker(broker: int) -> str:
    return "nobody" if broker < 0 else str(broker)


def _lasted(window: Window, incident: Incident) -> str:
    lasted = _seconds(window.lasts_us(incident.end_us))
    return lasted if window.end_us is not None else f"{lasted}, to the end"


def _seconds(duration_us: int) -> str:
    seconds = duration_us / 1e6
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds:.3f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s"
