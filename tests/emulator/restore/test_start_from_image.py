from typing import Any

import pytest
from msgspec.structs import replace

from emulator.cluster_image.acls import entries_of
from emulator.cluster_image.image import (
    AclEntry,
    Broker,
    ClusterImage,
    CommittedOffset,
    Controller,
    Group,
    Member,
    Mode,
    Partition,
    Quorum,
    ReplicaLog,
    Topic,
    ZooKeeperController,
)
from emulator.events import AuditChanged
from emulator.inputs.statements import Consume, CrashBroker, Produce, StartBroker
from emulator.zookeeper import data as znodes
from sessions.model.cluster_view import ClusterView
from sessions.model.event_text import in_words
from sessions.model.summary import audit
from sessions.model.verdict import verdicts, words
from tests.support.lab import Lab

CLUSTERS: list[tuple[Mode, str]] = [
    ("zk", "0.10.2"),
    ("zk", "2.3"),
    ("zk", "3.9"),
    ("kraft", "3.9"),
    ("kraft", "4.1"),
    ("kraft", "4.4"),
]
WITH_ELR = ("4.1", "4.4")
QUIET = {"auto.leader.rebalance.enable": "false"}
BILLION = 10**9


def image(mode: Mode, **changes: Any) -> ClusterImage:
    """Three brokers, one of them down, with leaders that are not the preferred ones."""
    made = ClusterImage(
        mode=mode,
        quorum=Quorum(8, 5, 700, (Controller(7), Controller(8), Controller(9)))
        if mode == "kraft"
        else None,
        controller=ZooKeeperController(4, 12, 11) if mode == "zk" else None,
        configs={"min.insync.replicas": "2"} if mode == "kraft" else {},
        static_configs={"unclean.leader.election.enable": "false"},
        brokers=(
            Broker(1, "a", up=True, epoch=77, host="kafka-1"),
            Broker(2, "b", up=False, epoch=33),
            Broker(4, "b", up=True, epoch=99),
        ),
        topics=(
            Topic(
                "orders",
                configs={"retention.ms": "-1"},
                partitions=(
                    Partition(0, (1, 4), 4, (4, 1), None, None, 6, 9, log_start=3, log_end=BILLION),
                    Partition(
                        1,
                        (2, 1),
                        1,
                        (1,),
                        leader_epoch=4,
                        partition_epoch=7,
                        log_end=50,
                        logs=(ReplicaLog(2, end=40),),
                    ),
                    Partition(2, (2,), -1, (2,), leader_epoch=2, partition_epoch=3, log_end=5),
                ),
            ),
        ),
    )
    return replace(made, **changes)


def start(mode: Mode, version: str, made: ClusterImage | None = None) -> Lab:
    return Lab(version, image=made or image_of(mode, version), config=QUIET, mode=mode)


def image_of(mode: Mode, version: str) -> ClusterImage:
    """With eligible leader replicas the last member leaves the ISR when it dies, too (KIP-966)."""
    made = image(mode)
    if version not in WITH_ELR:
        return made
    [topic] = made.topics
    first, second, third = topic.partitions
    third = replace(third, isr=(), elr=(2,), last_known_elr=(2,))
    return replace(made, topics=(replace(topic, partitions=(first, second, third)),))


def states(lab: Lab) -> dict[str, tuple[int, int, int, list[int]]]:
    return {
        tp: (info.leader, info.leader_epoch, info.zk_version, info.isr)
        for tp, info in lab.cluster.state.states.items()
    }


def as_given(version: str) -> dict[str, tuple[int, int, int, list[int]]]:
    return {
        "orders-0": (4, 6, 9, [4, 1]),
        "orders-1": (1, 4, 7, [1]),
        "orders-2": (-1, 2, 3, [] if version in WITH_ELR else [2]),
    }


@pytest.mark.parametrize(("mode", "version"), CLUSTERS)
def test_a_cluster_starts_in_the_state_of_its_image_and_stays_there(
    mode: Mode, version: str
) -> None:
    lab = start(mode, version)
    assert states(lab) == as_given(version)
    lab.wait(30_000)
    assert states(lab) == as_given(version)
    assert {b: lab.cluster.broker_state(b) for b in (1, 2, 4)} == {
        1: "running",
        2: "stopped",
        4: "running",
    }
    assert lab.cluster.settings.racks == {1: "a", 2: "b", 4: "b"}
    assert lab.cluster.state.invariants.violated == {}


