"""Blocks of events: exact, small, and never trusted."""

from typing import Any, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.events import Event, ProduceSent
from sessions.format import codec, limits
from tests.sessions.examples import story_events

NUMBERS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(max_size=6)
FIELDS: dict[Any, st.SearchStrategy[Any]] = {
    int: NUMBERS,
    str: TEXTS,
    bool: st.booleans(),
    float: st.floats(allow_nan=False),
    str | None: st.none() | TEXTS,
    int | None: st.none() | NUMBERS,
    list[int]: st.lists(NUMBERS, max_size=3),
    list[str]: st.lists(TEXTS, max_size=3),
    list[str | None]: st.lists(st.none() | TEXTS, max_size=3),
    list[list[int]]: st.lists(st.lists(NUMBERS, max_size=3), max_size=3),
    list[list[str | int]]: st.lists(st.lists(TEXTS | NUMBERS, max_size=3), max_size=3),
    list[tuple[int, str]]: st.lists(st.tuples(NUMBERS, TEXTS), max_size=3),
    list[tuple[int, int]]: st.lists(st.tuples(NUMBERS, NUMBERS), max_size=3),
    list[tuple[int, int, str, int]]: st.lists(
        st.tuples(NUMBERS, NUMBERS, TEXTS, NUMBERS), max_size=3
    ),
    list[tuple[int, int]] | None: st.none() | st.lists(st.tuples(NUMBERS, NUMBERS), max_size=2),
    dict[str, str]: st.dictionaries(TEXTS, TEXTS, max_size=3),
    dict[str, list[str]]: st.dictionaries(TEXTS, st.lists(TEXTS, max_size=2), max_size=3),
    dict[str, int]: st.dictionaries(TEXTS, NUMBERS, max_size=3),
}
TIMES = st.integers(0, 2**62)


@st.composite
def event_lists(draw: st.DrawFn) -> list[Event]:
    first = draw(st.integers(1, 2**40))
    kinds = draw(st.lists(st.sampled_from(Event.__subclasses__()), min_size=1, max_size=20))
    times = sorted(draw(st.lists(TIMES, min_size=len(kinds), max_size=len(kinds))))
    found = []
    for seq, (kind, time_us) in enumerate(zip(kinds, times, strict=True), start=first):
        hints = get_type_hints(kind)
        fields = [draw(FIELDS[hints[name]]) for name in kind.__struct_fields__[3:]]
        found.append(kind(seq, time_us, draw(st.integers(0, seq)), *fields))
    return found


@given(event_lists())
def test_a_block_gives_back_the_events_it_was_made_of(events: list[Event]) -> None:
    assert codec.decode(codec.encode(events, codec.group(events))) == events


@given(event_lists(), st.data())
def test_a_block_can_be_cut_and_asked_for_some_types(
    events: list[Event], data: st.DataObject
) -> None:
    encoded = codec.encode(events, codec.group(events))
    kept = data.draw(st.integers(1, len(events)))
    cut = codec.unpack(encoded).up_to(events[kept - 1].seq)
    assert (cut.first_seq, cut.last_seq) == (events[0].seq, events[kept - 1].seq)
    assert cut.events() == events[:kept]
    assert codec.unpack(encoded).up_to(events[-1].seq + 1).events() == events
    kinds = set(data.draw(st.lists(st.sampled_from([type(event) for event in events]))))
    wanted = [event for event in events if type(event) in kinds]
    assert codec.unpack(encoded).events(kinds) == wanted
    assert codec.unpack(encoded, kinds).events(kinds) == wanted


def test_a_block_of_a_real_run_takes_few_bytes() -> None:
    events = story_events()
    size = len(codec.encode(events, codec.group(events)))
    assert size / len(events) < 15


@pytest.mark.parametrize("data", [b"", b"no block", codec.compress(b"\x00"), codec.compress(b"")])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(codec.BlockError):
        codec.decode(data)


@given(st.data())
def test_a_changed_block_gives_events_or_an_error_and_nothing_else(data: st.DataObject) -> None:
    events = story_events()[:50]
    raw = bytearray(codec.decompress(codec.encode(events, codec.group(events))))
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = codec.decode(codec.compress(bytes(raw)))
    except codec.BlockError:
        return
    assert all(isinstance(event, Event) for event in found)


def test_a_block_that_claims_to_be_huge_is_not_unpacked() -> None:
    bomb = codec.compress(bytes(limits.BLOB_BYTES_MAX + 1))
    with pytest.raises(codec.BlockError, match="no size of a block"):
        codec.decompress(bomb)


def test_a_column_of_another_length_is_refused() -> None:
    events = story_events()[:5]
    block = msgspec.msgpack.decode(
        codec.decompress(codec.encode(events, codec.group(events))), type=codec.Block
    )
    block.columns[0][0] = msgspec.msgpack.encode([0] * 9)
    with pytest.raises(codec.BlockError):
        codec.decode(codec.compress(msgspec.msgpack.encode(block)))


def block_of(events: tuple[Event, ...]) -> codec.Block:
    raw = codec.decompress(codec.encode(events, codec.group(events)))
    return msgspec.msgpack.decode(raw, type=codec.Block)


def encoded(block: codec.Block) -> bytes:
    return codec.compress(msgspec.msgpack.encode(block))


def test_a_field_that_an_older_block_lacks_has_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = (ProduceSent(1, 10, 0, "p", "t-0", 0, [None], ["v"], -1),)
    plan = codec.PLANS[ProduceSent]
    block = block_of(sent)
    names = block.fields[0].split()
    place = names.index("acks")
    del block.columns[0][place + 1]
    block.fields[0] = " ".join(name for name in names if name != "acks")
    with pytest.raises(codec.BlockError, match="no acks of ProduceSent"):
        codec.decode(encoded(block))
    younger = msgspec.structs.replace(plan, defaults={"acks": lambda: 7})
    plans: dict[type[Event], codec.Plan] = {**codec.PLANS}
    plans[ProduceSent] = younger
    monkeypatch.setattr(codec, "PLANS", plans)
    (found,) = codec.decode(encoded(block))
    assert found == msgspec.structs.replace(sent[0], acks=7)


def test_fields_are_known_by_their_names_and_unknown_ones_are_passed_over() -> None:
    events = story_events()[:400]
    block = block_of(events)
    for kind, layout in enumerate(block.fields):
        names = ["since_removed", *layout.split()[::-1]]
        columns = block.columns[kind]
        count = len(msgspec.msgpack.decode(columns[0]))
        unknown = msgspec.msgpack.encode([{"any": "thing"}] * count)
        block.columns[kind] = [columns[0], unknown, *columns[:0:-1]]
        block.fields[kind] = " ".join(names)
    assert codec.decode(encoded(block)) == list(events)


def test_a_block_without_names_has_the_first_fields_of_each_type() -> None:
    events = story_events()[:400]
    block = block_of(events)
    block.fields = []
    assert codec.decode(encoded(block)) == list(events)
