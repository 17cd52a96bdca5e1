from hypothesis import given
from hypothesis import strategies as st

from console.model.row_order import SINGLE_MOVES_MAX, RowOrder

values_lists = st.lists(st.integers(0, 5), min_size=1, max_size=30)


def order_of(values: dict[int, int], *, even_only: bool = False) -> RowOrder[int]:
    order: RowOrder[int] = RowOrder()
    order.load(list(values))
    order.revalue(values.__getitem__)
    order.choose(lambda key: not even_only or values[key] % 2 == 0)
    return order


def expected(values: dict[int, int], *, even_only: bool = False) -> list[int]:
    keys = [key for key in values if not even_only or values[key] % 2 == 0]
    return sorted(keys, key=values.__getitem__)


@given(values_lists, st.data(), st.booleans())
def test_moving_rows_one_by_one_gives_what_sorting_anew_gives(
    start: list[int], data: st.DataObject, even_only: bool
) -> None:
    values = dict(enumerate(start))
    order = order_of(values, even_only=even_only)
    for _ in range(5):
        before = list(order)
        changes = data.draw(st.dictionaries(st.sampled_from(list(values)), st.integers(0, 5)))
        values.update(changes)
        moved = order.update(changes)
        assert list(order) == expected(values, even_only=even_only)
        assert moved or before == list(order)


@given(values_lists, st.booleans())
def test_a_row_is_where_its_position_says(start: list[int], reverse: bool) -> None:
    values = dict(enumerate(start))
    order = order_of(values, even_only=True)
    order.reverse = reverse
    for position in range(len(order)):
        assert order.position(order[position]) == position
    hidden = [key for key in values if values[key] % 2]
    assert all(order.position(key) is None for key in hidden)


def test_equal_rows_stay_in_their_own_order() -> None:
    assert list(order_of({5: 1, 3: 1, 4: 0})) == [4, 5, 3]


def test_reverse_turns_the_order_round() -> None:
    order = order_of({1: 1, 2: 2, 3: 3})
    order.reverse = True
    assert list(order) == [3, 2, 1]


def test_very_many_changes_at_once_are_sorted_anew() -> None:
    values = dict.fromkeys(range(SINGLE_MOVES_MAX * 2), 0)
    order = order_of(values)
    values.update({key: -key for key in values})
    assert order.update(list(values))
    assert order[0] == SINGLE_MOVES_MAX * 2 - 1


def test_unknown_rows_are_ignored() -> None:
    order = order_of({1: 1})
    assert not order.update({99})
    assert 99 not in order
    assert order.position(99) is None