@pytest.mark.parametrize(("mode", "version"), CLUSTERS)
def test_logs_begin_and_end_where_the_image_says(mode: Mode, version: str) -> None:
    lab = start(mode, version)
    lab.wait(1_000)
    ends = {
        (tp, broker): (replica.log_start, replica.log_end, replica.high_watermark)
        for tp in lab.cluster.partitions()
        for broker in (1, 2, 4)
        if (replica := lab.cluster.replica(tp, broker)) is not None
    }
    assert ends == {
        ("orders-0", 1): (3, BILLION, BILLION),
        ("orders-0", 4): (3, BILLION, BILLION),
        ("orders-1", 1): (0, 50, 50),
        ("orders-1", 2): (0, 40, 40),
        ("orders-2", 2): (0, 5, 5),
    }


@pytest.mark.parametrize(("mode", "version"), CLUSTERS)
def test_the_read_model_of_the_events_has_the_same_logs_and_znodes(
    mode: Mode, version: str
) -> None:
    lab = start(mode, version)
    lab.wait(1_000)
    view = ClusterView()
    view.apply_all(lab.seen.events)
    for tp in lab.cluster.partitions():
        for broker in (1, 2, 4):
            replica, shown = lab.cluster.replica(tp, broker), view.replica_state(tp, broker)
            assert (replica is None) == (shown is None)
            if replica is not None and shown is not None:
                assert (shown.log_start, shown.log_end_offset, shown.high_watermark) == (
                    replica.log_start,
                    replica.log_end,
                    replica.high_watermark,
                )
                assert shown.role == replica.role
                assert view.values(tp, broker) == []
    for path, node in lab.cluster.zookeeper.nodes.items():
        if mode == "zk" and path.startswith("/brokers/topics"):
            assert view.state.znodes[path].version == node.version


@pytest.mark.parametrize(("mode", "version"), CLUSTERS)
def test_a_replica_that_was_behind_returns_and_fetches_offsets_without_records(
    mode: Mode, version: str
) -> None:
    lab = start(mode, version)
    lab.do(StartBroker(broker=2))
    lab.wait(10_000)
    replica = lab.cluster.replica("orders-1", 2)
    assert replica is not None
    assert (replica.log_end, replica.high_watermark) == (50, 50)
    assert sorted(states(lab)["orders-1"][3]) == [1, 2]
    assert states(lab)["orders-2"][0] == 2
    assert lab.cluster.audit.count("lost") == lab.cluster.audit.count("diverged") == 0


@pytest.mark.parametrize(("mode", "version"), CLUSTERS)
def test_what_is_written_follows_what_was_there_and_consumers_read_only_that(
    mode: Mode, version: str
) -> None:
    lab = start(mode, version)
    written = lab.do(
        Produce(topic="orders", partition=0, value="new", acks=-1, retries=0, producer="p")
    )
    assert written.error == "NONE"
    lab.do(Consume(topic="orders", partition=0, from_beginning=True, consumer="c"))
    consumer = lab.cluster.clients.state.consumers["c"]
    values = [
        lab.cluster.ledger.value_of(first + index)
        for first, count in consumer.runs
        for index in range(count)
    ]
    assert values == ["new"]
    lab.do(CrashBroker(broker=4))
    lab.wait(40_000)
    assert states(lab)["orders-0"][0] == 1
    replica = lab.cluster.replica("orders-0", 1)
    assert replica is not None
    assert replica.log_end == BILLION + 1
    assert lab.cluster.audit.count("lost") == 0


def test_a_record_in_place_of_an_unknown_one_diverges() -> None:
    behind = image("zk")
    unclean = replace(behind.topics[0], configs={"unclean.leader.election.enable": "true"})
    lab = start("zk", "2.3", replace(behind, topics=(unclean,)))
    lab.do(CrashBroker(broker=1))
    lab.do(StartBroker(broker=2))
    lab.wait(20_000)
    assert states(lab)["orders-1"][0] == 2
    lab.do(Produce(topic="orders", partition=1, value="new", acks=1, retries=0))
    lab.wait(1_000)
    assert lab.cluster.audit.count("diverged") == 1


