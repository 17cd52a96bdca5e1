"""Bars have the size of what they stand for."""

import pytest

from sessions.report.bars import SEEN_MIN, WIDTH, Bar, Part, bars
from sessions.report.markup import Element


def shapes(made: Element, kind: str) -> list[Element]:
    return [each for each in made.iter("rect") if each.get("class") == f"area {kind}"]


def number(of: Element, name: str) -> float:
    return float(of.get(name) or "nan")


def test_parts_of_a_bar_follow_each_other() -> None:
    rows = [Bar("s", "t-0", [Part("a", 6, "6 a"), Part("b", 2, "2 b")], "8", 17)]
    made = bars(rows, "seconds", str)
    (first,), (second,) = shapes(made, "a"), shapes(made, "b")
    assert number(first, "x") == 0
    assert number(first, "width") == number(second, "x") == pytest.approx(WIDTH * 6 / 8)
    assert number(first, "width") == pytest.approx(3 * number(second, "width"))
    assert first.findtext("title") == "6 a"


def test_what_is_there_is_seen_however_short_it_is() -> None:
    rows = [Bar("s", "t-0", [Part("a", 1e9, "long"), Part("b", 1, "short")], "", None)]
    assert number(shapes(bars(rows, "seconds", str), "b")[0], "width") == SEEN_MIN


def test_a_bar_says_in_words_what_it_shows_and_leads_to_its_event() -> None:
    parts = [Part("a", 6, "6 a"), Part("b", 2, "2 b")]
    made = bars(
        [Bar("s", "t-0", parts, "8", 1_289, 5), Bar("s", "t-1", parts, "8", None)], "s", str
    )
    first, second = made.iter("li")
    assert "".join(first.itertext()).replace("6 a2 b", "", 1) == "s t-086 a; 2 b#1,289"
    assert (first.get("data-session"), first.get("data-from")) == ("s", "5")
    assert [each.get("data-seq") for each in first.iter("button")] == ["1289"]
    assert list(second.iter("button")) == []


def test_the_scale_has_its_title_and_its_marks() -> None:
    made = bars([Bar("s", "t-0", [Part("a", 10, "")], "", None)], "seconds", lambda at: f"{at:g} s")
    assert made.findtext("p") == "seconds"
    assert [each.text for each in made[1]] == ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s"]
