"""A postmortem on the terminal: a verdict, and the timeline."""

from collections.abc import Iterator, Sequence

from sessions.own_cluster.places import time_text
from sessions.postmortem.incident import Incident
from sessions.postmortem.report import amount, verdict
from sessions.postmortem.what_if import WhatIf, basis, sentences
from sessions.text import clean


def lines(incident: Incident, what_ifs: Sequence[WhatIf] = ()) -> Iterator[str]:
    """What was read, the verdict, one line for each entry of the timeline, and for each change."""
    yield (
        f"Kafka {incident.release}, {incident.mode}: {amount(incident)}, "
        f"{time_text(incident.begin_us)} to {time_text(incident.end_us)}"
    )
    yield verdict(incident)
    yield ""
    for entry in incident.timeline.entries:
        because = f" ({entry.because})" if entry.because else ""
        yield clean(f"{time_text(entry.time_us)}  {entry.what}{because}")
    if what_ifs:
        yield ""
        yield from map(clean, basis(what_ifs))
        yield from (clean(sentence) for what_if in what_ifs for sentence in sentences(what_if))
