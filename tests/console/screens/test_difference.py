import pytest

from console.model.difference import Change
from console.model.links import Link
from console.render.lines import text_of, width_of
from console.screens.difference import change_row

CHANGE = Change("orders-0", Link("partition", "orders-0"), "leader epoch", "0", "1")


@pytest.mark.parametrize("width", [60, 78, 118, 198])
def test_a_change_stands_in_columns_that_fit(width: int) -> None:
    row = change_row(CHANGE, width)
    assert text_of(row.line).split() == ["orders-0", "leader", "epoch", "0", "1"]
    assert width_of(row.line) <= width
    assert (row.link, row.key) == (CHANGE.link, ("orders-0", "leader epoch"))


def test_names_and_values_of_others_are_made_safe() -> None:
    hostile = Change("\x1b[2J", None, "data", "\x07", "\n")
    assert text_of(change_row(hostile, 100).line).isprintable()