@pytest.mark.parametrize(("mode", "version"), CLUSTERS)
def test_offsets_that_an_unclean_leader_lacks_are_lost(mode: Mode, version: str) -> None:
    behind = image(mode)
    partition = Partition(0, (2, 1), 1, (1,), leader_epoch=4, log_start=20, log_end=50)
    partition = replace(partition, logs=(ReplicaLog(2, end=40),))
    configs = {"unclean.leader.election.enable": "true"}
    topic = Topic("orders", configs=configs, partitions=(partition,))
    lab = start(mode, version, replace(behind, topics=(topic,)))
    view = ClusterView()
    assert lab.cluster.audit.count("lost") == 0
    lab.do(CrashBroker(broker=1))
    lab.do(StartBroker(broker=2))
    lab.wait(40_000)
    assert states(lab)["orders-0"][0] == 2
    assert lab.cluster.audit.count("lost") == 10
    view.apply_all(lab.seen.events)
    [held] = [each for each in verdicts(view.counts()) if each.kind == "lost"]
    assert words(view, held) == "10 RECORDS LOST: committed offsets of orders-0"
    shown = audit(view)
    assert (shown["lost"], shown["lost_offsets"]) == (
        [],
        [{"topic": "orders", "partition": 0, "begin": 40, "end": 50}],
    )
    [event] = lab.seen.of(AuditChanged)
    assert in_words(event)[1] == "orders-0 offsets 40 to 49 lost"
    lab.do(Produce(topic="orders", partition=0, value="new", acks=1, retries=0))
    lab.wait(1_000)
    assert lab.cluster.audit.count("lost") == 10


@pytest.mark.parametrize(("mode", "version"), CLUSTERS)
def test_starting_twice_and_forking_give_the_same_cluster(mode: Mode, version: str) -> None:
    one, other = start(mode, version), start(mode, version)
    fork = one.cluster.fork()
    assert one.cluster.state_hash == other.cluster.state_hash == fork.state_hash
    one.wait(5_000)
    other.wait(5_000)
    assert one.cluster.state_hash == other.cluster.state_hash


# ---- ZooKeeper


def test_znodes_are_those_of_the_image() -> None:
    lab = start("zk", "3.9")
    zookeeper = lab.cluster.zookeeper
    assert zookeeper.get(znodes.CONTROLLER_EPOCH).data == "12"
    assert zookeeper.get(znodes.CONTROLLER_EPOCH).version == 11
    assert lab.cluster.controller_id() == 4
    assert zookeeper.children(znodes.BROKER_IDS) == ["1", "4"]
    config = znodes.config_in(zookeeper.get("/config/topics/orders").data)
    assert config == {"retention.ms": "-1"}
    state = zookeeper.get(znodes.state_path("orders-1"))
    assert state.version == 7
    assert '"host":"kafka-1"' in (zookeeper.get("/brokers/ids/1").data or "")


@pytest.mark.parametrize("version", ["1.1", "2.3", "2.4", "3.9"])
def test_a_reassignment_in_progress_goes_on(version: str) -> None:
    moving = Partition(
        0, (1, 2, 4), 1, (1,), leader_epoch=1, partition_epoch=1, adding=(4,), removing=(2,)
    )
    topic = Topic("orders", configs={}, partitions=(moving,))
    lab = start("zk", version, image("zk", topics=(topic,)))
    lab.wait(10_000)
    assert sorted(lab.cluster.assigned("orders-0") or []) == [1, 4]
    assert sorted(states(lab)["orders-0"][3]) == [1, 4]


def test_no_leader_is_rebalanced_right_after_the_start() -> None:
    preferred = Partition(0, (4, 1), 1, (1, 4), leader_epoch=3, partition_epoch=3)
    topic = Topic("orders", configs={}, partitions=(preferred,))
    lab = Lab("3.9", image=image("zk", topics=(topic,)), config={})
    lab.wait(60_000)
    assert states(lab)["orders-0"][:2] == (1, 3)
    lab.wait(300_000)
    assert states(lab)["orders-0"][:2] == (4, 4)


# ---- KRaft


def test_the_metadata_log_begins_with_the_image() -> None:
    lab = start("kraft", "4.1")
    cluster = lab.cluster
    assert cluster.kraft is not None
    assert (cluster.controller_id(), cluster.controller_epoch()) == (8, 5)
    committed = cluster.kraft.committed.image
    assert {broker.id: (broker.epoch, broker.fenced) for broker in committed.brokers.values()} == {
        1: (77, False),
        2: (33, True),
        4: (99, False),
    }
    assert committed.broker_config(None, "min.insync.replicas") == "2"
    assert committed.offset >= 700
    registered = cluster.state.brokers[4]
    assert registered.broker_epoch == 99


