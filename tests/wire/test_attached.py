"""A running cluster is looked at again and again: what changes there comes as events."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from emulator import events
from emulator.events import Event
from sessions.attached.observer import METADATA
from sessions.attached.poller import Poller
from sessions.model.cluster_view import ClusterView
from sessions.own_cluster.read_only_client import READ_REQUESTS, ReadOnlyClient
from tests.wire.test_running_cluster import filled, recorded
from tidegauge.kafka_cluster import KafkaCluster

pytest.importorskip("kafka")
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class Looked:
    """A poller without a thread: each look is asked for."""

    def __init__(self, address: str) -> None:
        self.poller = Poller(address, {})
        self.view = ClusterView()
        self.first = self.take()

    def take(self) -> list[Event]:
        found = self.poller.news()
        self.view.apply_all(found)
        return found

    def look(self, *, all_parts: bool = False) -> list[Event]:
        if all_parts:
            for part in self.poller._observer._parts:
                part.due_s = 0.0
        self.poller.look()
        return self.take()

    def until(self, cluster: KafkaCluster, kind: type[Event], partitions: set[str]) -> list[Event]:
        """Look until events of a kind have come about these partitions: news take time."""
        found: list[Event] = []
        for _ in range(40):
            found += self.look(all_parts=True)
            if partitions <= {event.tp for event in of(kind, found)}:
                return found
            cluster.run("wait 500ms")
        raise AssertionError(found)


@contextmanager
def looking(address: str) -> Iterator[Looked]:
    looked = Looked(address)
    try:
        yield looked
    finally:
        looked.poller.close()


def of(kind: type[Event], found: list[Event]) -> list[Any]:
    return [event for event in found if type(event) is kind]


@pytest.mark.kafka(version="4.1")
def test_an_answer_that_no_broker_gives_is_told_and_the_next_one_counts(
    kafka_cluster: KafkaCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with looking(filled(kafka_cluster)) as looked:
        poller, orders = looked.poller, looked.view.partitions["orders-0"]

        def metadata(change: Callable[[Any], Any]) -> None:
            """Let answers to Metadata be changed."""
            decode = ReadOnlyClient.decode

            def changed(client: ReadOnlyClient, key: int, frame: bytes) -> object:
                message = decode(client, key, frame)
                return change(message) if key == METADATA else message

            monkeypatch.setattr(ReadOnlyClient, "decode", changed)
            poller._observer._frames.clear()
            looked.look()
            monkeypatch.undo()

        metadata(lambda message: replace(message, topics=[replace(message.topics[0], name="a b")]))
        assert "has the topic 'a b' which is no name of a topic" in poller.lost
        assert poller.image.topic("orders") is not None
        metadata(lambda message: replace(message, brokers=None))
        assert poller.lost.startswith("an answer that no broker gives: TypeError")
        looked.look()
        assert poller.lost == ""
        assert looked.view.partitions["orders-0"].isr == orders.isr


@pytest.mark.parametrize(
    "release",
    [
        pytest.param(each, marks=pytest.mark.kafka(version=each))
        for each in ("1.1", "2.4", "3.9", "4.1")
    ],
)
def test_what_changes_is_told_as_events(kafka_cluster: KafkaCluster, release: str) -> None:
    address = filled(kafka_cluster)
    with recorded() as keys, looking(address) as looked:
        view = looked.view
        assert view.state.version.startswith(release)
        orders = view.partitions["orders-0"]
        assert (orders.leader, orders.isr, orders.replicas) == (0, [0, 1], [0, 1, 2])
        leader = orders.leader_replica
        assert leader is not None
        assert (leader.role, leader.log_end_offset, leader.high_watermark) == ("leader", 12, 12)
        follower = orders.replica_states[1]
        assert (follower.role, follower.log_end_offset, follower.high_watermark) == (
            "follower",
            12 if release != "1.1" else follower.log_end_offset,
            -1,
        )
        assert 2 not in orders.replica_states
        small = view.partitions["small-0"]
        assert (small.min_isr, view.status(small)) == (2, "under_min_isr")
        assert view.counts().brokers_up == 2
        assert small.elr == ([2] if release == "4.1" else None)
        down = "fenced" if release == "4.1" else "stopped"
        assert {each.id: each.state for each in view.state.brokers.values()} == {
            0: "running",
            1: "running",
            2: down,
        }

        assert of(events.PartitionStateChanged, looked.look()) == []

        kafka_cluster.run("broker start 2")
        kafka_cluster.wait_until("orders-0.isr == [0,1,2]")
        kafka_cluster.wait_until("small-0.isr == [1,2]")
        back = looked.until(kafka_cluster, events.IsrChanged, {"orders-0", "orders-1", "small-0"})
        assert [(e.broker, e.state) for e in of(events.BrokerStateChanged, back)] == [
            (2, "running")
        ]
        assert view.partitions["small-0"].isr in ([1, 2], [2, 1])

        kafka_cluster.crash(1)
        kafka_cluster.wait_until("small-0.leader == 2")
        kafka_cluster.wait_until("orders-0.isr == [0,2]")
        lost = looked.until(kafka_cluster, events.PartitionStateChanged, {"small-0", "orders-0"})
        (gone,) = of(events.BrokerStateChanged, lost)
        moved = {e.tp: e for e in of(events.PartitionStateChanged, lost)}
        assert moved["small-0"].leader == 2
        assert moved["small-0"].cause == gone.seq
        assert view.partitions["small-0"].leader == 2

        kafka_cluster.run("topic create more --replica-assignment 0:2,2:0")
        kafka_cluster.run("produce orders --value paid --partition 0 --count 5 --acks all")
        news = looked.look(all_parts=True)
        assert [e.topic for e in of(events.TopicCreated, news)] == ["more"]
        (grown,) = [e for e in of(events.HighWatermarkChanged, news) if e.tp == "orders-0"]
        assert (grown.high_watermark, grown.previous) == (17, 12)
        kafka_cluster.run("topic delete more")
        kafka_cluster.run("topic config orders retention.ms=7000000")
        news = looked.look(all_parts=True)
        assert [e.topic for e in of(events.TopicDeleted, news)] == ["more"]
        (config,) = of(events.ConfigChanged, news)
        assert (config.name, config.key, config.value) == ("orders", "retention.ms", "7000000")
    assert {*keys} <= READ_REQUESTS.keys()
