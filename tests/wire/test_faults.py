"""Each client library while the cluster is broken: what was acknowledged is read back."""

import threading
from collections.abc import Callable
from functools import partial

import pytest

from tests.support.background import background
from tests.wire.clients import Client, Sender, Stored
from tests.wire.members import eventually
from tidegauge.kafka_cluster import KafkaCluster

# kafka-python and aiokafka leave sockets open whose connection failed.
pytestmark = [
    pytest.mark.clients,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PARTITIONS = 3
BEFORE = 50
AFTER = 50
BETWEEN_SECONDS = 0.005
KRAFT = pytest.mark.kafka(version="4.1", controllers=3)


def send(sender: Sender, ended: threading.Event) -> None:
    """Send all the time."""
    number = 0
    while not ended.wait(BETWEEN_SECONDS):
        sender.send("orders", number % PARTITIONS, f"v{number}")
        number += 1


def all_in_sync(cluster: KafkaCluster) -> None:
    for partition in range(PARTITIONS):
        cluster.wait_until(f"orders-{partition}.isr == [0,1,2]")


def leader_crash(cluster: KafkaCluster) -> None:
    victim = cluster.leader("orders")
    cluster.crash(victim)
    eventually(lambda: cluster.leader("orders") not in (-1, victim), "another leader")
    cluster.start(victim)
    all_in_sync(cluster)


def controller_failover(cluster: KafkaCluster) -> None:
    victim = cluster.controller()
    cluster.crash(victim)
    eventually(lambda: cluster.controller() not in (-1, victim), "another controller")
    cluster.start(victim)
    all_in_sync(cluster)


def cut_link(cluster: KafkaCluster) -> None:
    leader = cluster.leader("orders")
    controller = cluster.controller()  # who changes ISRs must be heard by the leader
    others = [broker for broker in cluster.isr("orders") if broker != leader]
    follower = next(broker for broker in others if leader == controller or broker != controller)
    cluster.cut(leader, follower)
    eventually(lambda: follower not in cluster.isr("orders"), "the follower leaves the ISR")
    cluster.heal()
    all_in_sync(cluster)


def rolling_restart(cluster: KafkaCluster) -> None:
    for broker in range(3):
        cluster.stop(broker)
        cluster.start(broker)
        all_in_sync(cluster)


FAULTS = (leader_crash, controller_failover, cut_link, rolling_restart)


@pytest.mark.kafka(config={"min.insync.replicas": 2})
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
@pytest.mark.parametrize(
    "idempotent",
    [
        pytest.param(True, id="zk-idempotent"),
        pytest.param(False, id="zk-plain"),
        pytest.param(True, id="kraft-idempotent", marks=KRAFT),
    ],
)
def test_every_acknowledged_record_outlives_the_fault(
    client: Client,
    kafka_cluster: KafkaCluster,
    fault: Callable[[KafkaCluster], None],
    *,
    idempotent: bool,
) -> None:
    client.create_topic("orders", PARTITIONS, 3)
    with client.sender(idempotent=idempotent) as sender:
        send_through(fault, kafka_cluster, sender)
    assert_kept(sender, client.read("orders", PARTITIONS), idempotent=idempotent)
    kafka_cluster.assert_nothing_lost()


def send_through(
    fault: Callable[[KafkaCluster], None], cluster: KafkaCluster, sender: Sender
) -> None:
    """Send before, during and after a fault."""
    with background(partial(send, sender)):
        eventually(lambda: len(sender.acknowledged) >= BEFORE, "records before the fault")
        fault(cluster)
        enough = len(sender.acknowledged) + AFTER
        eventually(lambda: len(sender.acknowledged) >= enough, "records after the fault")


def assert_kept(sender: Sender, read: list[Stored], *, idempotent: bool) -> None:
    """Fail if a record was refused, lost, or for an idempotent producer written twice."""
    assert sender.failed == []
    assert set(sender.acknowledged) <= set(read)
    if idempotent:
        assert sorted(sender.acknowledged) == sorted(read), "nothing is written twice"
        for partition in range(PARTITIONS):
            assert in_order(read, partition), "in the order in which it was sent"


def in_order(read: list[Stored], partition: int) -> bool:
    numbers = [int(each.value[1:]) for each in read if each.partition == partition]
    return numbers == sorted(numbers)