def test_a_combined_node_is_a_broker_and_a_controller_with_an_id_of_its_own() -> None:
    quorum = Quorum(1, 3, 10, (Controller(1), Controller(2), Controller(4)))
    lab = start("kraft", "4.1", image("kraft", quorum=quorum))
    assert list(lab.cluster.controllers) == [1001, 1002, 1004]
    assert lab.cluster.controller_id() == 1001
    lab.wait(20_000)
    assert states(lab) == {**as_given("4.1"), "orders-2": (-1, 2, 3, [2])}


def test_a_quorum_without_majority_stays_without_leader() -> None:
    controllers = (Controller(7, up=True), Controller(8, up=False), Controller(9, up=False))
    lab = start("kraft", "4.1", image("kraft", quorum=Quorum(-1, 5, 10, controllers)))
    lab.wait(20_000)
    assert lab.cluster.controller_id() is None


# ---- groups


GROUPS = (
    Group("readers", offsets=(CommittedOffset("orders", 0, 500, 3, "note"),)),
    Group("writers", state="Stable", members=(Member("m1"),)),
    Group("gone", state="Dead"),
)


def with_groups(version: str, mode: Mode, *, log_end: int | None = None) -> ClusterImage:
    """The same cluster with groups, and a partition for them that brokers 1 and 4 have."""
    made = image_of(mode, version)
    partition = Partition(0, (1, 4), 1, (1, 4), leader_epoch=2, partition_epoch=2, log_end=log_end)
    topic = Topic("__consumer_offsets", configs={}, partitions=(partition,))
    return replace(made, topics=(topic, *made.topics), groups=GROUPS)


def offsets(lab: Lab, broker: int) -> dict[str, dict[str, int]]:
    groups = lab.cluster.state.brokers[broker].core.coordinator.groups
    return {name: group.offsets for name, group in groups.items()}


@pytest.mark.parametrize("log_end", [None, 1, 700])
@pytest.mark.parametrize(("mode", "version"), CLUSTERS)
def test_committed_offsets_are_there_and_survive_their_coordinator(
    mode: Mode, version: str, log_end: int | None
) -> None:
    lab = start(mode, version, with_groups(version, mode, log_end=log_end))
    assert offsets(lab, 1) == {"readers": {"orders-0": 500}, "writers": {}}
    [readers, writers] = lab.cluster.state.brokers[1].core.coordinator.groups.values()
    assert (readers.state, readers.epochs, readers.notes) == (
        "Empty",
        {"orders-0": 3},
        {"orders-0": "note"},
    )
    assert (writers.state, writers.members) == ("Empty", {})
    replica = lab.cluster.replica("__consumer_offsets-0", 4)
    assert replica is not None
    assert replica.log_end == max(2, log_end or 0)
    lab.do(CrashBroker(broker=1))
    lab.wait(40_000)
    assert offsets(lab, 4) == {"readers": {"orders-0": 500}, "writers": {}}
    assert lab.cluster.audit.count("lost") == lab.cluster.audit.count("diverged") == 0
    view = ClusterView()
    view.apply_all(lab.seen.events)
    shown = {
        name: (each.state, each.broker, each.offsets) for name, each in view.state.groups.items()
    }
    assert shown == {"readers": ("Empty", 4, {"orders-0": 500}), "writers": ("Empty", 4, {})}


@pytest.mark.parametrize("version", ["4.1", "4.4"])
def test_groups_have_their_configurations_also_those_without_offsets(version: str) -> None:
    configs = {"consumer.session.timeout.ms": "50000"}
    lab = start("kraft", version, replace(image("kraft"), groups=(Group("slow", configs=configs),)))
    broker = lab.cluster.brokers[1]
    assert broker.context.metadata.group_config("slow") == configs
    assert broker.context.metadata.group_config("other") == {}


AUTHORIZERS = {
    "zk": "kafka.security.authorizer.AclAuthorizer",
    "kraft": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
}


@pytest.mark.parametrize(("mode", "version"), [("zk", "3.9"), ("kraft", "3.9"), ("kraft", "4.4")])
def test_access_control_is_that_of_the_image(mode: Mode, version: str) -> None:
    entries = (
        AclEntry("ALLOW", "User:alice", "READ", "TOPIC", "orders"),
        AclEntry("ALLOW", "User:alice", "WRITE", "TOPIC", "orders"),
        AclEntry("DENY", "User:bob", "ALL", "GROUP", "g", "PREFIXED", "10.0.0.7"),
    )
    config = {**QUIET, "authorizer.class.name": AUTHORIZERS[mode]}
    lab = Lab(version, image=replace(image(mode), acls=entries), config=config, mode=mode)
    for broker in (1, 4):
        known = lab.cluster.brokers[broker].membership.acls
        assert entries_of(known) == entries
