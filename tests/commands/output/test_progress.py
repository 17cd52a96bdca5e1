import pytest

from commands.output import streams
from commands.output.progress import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(streams, "progress", found.append)
    return found


def test_a_bar_says_how_much_is_done_how_fast_and_how_long_it_will_take() -> None:
    progress = Progress("exporting a", "events", 2_400)
    assert progress.line(600, 2.0) == (
        "exporting a  [######------------------]  25%  600 of 2,400 events  300 /s  6 s left"
    )
    assert progress.line(0, 0.0).endswith("  0%  0 of 2,400 events  0 /s")
    assert "100%  2,400 of 2,400" in progress.line(9_999, 1.0)


def test_what_is_done_in_a_moment_shows_no_bar(lines: list[str]) -> None:
    clock = Clock()
    with Progress("x", "events", 10, clock) as progress:
        progress(3)
        clock.now += 0.1
        progress(9)
    assert lines == [""]


def test_a_bar_is_drawn_now_and_then_and_taken_away_at_the_end(lines: list[str]) -> None:
    clock = Clock()
    with Progress("x", "events", 10, clock) as progress:
        for done in range(10):
            clock.now += 0.11
            progress(done)
    assert len(lines) == 6
    assert "[#####" in lines[1] or "[##" in lines[0]
    assert lines[-1] == ""


def test_a_bar_may_be_shown_elsewhere(lines: list[str]) -> None:
    clock, told = Clock(), list[str]()
    with Progress("x", "events", 10, clock, told.append) as progress:
        clock.now += 1
        progress(5)
    assert [text.partition("  ")[0] for text in told] == ["x", ""]
    assert lines == []


def test_nothing_to_do_is_no_division_by_zero() -> None:
    assert "100%" in Progress("x", "events", 0).line(1, 1.0)
