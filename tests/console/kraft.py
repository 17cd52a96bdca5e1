"""Recordings of KRaft clusters for the console's tests."""

from tests.console.fakes import ListSource
from tests.support.script_events import events_of


def kraft(*statements: str, kind: str = "REPLAY") -> ListSource:
    """A recording of a script, at its end."""
    return ListSource(events_of(*statements), kind)
