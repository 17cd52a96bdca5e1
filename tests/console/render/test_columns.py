import pytest
from msgspec import structs

from console.render.columns import Column, place, rounded, row_line, title_line, total_width
from console.render.lines import shorten_partition, text_of

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
    assert [ids(width) for width in (40, 20, 19, 17, 15, 14, 1)] == [
        "abcd",
        "abcd",
        "abd",
        "abd",
        "abd",
        "ab",
        "ab",
    ]


def test_the_wide_view_shows_whole_columns_from_any_on_and_keeps_the_sticky_ones() -> None:
    sticky = [structs.replace(COLUMNS[0], sticky=True), *COLUMNS[1:]]

    def shown(width: int, first: int) -> str:
        placed = place(sticky, width, wide=True, first=first)
        assert placed[-1].x + placed[-1].width <= max(width, 10)
        return "".join(one.column.id for one in placed)

    assert [shown(100, 0), shown(16, 0), shown(16, 1), shown(16, 3), shown(4, 2)] == [
        "abcde",
        "abc",
        "acd",
        "ae",
        "ad",
    ]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("12,345,678", 10, "12,345,678"),
        ("12,345,678", 8, "12345678"),
        ("12,345,678", 6, "12.3M"),
        ("12,999,678", 4, "12M"),
        ("1,234", 3, "1K"),
        ("-1,234,567", 5, "-1.2M"),
    ],
)
def test_a_number_is_rounded_and_never_cut(text: str, width: int, shown: str) -> None:
    assert rounded(text, width) == shown


@pytest.mark.parametrize(
    ("width", "shown"), [(40, "a-very-long-topic-name-127"), (14, "a-very-lo~-127"), (6, "a~-127")]
)
def test_a_partition_keeps_its_number(width: int, shown: str) -> None:
    assert shorten_partition("a-very-long-topic-name-127", width) == shown


def test_one_column_takes_the_room_that_is_left() -> None:
    placed = place(COLUMNS, 30, wide=False)
    assert [one.width for one in placed] == [5, 13, 4, 4]
    assert [one.x for one in placed] == [0, 6, 20, 25]


def test_cells_stand_in_their_columns_and_too_long_ones_are_cut() -> None:
    placed = place(COLUMNS, 21, wide=False)
    assert text_of(row_line(placed, 12)) == "12    xxx~   12 12  "
    assert len(text_of(row_line(placed, 12))) == total_width(COLUMNS[:4]) - 1


def test_the_sorted_column_has_an_arrow() -> None:
    placed = place(COLUMNS, 21, wide=False)
    assert text_of(title_line(placed, "c", "^")) == "ALPHA B      C^ D   "
    assert text_of(title_line(placed, "a", "^")) == "ALPHA^B       C D   "
