"""Clients outside in the read model: who is connected, what was asked and told, how far behind."""

from typing import Any

from emulator.cluster import Cluster
from emulator.events import ClientConnected, ClientRequestReceived, ClientResponseSent, Event
from emulator.inputs.statements import CrashBroker, CreateCluster, CreateTopic
from emulator.scenario.runner import Runner
from emulator.wire.messages.cluster import ApiVersionsRequest
from emulator.wire.messages.committed_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from emulator.wire.messages.membership import HeartbeatRequest
from emulator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from sessions.format import keyframes
from sessions.model.clients import lag_of, summary_of
from sessions.model.cluster_view import ClusterView
from sessions.model.states import ConnectionState
from tests.support.wire_client import FAST, WireLab, batch_of


class Watched(WireLab):
    """A cluster with one topic, ``t``, led by broker 0, and the view of all that happens."""

    @classmethod
    def of_one_topic(cls) -> "Watched":
        view = ClusterView()
        events: list[Event] = []
        config = {**FAST, "offsets.topic.replication.factor": "1"}
        spec = CreateCluster(latency_us=20, config=config, brokers=2)
        lab = cls(Runner(Cluster(spec, (view.apply, events.append), "cluster")))
        lab.view, lab.events = view, events
        lab.run(CreateTopic(topic="t", assignment=[[0]]))
        lab.pass_time(1_000_000)
        return lab

    view: ClusterView
    events: list[Event]

    def coordinator(self, group: str) -> int:
        here = self.connect()
        for _ in range(50):
            found = self.ask(here, FindCoordinatorRequest(group), 2)
            self.pass_time(100_000)
            if not found.error_code:
                return int(found.node_id)
        raise AssertionError("no coordinator was found")

    def known(self, connection: int) -> ConnectionState:
        return self.view.state.connections[connection]

    def summary(self, connection: int) -> dict[str, Any]:
        return summary_of(self.view, self.known(connection), self.runner.now_us)

    def produce(self, connection: int, *values: str) -> None:
        rows = [PartitionProduceData(0, batch_of(*values))]
        topics = [TopicProduceData("t", partition_data=rows)]
        self.ask(connection, ProduceRequest(None, -1, 30_000, topics), 8)

    def fetch(self, connection: int, offset: int) -> None:
        rows = [FetchPartition(0, -1, offset, partition_max_bytes=1 << 20)]
        request = FetchRequest(max_wait_ms=0, topics=[FetchTopic("t", partitions=rows)])
        self.ask(connection, request, 11)


def test_who_is_connected_is_known_with_what_was_asked_and_told() -> None:
    lab = Watched.of_one_topic()
    connection = lab.connect(1)
    assert lab.summary(connection)["last_request"] == ""
    lab.ask(connection, ApiVersionsRequest("librdkafka", "2.10.0"), 3)
    lab.ask(connection, HeartbeatRequest("g", 1, "nobody"), 3)
    found = lab.summary(connection)
    assert found["library"] == "librdkafka 2.10.0"
    assert (found["client_id"], found["group"], found["broker"]) == ("me", "g", 1)
    assert (found["requests"], found["last_request"]) == (2, "Heartbeat")
    assert sum(found["errors"].values()) == 1
    assert not found["waiting"]
    lab.hang_up(connection)
    assert connection not in lab.view.state.connections


def test_a_request_that_is_not_answered_waits() -> None:
    lab = Watched.of_one_topic()
    connection = lab.connect(0)
    request = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        topics=[FetchTopic("t", partitions=[FetchPartition(0, partition_max_bytes=100)])],
    )
    lab.send(connection, request, 11)
    lab.pass_time(100_000)
    assert lab.known(connection).waiting
    lab.pass_time(500_000)
    assert not lab.known(connection).waiting


def test_requests_per_second_are_those_of_the_last_whole_second() -> None:
    lab = Watched.of_one_topic()
    connection = lab.connect(0)
    lab.pass_time(1_000_000 - lab.runner.now_us % 1_000_000)
    for _ in range(5):
        lab.ask(connection, ApiVersionsRequest(), 0)
    assert lab.summary(connection)["requests_per_second"] == 0
    lab.pass_time(1_000_000)
    assert lab.summary(connection)["requests_per_second"] == 5
    lab.ask(connection, ApiVersionsRequest(), 0)
    assert lab.summary(connection)["requests_per_second"] == 5
    lab.pass_time(2_000_000)
    assert lab.summary(connection)["requests_per_second"] == 0


def test_the_lag_is_that_of_the_group_or_of_what_was_read() -> None:
    lab = Watched.of_one_topic()
    writer, reader, member = lab.connect(0), lab.connect(0), lab.connect(0)
    lab.produce(writer, "a", "b", "c")
    assert lab.summary(reader)["lag"] is None
    lab.fetch(reader, 0)
    lab.produce(writer, "d")
    lab.pass_time(100_000)
    assert lab.summary(reader)["lag"] == 1
    assert lab.summary(writer)["lag"] is None
    coordinator = lab.coordinator("g")
    member = lab.connect(coordinator)
    rows = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 1)])]
    lab.ask(member, OffsetCommitRequest("g", -1, "", topics=rows), 2)
    assert lab.summary(member)["lag"] == 3
    assert lag_of(lab.view, lab.known(member)) == 3


def test_a_broker_that_dies_takes_its_connections_along() -> None:
    lab = Watched.of_one_topic()
    gone, stays = lab.connect(0), lab.connect(1)
    lab.run(CrashBroker(broker=0))
    lab.pass_time(100_000)
    assert gone not in lab.view.state.connections
    assert stays in lab.view.state.connections


def test_a_response_names_its_request_and_follows_from_it() -> None:
    lab = Watched.of_one_topic()
    connection = lab.connect(0)
    lab.produce(connection, "a")
    opened = next(e for e in lab.events if isinstance(e, ClientConnected))
    asked = next(e for e in lab.events if isinstance(e, ClientRequestReceived))
    told = next(e for e in lab.events if isinstance(e, ClientResponseSent))
    assert (opened.connection, asked.api, asked.api_version) == (connection, "Produce", 8)
    assert (told.request, told.errors) == (asked.seq, [])
    causes = {each.seq: each.cause for each in lab.events}
    at = told.seq
    while at and at != asked.seq:
        at = causes[at]
    assert at == asked.seq


def test_keyframes_have_connections_and_groups() -> None:
    lab = Watched.of_one_topic()
    connection = lab.connect(0)
    first = lab.view.snapshot()
    before = first.state.connections[connection]
    lab.ask(connection, HeartbeatRequest("g", 1, "nobody"), 3)
    assert before.requests == 0
    second = lab.view.snapshot()
    frames = [
        keyframes.take(lab.view, keyframes.EMPTY, first),
        keyframes.take(lab.view, first, second),
    ]
    again = [keyframes.decode(keyframes.encode(frame)) for frame in frames]
    found = keyframes.rebuild(keyframes.EMPTY, again)
    assert found.state.connections == lab.view.state.connections
    assert found.state.groups == lab.view.state.groups
