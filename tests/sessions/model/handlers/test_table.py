"""The dispatch table: every type of event is in it, and nothing else."""

import pytest

from emulator.events import Event
from sessions.model.cluster_view import ClusterView
from sessions.model.handlers.table import HANDLERS


def test_every_type_of_event_has_an_entry() -> None:
    assert set(HANDLERS) == set(Event.__subclasses__())


def test_what_is_no_event_of_this_program_is_refused() -> None:
    with pytest.raises(KeyError):
        ClusterView().apply(Event(1, 0, 0))
