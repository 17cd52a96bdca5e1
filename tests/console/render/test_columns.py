from console.render.columns import Column, place, row_line, title_line, total_width
from console.render.lines import text_of

COLUMNS = [
    Column[int]("a", "ALPHA", 5, lambda row: (str(row), "")),
    Column[int]("b", "B", 4, lambda row: ("x" * row, ""), grows=True),
    Column[int]("c", "C", 4, lambda row: (str(row), ""), right=True, drop=2),
    Column[int]("d", "D", 4, lambda row: (str(row), ""), drop=1),
    Column[int]("e", "E", 4, lambda row: (str(row), ""), wide=True),
]


def ids(width: int, *, wide: bool = False) -> str:
    return "".join(one.column.id for one in place(COLUMNS, width, wide=wide))


def test_columns_give_way_in_a_fixed_order() -> None:
    assert [ids(width) for width in (40, 20, 17, 13, 1)] == ["abcd", "abd", "abd", "ab", "ab"]


def test_the_wide_view_has_all_however_narrow_the_pane() -> None:
    assert ids(10, wide=True) == "abcde"


def test_one_column_takes_the_room_that_is_left() -> None:
    placed = place(COLUMNS, 30, wide=False)
    assert [one.width for one in placed] == [5, 13, 4, 4]
    assert [one.x for one in placed] == [0, 6, 20, 25]


def test_cells_stand_in_their_columns_and_too_long_ones_are_cut() -> None:
    placed = place(COLUMNS, 21, wide=False)
    assert text_of(row_line(placed, 12)) == "12    xxx~   12 12   "
    assert len(text_of(row_line(placed, 12))) == total_width(COLUMNS[:4])


def test_the_sorted_column_has_an_arrow() -> None:
    placed = place(COLUMNS, 21, wide=False)
    assert text_of(title_line(placed, "c", "^")) == "ALPHA B      C^ D    "
    assert text_of(title_line(placed, "a", "^")) == "ALPHA^B       C D    "
