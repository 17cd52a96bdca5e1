"""Graphs of several lines, in three kinds of characters."""

import pytest

from console.render.graph import graph, rounded_up
from console.styles.glyphs import ASCII, BLOCKS

VALUES = [0, 0, 1, 2, 4, 8, 8, None]


def test_braille_has_two_values_a_column_and_four_steps_a_line() -> None:
    assert graph(VALUES, 2, "", 8) == ["  \u28b8\u2847", " \u28e0\u28ff\u2847"]


def test_blocks_and_ascii_show_the_higher_of_two() -> None:
    assert graph(VALUES, 2, BLOCKS.ramp, 8) == ["  \u2588\u2588", " \u2584\u2588\u2588"]
    assert graph(VALUES, 1, ASCII.ramp, 8) == [" .##"]


def test_what_is_not_known_is_blank_and_little_is_more_than_nothing() -> None:
    assert graph([None, None, 1, 1], 1, "", 1_000) == [" \u28c0"]


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (1, 1), (3, 5), (10, 10), (11, 20), (480, 500), (501, 1_000)]
)
def test_a_scale_ends_at_a_round_number(value: int, top: int) -> None:
    assert rounded_up(value) == top
