"""The vocabulary of events: frozen, numbered, and the same after any codec."""

import functools
import operator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import events
from emulator.events import (
    Event,
    base,
    clients,
    control,
    network,
    replicas,
    statements,
    topics,
    znodes,
)

MODULES = (clients, control, network, replicas, statements, topics, znodes)
KINDS = sorted(base.Event.__subclasses__(), key=lambda kind: kind.__name__)
ANY = functools.reduce(operator.or_, KINDS)






@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_event_is_exported_and_says_what_it_states(kind: type[Event]) -> None:
    if kind.__module__.startswith("emulator.events"):
        assert getattr(events, kind.__name__) is kind
        assert kind.__name__ in events.__all__
    assert kind.__doc__


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_module_of_the_vocabulary_states_something(module: Any) -> None:
    assert [kind for kind in KINDS if kind.__module__ == module.__name__]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_cannot_be_changed(kind: type[Event]) -> None:
    event = kind(*(0 for _ in kind.__struct_fields__))
    with pytest.raises(AttributeError):
        event.seq = 2  # type: ignore[misc]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_event_begins_with_number_time_and_cause(kind: type[Event]) -> None:
    assert kind.__struct_fields__[:3] == ("seq", "time_us", "cause")


@settings(max_examples=5)
@given(data=st.data())
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_is_the_same_after_a_codec(kind: type[Event], data: st.DataObject) -> None:
    event = data.draw(st.builds(kind))
    for codec in (msgspec.msgpack, msgspec.json):
        assert codec.decode(codec.encode(event), type=ANY) == event
