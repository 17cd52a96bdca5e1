"""Single fetch rounds: exactly one, with the epoch question where the release asks it."""

import pytest

from emulator import events
from emulator.inputs import FetchRound, Wait
from emulator.rounds import SingleRounds
from tests.emulator.running import do, produce, replica, with_topic


def test_a_round_is_one_request_and_one_response() -> None:
    cluster, seen = with_topic(1, 2, stepwise=True)
    do(cluster, produce("a", acks=1, count=2))
    seen.clear()
    do(cluster, FetchRound(tp="t-0", broker=2))
    names = [each.name for each in seen if isinstance(each, events.MessageSent)]
    assert [name for name in names if name.startswith("Fetch")] == [
        "FetchRequest",
        "FetchResponse",
    ]
    assert cluster.value_of(replica("t-0", 2, "leo")) == 2


def test_in_stepwise_mode_nothing_is_fetched_by_itself() -> None:
    cluster, _ = with_topic(1, 2, stepwise=True)
    do(cluster, produce("a", acks=1), Wait(duration_us=5_000_000))
    assert cluster.value_of(replica("t-0", 2, "leo")) == 0


def test_an_empty_round_takes_as_long_as_the_leader_parks_it() -> None:
    cluster, _ = with_topic(1, 2, stepwise=True)
    before = cluster.now_us
    do(cluster, FetchRound(tp="t-0", broker=2))
    assert 500_000 <= cluster.now_us - before < 502_000


@pytest.mark.parametrize("times", [1, 2, 3])
def test_rounds_can_be_repeated(times: int) -> None:
    cluster, seen = with_topic(1, 2, stepwise=True)
    seen.clear()
    do(cluster, FetchRound(tp="t-0", broker=2, times=times))
    asked = [e for e in seen if isinstance(e, events.MessageSent) and e.name == "FetchRequest"]
    assert len(asked) == times


def test_rounds_are_a_brokers_own() -> None:
    cluster, _ = with_topic(1, 2, stepwise=True)
    assert isinstance(cluster.brokers[2].rounds, SingleRounds)
    assert cluster.brokers[2].state.single_rounds == {}
