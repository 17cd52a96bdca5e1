from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from commands.output.grids import Grid, as_text, for_terminal, shown


def test_numbers_stand_right_and_words_left() -> None:
    grid = Grid("things", ("NAME", "COUNT"), [("a", 5), ("bcd", 120)])
    assert as_text([grid]).splitlines() == [
        "things",
        "NAME  COUNT",
        "a         5",
        "bcd     120",
    ]


def test_tables_are_parted_by_an_empty_line() -> None:
    one, two = Grid("one", ("A",), [(1,)]), Grid("two", ("A",), [])
    assert as_text([one, two]) == "one\nA\n1\n\ntwo: none\n"


def test_a_title_may_say_it_all() -> None:
    assert as_text([Grid("0 failed", ("A",), [], empty="")]) == "0 failed\n"


def test_without_a_terminal_nothing_is_cut() -> None:
    assert "x" * 500 in as_text([Grid("t", ("A",), [("x" * 500,)])])


def test_markup_and_control_characters_are_data() -> None:
    text = as_text([Grid("t", ("A",), [("[red]a\x1b[2Jb\n[/red] :smile:",)])])
    assert r"[red]a\x1b[2Jb\n[/red] :smile:" in text
    assert "\x1b" not in text


def test_on_a_terminal_titles_are_bold_and_lines_fit() -> None:
    text = for_terminal([Grid("t", ("A",), [("word " * 20,)])], width=30)
    assert "\x1b[1m" in text
    assert max(len(line) for line in text.splitlines() if "\x1b" not in line) <= 30


def test_plain_rows_are_keyed_by_column() -> None:
    grid = Grid("t", ("NAME", "BELOW HW"), [("a", None)])
    assert grid.plain() == [{"name": "a", "below_hw": None}]


def test_what_there_is_none_of_is_a_dash() -> None:
    assert [shown(cell) for cell in (None, [], 0, "", [1, 2])] == ["-", "-", "0", "", "1,2"]


@given(st.lists(st.tuples(st.text(max_size=20), st.integers()), max_size=5))
def test_every_row_is_one_line(rows: list[tuple[str, int]]) -> None:
    text = as_text([Grid("t", ("A", "B"), list(rows))])
    assert len(text.splitlines()) == (len(rows) + 2 if rows else 1)


def test_wide_and_combining_characters_take_the_columns_that_a_terminal_gives_them() -> None:
    grid = Grid("t", ("NAME", "N"), [("日本", 1), ("e\u0301a", 22), ("abcd", 333)])
    rows = as_text([grid]).splitlines()[1:]
    assert {cell_len(row) for row in rows} == {9}
