"""The read model: equal to what the emulator itself says, whatever happened."""

import pytest

from emulator.cluster import Cluster
from emulator.events import (
    BrokerStateChanged,
    ClusterCreated,
    PartitionStateChanged,
    ProduceSent,
    RecordsAppended,
    TopicCreated,
)
from emulator.inputs.conditions import Subject
from emulator.releases.profiles import VERSIONS
from emulator.scenario.conditions import value_of
from sessions.model.cluster_view import STATUSES, ClusterView
from sessions.model.states import PartitionState
from sessions.model.waiting import is_stalled
from tests.sessions.examples import SPEC, comparable, folded, run, story_events

Facts = dict[str, object]


def value(cluster: Cluster, kind: str, name: str, field: str) -> object:
    return value_of(cluster, Subject(kind, name, field))


def emulated(cluster: Cluster, view: ClusterView) -> Facts:
    """Everything that conditions can ask of the cluster, asked of the emulator."""
    state, facts = view.state, Facts()

    def ask(kind: str, name: str, *fields: str) -> None:
        facts.update({f"{name}.{field}": value(cluster, kind, name, field) for field in fields})

    ask("controller", "", "broker", "epoch")
    ask("cluster", "", "offline", "under_replicated", "under_min_isr")
    ask("audit", "", "acked", "lost", "duplicated", "diverged", "consumed_lost")
    for broker in state.brokers:
        ask("broker", str(broker), "state", "session")
    for tp, partition in state.partitions.items():
        ask("partition", tp, "leader", "epoch", "isr", "state", "version", "hw", "leo")
        for broker in state.brokers:
            name = f"{tp}@{broker}"
            ask("replica", name, "leo", "hw", "log_start", "role", "epochs", "values")
            if broker in partition.replica_states:
                ask("replica", name, "remote_leo")
    for name in state.producers:
        ask("producer", name, "acked", "failed", "retries")
    for name in state.consumers:
        ask("consumer", name, "position", "values")
    return facts


def viewed(view: ClusterView) -> Facts:
    """The same, asked of the view."""
    state = view.state
    counts = view.counts()
    facts: Facts = {
        ".broker": state.controller.broker,
        ".epoch": state.controller.epoch,
        ".offline": counts.offline,
        ".under_replicated": counts.under_replicated,
        ".under_min_isr": counts.under_min_isr,
        ".acked": state.acked,
    }
    for name in ("lost", "duplicated", "diverged", "consumed_lost"):
        facts[f".{name}"] = sum(len(getattr(p, name)) for p in state.partitions.values())
    for number, broker in state.brokers.items():
        facts |= {f"{number}.state": broker.state, f"{number}.session": broker.session or None}
    for tp, partition in state.partitions.items():
        facts |= {f"{tp}.{field}": found for field, found in viewed_partition(partition).items()}
        for number in state.brokers:
            replica = viewed_replica(view, partition, number)
            facts |= {f"{tp}@{number}.{field}": found for field, found in replica.items()}
    for name, producer in state.producers.items():
        facts |= {f"{name}.{f}": getattr(producer, f) for f in ("acked", "failed", "retries")}
    for name, consumer in state.consumers.items():
        facts[f"{name}.position"] = consumer.position
        facts[f"{name}.values"] = view.values_of(consumer.runs)
    return facts


def viewed_partition(partition: PartitionState) -> Facts:
    leader = partition.leader_replica
    return {
        "leader": partition.leader,
        "epoch": partition.leader_epoch,
        "isr": partition.isr,
        "state": partition.state,
        "version": partition.zk_version,
        "hw": None if leader is None else leader.high_watermark,
        "leo": None if leader is None else leader.log_end_offset,
    }


