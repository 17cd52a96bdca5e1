"""Two runs side by side: one cursor moves both."""

from collections.abc import Iterator

import pytest

from commands.runs.console_library import ConsoleLibrary
from console.model.library import Opened
from emulator.events import LogTruncated
from sessions.sources.twin import TwinSource, both_names


@pytest.fixture(scope="module")
def opened() -> Iterator[Opened]:
    opened = ConsoleLibrary().open_scenario("V7-stale-hw-restart", "0.10.2", "0.11")
    yield opened
    opened.close()


@pytest.fixture
def twin(opened: Opened) -> TwinSource:
    assert isinstance(opened.source, TwinSource)
    opened.source.to_tail()
    return opened.source


def test_the_first_difference_is_the_truncation_that_only_one_release_makes(
    twin: TwinSource,
) -> None:
    first = twin.pairing.first_difference
    assert first is not None
    pair = twin.pairing.pairs[first]
    assert pair.right is None
    assert pair.left is not None
    event = twin.events(pair.left, pair.left)[0]
    assert isinstance(event, LogTruncated)
    assert event.reason == "to high watermark"


def test_both_go_to_a_pair_and_show_what_each_has_then(twin: TwinSource) -> None:
    first = twin.pairing.first_difference
    assert first is not None
    twin.go_to(first)
    assert twin.place == first
    assert twin.view.values("t-0", 2) == ["m1"]
    assert twin.behind.view.values("t-0", 2) == ["m1", "m2"]


def test_a_pair_that_does_not_exist_is_the_nearest_one(twin: TwinSource) -> None:
    twin.go_to(10_000)
    assert twin.place == len(twin.pairing.pairs) - 1
    twin.go_to(-5)
    assert twin.place == 0


def test_steps_of_the_front_run_take_the_other_along(twin: TwinSource) -> None:
    twin.go_to(20)
    for _ in range(200):
        twin.step(1)
        left, right = twin.pairing.reached(twin.place)
        assert left <= twin.seq
        assert twin.behind.seq == right or twin.at_tail


def test_seeking_and_the_end_move_both(twin: TwinSource) -> None:
    twin.seek_seq(120)
    assert (twin.seq, twin.behind.at_tail) == (120, False)
    twin.seek_time(1_000_000)
    assert twin.time_us == 1_000_000
    twin.to_tail()
    assert twin.at_tail
    assert twin.behind.at_tail


def test_playing_takes_the_other_along_in_the_past(twin: TwinSource) -> None:
    twin.go_to(30)
    before = twin.behind.seq
    assert twin.advance(5.0, 1.0, 5_000) > 0
    assert twin.behind.seq > before


def test_it_says_what_the_front_run_says(twin: TwinSource) -> None:
    front = twin.front
    assert twin.name == "0.10.2 | 0.11 V7-stale-hw-restart"
    assert (twin.kind, twin.read_only) == ("LIVE", False)
    assert twin.events(1, 3) == front.events(1, 3)
    assert twin.samples() == front.samples()
    assert twin.bookmarks() == front.bookmarks()
    assert twin.touching(["t-0"], 0, 1) == front.touching(["t-0"], 0, 1)
    assert twin.last_time_us == front.last_time_us


def test_statements_go_to_both_and_a_difference_is_told() -> None:
    opened = ConsoleLibrary().open_scenario("A8-loss-2-acks-1", "0.9", "3.9")
    twin = opened.source
    assert isinstance(twin, TwinSource)
    try:
        assert twin.submit("broker freeze 2").error == "NONE"
        states = [each.view.state.brokers[2].state for each in (twin.front, twin.behind)]
        assert states == ["frozen", "frozen"]
        reply = twin.submit("election unclean t-0")
        assert "on A8-loss-2-acks-1 0.9: " in reply.message
        before = twin.behind.last_time_us
        twin.advance(1.0, 1.0, 5_000)
        assert twin.behind.last_time_us == before + 1_000_000
        assert twin.replies() == []
    finally:
        opened.close()


def test_names_that_have_nothing_in_common_are_both_said() -> None:
    assert both_names("live", "other 2.0") == "live | other 2.0"
