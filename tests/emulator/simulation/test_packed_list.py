"""Packed lists against plain ones, and how few of their items are objects."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from emulator.simulation.packed_list import (
    BLOCK_ITEMS,
    WEIGHT_MAX,
    PackedList,
    as_list,
    same_start,
)


class Item(Struct, frozen=True, array_like=True):
    number: int
    words: list[str]


class Items(PackedList[Item], kind=Item, by=lambda one: one.number):
    pass


class Heavy(
    PackedList[Item], kind=Item, by=lambda one: one.number, weight=lambda one: WEIGHT_MAX // 5
):
    """Items of which six weigh too much."""


def item(number: int) -> Item:
    return Item(number, [f"word {number}"])


def items(count: int) -> list[Item]:
    return [item(2 * number) for number in range(count)]


SIZES = (0, 1, BLOCK_ITEMS, 2 * BLOCK_ITEMS - 1, 2 * BLOCK_ITEMS, 5 * BLOCK_ITEMS + 3)


@pytest.mark.parametrize("count", SIZES)
def test_it_holds_what_a_list_holds(count: int) -> None:
    plain = items(count)
    packed = Items(plain)
    assert packed == plain
    assert (len(packed), bool(packed), list(packed)) == (count, bool(plain), plain)
    assert [packed[index] for index in range(-count, count)] == plain + plain
    assert packed != [*plain, item(0)]


@pytest.mark.parametrize("index", [-4, 3])
def test_what_lies_outside_is_refused(index: int) -> None:
    with pytest.raises(IndexError):
        Items(items(3))[index]


@pytest.mark.parametrize("count", SIZES)
def test_parts_are_those_of_a_list(count: int) -> None:
    plain = items(count)
    packed = Items(plain)
    for part in (slice(None), slice(1, None), slice(-3, None), slice(300, 600), slice(9, 2)):
        assert packed[part] == plain[part]
    assert packed[::-1] == plain[::-1]


@settings(max_examples=30)
@given(st.lists(st.integers(-700, 700), max_size=12))
def test_it_grows_and_shrinks_at_its_end_as_a_list_does(moves: list[int]) -> None:
    plain: list[Item] = []
    packed = Items()
    for move in moves:
        for _ in range(move):
            plain.append(item(2 * len(plain)))
            packed.append(plain[-1])
        for _ in range(min(-move, len(plain))):
            assert packed.pop() == plain.pop()
        assert packed == plain


@settings(max_examples=30)
@given(st.sampled_from(SIZES), st.integers(-2, 12 * BLOCK_ITEMS))
def test_a_place_is_found_as_in_a_list(count: int, value: int) -> None:
    packed = Items(items(count))
    assert packed.bisect_right(value) == sum(2 * n <= value for n in range(count))


@settings(max_examples=30)
@given(st.sampled_from(SIZES), st.integers(0, 5 * BLOCK_ITEMS), st.booleans())
def test_it_can_be_changed_anywhere(count: int, place: int, is_set: bool) -> None:
    plain = items(count)
    packed = Items(plain)
    for changed in (plain, packed):
        changed.insert(place, item(-1))
        if is_set:
            changed[min(place, count)] = item(-2)
            changed[-1] = item(-3)
            changed.pop(0)
        else:
            del changed[place // 2 : place]
    assert packed == plain


@settings(max_examples=30)
@given(st.sampled_from(SIZES), st.sampled_from(SIZES), st.integers(0, 6 * BLOCK_ITEMS))
def test_what_two_lists_begin_with_is_found(one: int, other: int, same: int) -> None:
    first = items(one)
    second = items(min(same, other)) + [item(-1)] * max(0, other - same)
    expected = min(one, other, same)
    assert same_start(first, second) == expected
    assert same_start(Items(first), Items(second)) == expected
    assert same_start(Items(first), second) == expected


def test_a_copy_goes_its_own_way() -> None:
    packed = Items(items(1_000))
    copy = packed.copy()
    copy.pop()
    packed.append(item(5_000))
    assert copy == items(999)
    assert packed == [*items(1_000), item(5_000)]


def test_few_items_of_a_long_list_are_objects() -> None:
    packed = Items(items(100 * BLOCK_ITEMS))
    assert sum(1 for _ in packed) == 100 * BLOCK_ITEMS
    assert packed[7] == item(14)
    assert packed.objects < 5 * BLOCK_ITEMS


@settings(max_examples=30)
@given(st.lists(st.integers(-9, 40), max_size=12), st.integers(-2, 500))
def test_heavy_items_are_no_objects_and_yet_are_found(moves: list[int], value: int) -> None:
    plain: list[Item] = []
    packed = Heavy()
    for move in moves:
        for _ in range(move):
            plain.append(item(2 * len(plain)))
            packed.append(plain[-1])
            packed = packed.copy()
            assert packed.objects <= 12
        for _ in range(min(-move, len(plain))):
            assert packed.pop() == plain.pop()
    assert packed == plain
    assert [packed[index] for index in range(-len(plain), len(plain))] == plain + plain
    assert packed.bisect_right(value) == sum(one.number <= value for one in plain)
    assert same_start(packed, [*plain, item(-1)]) == len(plain)
    assert same_start(packed, packed.copy()) == len(plain)


def test_it_is_encoded_as_a_list() -> None:
    plain = items(1_000)
    encoder = msgspec.msgpack.Encoder(enc_hook=as_list)
    assert encoder.encode([Items(plain)]) == encoder.encode([plain])
    with pytest.raises(NotImplementedError, match="object is no plain data"):
        encoder.encode(object())
