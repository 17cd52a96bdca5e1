"""A state that is encoded piece by piece, against the encoding of plain lists and dicts."""

import tracemalloc

import pytest
from msgspec import Struct, msgpack

from emulator.simulation.bytes_by_number import BytesByNumber
from emulator.simulation.packed_list import BLOCK_ITEMS, WEIGHT_MAX, PackedList
from emulator.simulation.pieces import pieces


class Item(Struct, frozen=True, array_like=True):
    number: int
    text: str


class Items(PackedList[Item], kind=Item, weight=lambda item: len(item.text)):
    pass


class State(Struct, array_like=True):
    before: bytes
    logs: dict[str, Items]
    batches: BytesByNumber
    after: str = "after"


def state(items: int, batches: int, before: bytes = b"") -> State:
    by_number = BytesByNumber()
    for number in range(batches):
        by_number.add(number, b"batch %d" % number)
    logs = {f"t-{log}": Items(Item(n, f"{n}") for n in range(items + log)) for log in range(3)}
    return State(before, logs, by_number)


def plain(value: object) -> object:
    return dict(value) if isinstance(value, BytesByNumber) else list(value)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("items", "batches"),
    [(0, 0), (15, 15), (2 * BLOCK_ITEMS - 1, 16), (2 * BLOCK_ITEMS, 65_535), (65_534, 65_536)],
)
def test_it_is_the_encoding_of_plain_data(items: int, batches: int) -> None:
    whole = state(items, batches)
    assert b"".join(pieces(whole)) == msgpack.encode(whole, enc_hook=plain)


def test_bytes_that_look_like_what_stands_for_a_part_are_bytes() -> None:
    stand_in = msgpack.encode(msgpack.Ext(1, b"part"))
    whole = state(3 * BLOCK_ITEMS, 2, stand_in)
    assert b"".join(pieces(whole)) == msgpack.encode(whole, enc_hook=plain)


def test_no_more_than_a_block_is_in_memory() -> None:
    text = "x" * (1 << 20)
    whole = State(b"", {"t-0": Items(Item(n, f"{n} {text}") for n in range(200))}, BytesByNumber())
    tracemalloc.start()
    size = sum(map(len, pieces(whole)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 200 << 20
    assert peak < 4 * WEIGHT_MAX
