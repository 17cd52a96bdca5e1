"""The vocabulary of events: frozen, numbered, and the same after any codec."""

import functools
import operator
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import events
from emulator.events import Event, base, clients, network, replicas, topics, znodes
from emulator.events import controller as control
from emulator.events import inputs as statements

MODULES = (clients, control, network, replicas, statements, topics, znodes)
KINDS = sorted(base.Event.__subclasses__(), key=lambda kind: kind.__name__)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
PLAIN: dict[object, st.SearchStrategy[Any]] = {
    int: NUMBERS,
    str: TEXTS,
    bool: st.booleans(),
    float: st.floats(0, 100),
    type(None): st.none(),
}
ANY = functools.reduce(operator.or_, KINDS)


def _values(kind: object) -> st.SearchStrategy[Any]:
    """Values of a field's type."""
    plain: dict[object, st.SearchStrategy[Any]] = {
        int: NUMBERS,
        str: TEXTS,
        bool: st.booleans(),
        type(None): st.none(),
    }
    if kind in plain:
        return plain[kind]
    if kind is float:
        return st.floats(0, 100)
    parts = [_values(part) for part in get_args(kind)]
    if get_origin(kind) is list:
        return st.lists(parts[0], max_size=3)
    if get_origin(kind) is dict:
        return st.dictionaries(*parts, max_size=3)
    if get_origin(kind) is tuple:
        return st.tuples(*parts)
    return st.one_of(parts)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_event_is_exported_and_says_what_it_states(kind: type[Event]) -> None:
    if kind.__module__.startswith("emulator.events"):
        assert getattr(events, kind.__name__) is kind
        assert events.TYPES[kind.__name__] is kind
    assert kind.__doc__


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_module_of_the_vocabulary_states_something(module: ModuleType) -> None:
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
    hints = get_type_hints(kind)
    fields = {name: data.draw(_values(hints[name])) for name in kind.__struct_fields__}
    event = kind(**fields)
    for codec in (msgspec.msgpack, msgspec.json):
        assert codec.decode(codec.encode(event), type=ANY) == event
