"""A follower longer than its leader is cut to its LEO, or (0.8.2 to 1.1) its process ends."""

import pytest

from emulator import events
from emulator.inputs import CrashBroker, Settle, StartBroker
from emulator.out_of_range import OutOfRange
from tests.emulator.running import do, produce, replica, until, with_topic


@pytest.mark.parametrize("version", ["0.9", "0.10.2"])
def test_after_an_unclean_election_a_longer_log_is_cut_to_the_leaders_end(version: str) -> None:
    cluster, seen = with_topic(1, 2, version=version)
    do(cluster, produce("a"), Settle(quiet_us=6_000_000), CrashBroker(broker=2))
    do(cluster, until("t-0", "isr", [1]), produce("b", count=3), Settle(quiet_us=6_000_000))
    do(cluster, CrashBroker(broker=1), until("t-0", "leader", -1), StartBroker(broker=2))
    do(cluster, until("t-0", "leader", 2), StartBroker(broker=1), until("t-0", "isr", [1, 2]))
    cut = [e for e in seen if isinstance(e, events.LogTruncated) and e.broker == 1]
    assert "out of range" in cut[-1].reason
    assert cluster.value_of(replica("t-0", 1, "leo")) == cluster.value_of(replica("t-0", 2, "leo"))


def test_the_question_is_a_brokers_own() -> None:
    cluster, _ = with_topic(1, 2)
    asking = cluster.brokers[2].out_of_range
    assert isinstance(asking, OutOfRange)
    assert asking.question("t-0").tp == "t-0"
