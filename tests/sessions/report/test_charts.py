"""What is drawn has the size of what it stands for."""

import pytest

from sessions.report.charts import (
    BOTTOM,
    LABEL,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    Bar,
    Row,
    Series,
    Step,
    bars,
    columns,
    timeline,
)
from sessions.report.markup import Element

AXIS = Axis([0, 5, 10], str)


def shapes(svg: Element, kind: str) -> list[Element]:
    return [each for each in svg.iter("rect") if kind in str(each.get("class")).split()]


def number(of: Element, name: str) -> float:
    return float(of.get(name) or "nan")


def said(of: Element) -> str | None:
    return of.findtext("title")


def test_a_step_is_as_wide_and_high_as_its_time_and_value() -> None:
    steps = [Step(0, 2, 0), Step(2, 5, 10), Step(5, 10, 5)]
    svg = timeline([Series("most", "at most", steps)], AXIS, AXIS, "label")
    high, low = shapes(svg, "most")
    room = WIDTH - LEFT - RIGHT
    assert number(high, "x") == pytest.approx(LEFT + room * 0.2, abs=0.01)
    assert number(high, "width") == pytest.approx(room * 0.3, abs=0.01)
    assert number(low, "height") == pytest.approx(number(high, "height") / 2, abs=0.01)
    assert number(high, "y") == TOP
    assert number(high, "y") + number(high, "height") == 160 - BOTTOM
    assert said(high) == "at most: 10"
    assert svg.get("aria-label") == "label"


def test_columns_stand_side_by_side() -> None:
    svg = columns([("a", 10, "first"), ("", 0, "none"), ("", 5, "last")], AXIS, "ack", "label")
    first, last = shapes(svg, "ack")
    assert number(first, "height") == pytest.approx(2 * number(last, "height"), abs=0.01)
    assert said(last) == "last: 5"
    assert [each.text for each in svg.iter("text")][-1] == "a"


def test_parts_of_a_bar_follow_each_other() -> None:
    svg = bars([Row("x" * 60, [Bar("a", 6, "6 a"), Bar("b", 2, "2 b")], "8")], str, "label")
    (first,), (second,) = shapes(svg, "a"), shapes(svg, "b")
    assert number(first, "x") == LABEL
    end = number(first, "x") + number(first, "width")
    assert number(second, "x") == pytest.approx(end, abs=0.02)
    assert number(first, "width") == pytest.approx(3 * number(second, "width"), abs=0.05)
    labels = ["".join(each.itertext()) for each in svg.iter("text")]
    assert labels[-1] == "8"
    assert any(label.startswith("x" * 60 + "…") for label in labels)


def test_there_is_a_plot_of_nothing() -> None:
    assert shapes(bars([], str, "label"), "area") == []
    assert shapes(columns([], AXIS, "ack", "label"), "area") == []
