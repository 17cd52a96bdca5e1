"""What people do to processes and links, and how impossible things are refused."""

import pytest

from emulator.broker_context import DOWN
from emulator.cluster import Cluster
from emulator.events import CLIENTS, ZOOKEEPER
from emulator.inputs.statements import (
    AnyInput,
    CrashBroker,
    CreateCluster,
    CutLink,
    DelayLink,
    DropOnLink,
    FetchRound,
    FreezeBroker,
    HealLinks,
    HoldMessages,
    Input,
    IsolateBroker,
    PauseReplica,
    ReleaseMessages,
    ResumeReplica,
    Settle,
    StartBroker,
    StopBroker,
    ThawBroker,
    Tick,
)
from emulator.scenario.conditions import value_of
from tests.support.running import do, partition, produce, replica, until, with_topic


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """Topic t on brokers 1 and 2; broker 3 is down and broker 2 frozen."""
    made, _ = with_topic(1, 2)
    do(made, CrashBroker(broker=3), FreezeBroker(broker=2))
    return made


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (CrashBroker(broker=9), "There is no broker 9; there are 0, 1, 2, 3."),
        (CrashBroker(broker=3), "crashed: start it first"),
        (StopBroker(broker=2), "frozen: thaw it first"),
        (StartBroker(broker=1), "already running"),
        (FreezeBroker(broker=2), "already frozen"),
        (ThawBroker(broker=1), "not frozen"),
        (FetchRound(tp="t-0", broker=1), "is the leader of t-0"),
        (FetchRound(tp="t-0", broker=0), "has no replica of t-0; its replicas are on [1, 2]"),
        (FetchRound(tp="t-7", broker=1), "nearest is t-0"),
        (PauseReplica(tp="t-0", broker=0), "has no replica"),
        (Tick(task="isr", broker=3), "start it first"),
        (CutLink(source=1, destination=1), "two different hosts"),
        (CutLink(source=1, destination=9), "no broker 9"),
        (IsolateBroker(broker=9), "no broker 9"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Input) else None,
)
def test_what_cannot_be_done_is_refused(cluster: Cluster, wanted: AnyInput, words: str) -> None:
    outcome = do(cluster, wanted)
    assert outcome.refused
    assert words in outcome.message


def test_a_crash_keeps_what_the_page_cache_has_and_power_loss_does_not() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, produce("a", count=2), Settle(), CrashBroker(broker=2))
    assert value_of(cluster, replica("t-0", 2, "leo")) == 2
    do(cluster, StartBroker(broker=2), until("t-0", "isr", [1, 2]))
    do(cluster, CrashBroker(broker=2, lose_unflushed=True))
    assert value_of(cluster, replica("t-0", 2, "leo")) == 0


def test_a_clean_stop_flushes() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, produce("a", count=2), Settle(), StopBroker(broker=2), StartBroker(broker=2))
    do(cluster, until("t-0", "isr", [1, 2]), CrashBroker(broker=2, lose_unflushed=True))
    assert value_of(cluster, replica("t-0", 2, "leo")) == 2


def test_a_broker_can_start_with_empty_disks() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, produce("a"), Settle(), StopBroker(broker=2))
    do(cluster, StartBroker(broker=2, clean=True), until("t-0", "isr", [1, 2]), Settle())
    assert value_of(cluster, replica("t-0", 2, "values")) == ["a"]


def test_a_paused_replica_gets_nothing_until_it_is_resumed() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, PauseReplica(tp="t-0", broker=2), produce("a", acks=1), Settle())
    assert value_of(cluster, replica("t-0", 2, "leo")) == 0
    do(cluster, ResumeReplica(tp="t-0", broker=2), Settle())
    assert value_of(cluster, replica("t-0", 2, "leo")) == 1


def test_an_isolated_broker_is_still_reached_by_clients() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, IsolateBroker(broker=1))
    assert not cluster.network.reachable(1, ZOOKEEPER)
    assert not cluster.network.reachable(1, 2)
    assert cluster.network.reachable(1, CLIENTS)
    do(cluster, HealLinks())
    assert cluster.network.reachable(1, 2)
    assert cluster.state.network.links == {}


def test_links_are_symmetric_unless_one_way() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, DelayLink(source=1, destination=2, delay_us=5, one_way=True))
    assert list(cluster.state.network.links) == [(1, 2)]
    do(cluster, DropOnLink(source=1, destination=2, percent=50))
    assert list(cluster.state.network.links) == [(1, 2), (2, 1)]


def test_held_messages_wait_and_go_on() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, HoldMessages(source=2, destination=1, api="FetchRequest"))
    do(cluster, produce("a", acks=1), Settle())
    assert value_of(cluster, partition("t-0", "hw")) == 0
    do(cluster, ReleaseMessages(source=2, destination=1), Settle())
    assert value_of(cluster, partition("t-0", "hw")) == 1


def test_held_messages_of_one_name_go_on_alone() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, HoldMessages(source=2, destination=1))
    do(cluster, produce("a", acks=1), Settle())
    do(cluster, ReleaseMessages(source=2, destination=1, api="ProduceRequest"), Settle())
    assert value_of(cluster, partition("t-0", "hw")) == 0
    do(cluster, ReleaseMessages(source=2, destination=1, api="FetchRequest", count=1), Settle())
    link = cluster.state.network.links[2, 1]
    assert link.holding == ["*"]
    do(cluster, HoldMessages(source=2, destination=1, api="Fetch"))
    do(cluster, ReleaseMessages(source=2, destination=1, api="FetchRequest"))
    assert link.holding == ["*"]
    do(cluster, ReleaseMessages(source=2, destination=1), Settle())
    assert (2, 1) not in cluster.state.network.links
    assert value_of(cluster, partition("t-0", "hw")) == 1


def test_the_words_for_processes_that_are_not_there() -> None:
    assert set(DOWN) == {"stopped", "crashed"}


def test_without_zookeeper_no_broker_rebalances_leaders() -> None:
    made = Cluster(CreateCluster(version="3.9", mode="kraft", controllers=1))
    do(made, Tick(task="rebalance"), Settle())
    assert made.host_works(0)