def viewed_replica(view: ClusterView, partition: PartitionState, broker: int) -> Facts:
    replica = partition.replica_states.get(broker)
    if replica is None:
        return dict.fromkeys(("leo", "hw", "log_start", "role", "epochs", "values"))
    epochs = replica.epochs
    return {
        "leo": replica.log_end_offset,
        "hw": replica.high_watermark,
        "log_start": replica.log_start,
        "role": view.role(replica),
        "epochs": None if epochs is None else [list(entry) for entry in epochs],
        "values": view.values(partition.name, broker),
        "remote_leo": partition.remote_leo.get(broker),
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_after_every_statement_the_view_says_what_the_emulator_says(version: str) -> None:
    view = ClusterView()

    def agree(cluster: Cluster) -> None:
        assert viewed(view) == emulated(cluster, view)

    spec = type(SPEC)(brokers=SPEC.brokers, seed=SPEC.seed, version=version, config=SPEC.config)
    run(view.apply, spec, after=agree)


@pytest.mark.parametrize("version", ["0.8.1", "2.0.0", "3.9"])
def test_the_view_holds_the_whole_tree_with_every_stat(version: str) -> None:
    view = ClusterView()

    def agree(cluster: Cluster) -> None:
        znodes = view.state.znodes
        assert znodes.keys() == cluster.zookeeper.nodes.keys()
        for path, node in cluster.zookeeper.nodes.items():
            mine = znodes[path]
            stat = node.stat()
            assert (mine.data, list(mine.children)) == (node.data, list(node.children or ()))
            assert (mine.czxid, mine.mzxid, mine.pzxid) == (stat.czxid, stat.mzxid, stat.pzxid)
            assert (mine.ctime_us, mine.mtime_us) == (stat.ctime_us, stat.mtime_us)
            assert (mine.version, mine.cversion) == (stat.version, stat.cversion)
            assert mine.ephemeral_owner == stat.ephemeral_owner

    spec = type(SPEC)(brokers=SPEC.brokers, seed=SPEC.seed, version=version, config=SPEC.config)
    run(view.apply, spec, after=agree)


def test_an_encoded_view_goes_on_like_the_one_it_came_from() -> None:
    events = story_events()
    view = folded(events[:1500])
    other = ClusterView.decode(view.encode())
    view.apply_all(events[1500:])
    other.apply_all(events[1500:])
    assert comparable(other) == comparable(view)


def test_a_copy_and_its_original_do_not_disturb_each_other() -> None:
    events = story_events()
    original = folded(events[:1500])
    before = comparable(folded(events[:1500]))
    copy = original.copy()
    original.apply_all(events[1500:])
    assert comparable(copy) == before
    copy.apply_all(events[1500:2500])
    assert comparable(original) == comparable(folded(events))
    copy.apply_all(events[2500:])
    assert comparable(copy) == comparable(original)


def test_changed_partitions_are_those_whose_state_differs() -> None:
    events = story_events()
    view = folded(events[:1000])
    for begin in range(1000, len(events), 97):
        before = {tp: view.copy().state.partitions[tp] for tp in view.partitions}
        seq = view.seq
        view.apply_all(events[begin : begin + 97])
        differing = {
            tp
            for tp in before.keys() | view.partitions.keys()
            if before.get(tp) != view.partitions.get(tp)
        }
        changed = set(view.changed_partitions_since(seq))
        assert differing <= changed
        assert all(tp not in view.partitions or view.partitions[tp].changed > seq for tp in changed)


def test_what_changed_too_long_ago_is_everything() -> None:
    view = ClusterView.decode(folded(story_events()).encode())
    assert set(view.changed_partitions_since(5)) == set(view.partitions)
    assert set(view.changed_znodes_since(5)) == set(view.state.znodes)


def one_partition(config: dict[str, str], replicas: list[int], version: str = "3.9") -> ClusterView:
    return folded(
        [
            ClusterCreated(1, 0, 0, version, 1, [1, 2, 3], [], {}, False),
            *(BrokerStateChanged(1, 0, 0, broker, "running") for broker in (1, 2, 3)),
            TopicCreated(2, 0, 0, "t", [replicas], config),
            PartitionStateChanged(3, 0, 0, "t-0", replicas[0], 0, replicas, 1, 0),
        ]
    )


@pytest.mark.parametrize(
    ("leader", "isr", "status"),
    [
        (1, [1, 2, 3], "healthy"),
        (2, [1, 2, 3], "non_preferred"),
        (1, [1, 3], "at_min_isr"),
        (1, [1], "under_min_isr"),
        (-1, [1], "offline"),
        (-1, [1, 2, 3], "offline"),
    ],
)
def test_a_partition_has_its_most_severe_status(leader: int, isr: list[int], status: str) -> None:
    view = one_partition({"min.insync.replicas": "2"}, [1, 2, 3])
    view.apply(PartitionStateChanged(4, 10, 0, "t-0", leader, 1, isr, 1, 1))
    partition = view.partitions["t-0"]
    assert view.status(partition) == status
    assert list(view.statuses(partition)) == sorted(view.statuses(partition), key=STATUSES.index)


def test_a_leader_from_outside_the_isr_is_unclean_until_another_leads() -> None:
    view = one_partition({}, [1, 2, 3])
    view.apply(PartitionStateChanged(4, 10, 0, "t-0", -1, 1, [1], 1, 1))
    view.apply(PartitionStateChanged(5, 20, 0, "t-0", 2, 2, [2], 1, 2))
    assert (view.counts().unclean, view.status(view.partitions["t-0"])) == (1, "unclean")
    view.apply(PartitionStateChanged(6, 30, 0, "t-0", 2, 2, [2, 1, 3], 1, 3))
    assert view.counts().unclean == 1
    view.apply(PartitionStateChanged(7, 40, 0, "t-0", 1, 3, [2, 1, 3], 1, 4))
    assert (view.counts().unclean, view.status(view.partitions["t-0"])) == (0, "healthy")


@pytest.mark.parametrize(("version", "lag_s"), [("2.4", 10), ("2.5", 30), ("3.9", 30)])
def test_a_hw_below_the_leo_for_too_long_is_stalled(version: str, lag_s: int) -> None:
    """KIP-537 raised replica.lag.time.max.ms from 10 to 30 s."""
    view = one_partition({}, [1, 2, 3], version)
    late_us = (20 + lag_s) * 1_000_000
    view.apply(RecordsAppended(4, 20_000_000, 0, "t-0", 1, 0, 3, 0, 1))
    partition = view.partitions["t-0"]
    assert not is_stalled(view.state, partition)
    view.apply(ProduceSent(5, late_us, 0, "p1", "t-0", 9, [], ["x"], 1))
    assert not is_stalled(view.state, partition)
    assert view.writes(partition) == "ok"
    view.apply(ProduceSent(6, late_us + 1, 0, "p1", "t-0", 10, [], ["x"], 1))
    assert is_stalled(view.state, partition)
    assert view.status(partition) == "hw_stalled"
    assert view.writes(partition) == "waiting"


def test_values_are_found_by_record_whatever_the_batches() -> None:
    view = one_partition({}, [1])
    view.apply(ProduceSent(4, 0, 0, "p1", "t-0", 1, [], ["a", "b", "c"], 1))
    view.apply(ProduceSent(5, 0, 0, "p1", "t-0", 4, ["k", None], ["d", "e"], 1))
    view.apply(RecordsAppended(6, 0, 0, "t-0", 1, 0, 3, 0, 1))
    view.apply(RecordsAppended(7, 0, 0, "t-0", 1, 3, 2, 0, 4))
    assert view.values("t-0", 1) == ["a", "b", "c", "d", "e"]
    assert [view.value(record) for record in (5, 2, 6, 0)] == ["e", "b", "#6", "#0"]
    assert view.log_epochs(view.log("t-0", 1)) == [0] * 5
    assert view.values("t-0", 2) == view.values("nothing-0", 1) == []
