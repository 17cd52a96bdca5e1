"""A postmortem on the terminal: a verdict, and the timeline."""

from collections.abc import Iterator

from sessions.postmortem.incident import Incident
from sessions.postmortem.places import time_text
from sessions.text import clean, plural


def lines(incident: Incident) -> Iterator[str]:
    """The verdict, then one line for each entry of the timeline."""
    yield verdict(incident)
    yield ""
    for entry in incident.timeline.entries:
        because = f" ({entry.because})" if entry.because else ""
        yield clean(f"{time_text(entry.time_us)}  {entry.what}{because}")


def verdict(incident: Incident) -> str:
    """One sentence about the whole history."""
    count = incident.unexplained_count
    explained = f"{plural(count, 'record')} not explained" if count else "all is explained"
    return (
        f"Kafka {incident.release}, {incident.mode}: {plural(incident.records, 'record')} in "
        f"{incident.batches:,} batches, "
        f"{time_text(incident.begin_us)} to {time_text(incident.end_us)}; {explained}"
    )
