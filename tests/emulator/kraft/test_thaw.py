"""A process that was frozen finds its requests timed out before it reads their responses."""

import pytest

from emulator.events import Event, IsrChangeStarted, MetadataApplied, MetadataRecordCommitted
from emulator.inputs import statements as inputs
from tests.emulator.kraft.test_soak import cluster
from tests.support.kraft_faults import give, wait

RECONNECT_US = 50_000
FETCH_BACKOFF_US = 1_000_000


@pytest.mark.parametrize(("frozen_ms", "is_disconnected"), [(1_500, False), (60_000, True)])
def test_a_fetch_of_metadata_that_timed_out_in_a_freeze_is_sent_again_after_a_backoff(
    frozen_ms: int, is_disconnected: bool
) -> None:
    """controller.quorum.request.timeout.ms is 2 s; the session (9 s) ends in the longer freeze.

    The heartbeat is not delayed, so the broker is unfenced before it knows what happened meanwhile.
    """
    runner = cluster("4.1", seed=1, controllers=1)
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    seen: list[Event] = []
    give(runner, inputs.FreezeBroker(broker=2))
    give(runner, inputs.CreateTopic(topic="u", assignment=[[0]]))
    wait(runner, frozen_ms)
    runner.cluster.subscribe(seen.append)
    thawed_us = runner.cluster.kernel.now
    give(runner, inputs.ThawBroker(broker=2))
    wait(runner, 5_000)
    applied = next(e for e in seen if isinstance(e, MetadataApplied) and e.host == 2)
    assert (applied.time_us >= thawed_us + RECONNECT_US) is is_disconnected
    unfenced = [
        e for e in seen if isinstance(e, MetadataRecordCommitted) and '"fenced":-1' in e.data
    ]
    assert bool(unfenced) is is_disconnected
    assert all(each.time_us < applied.time_us for each in unfenced)


@pytest.mark.parametrize(
    ("version", "frozen_ms"), [("4.1", 40_000), ("3.9", 40_000), ("4.1", 20_000)]
)
def test_a_fetch_that_timed_out_in_a_freeze_is_sent_again_after_a_backoff(
    version: str, frozen_ms: int
) -> None:
    """replica.socket.timeout.ms is 30 s, replica.fetch.backoff.ms 1 s (recorded: 1.07 s)."""
    runner = cluster(version, seed=1, controllers=1)
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    wait(runner, 2_000)
    give(runner, inputs.FreezeBroker(broker=2))
    wait(runner, frozen_ms)
    seen: list[Event] = []
    runner.cluster.subscribe(seen.append)
    thawed_us = runner.cluster.kernel.now
    give(runner, inputs.ThawBroker(broker=2))
    wait(runner, 5_000)
    joined = next(e for e in seen if isinstance(e, IsrChangeStarted) and e.change == "expand")
    assert (joined.time_us >= thawed_us + FETCH_BACKOFF_US) is (frozen_ms > 30_000)
