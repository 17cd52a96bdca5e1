"""Evaluation of conditions.

They read the emulator's own state, not any component's view of it. Something that does not exist
has no value (:data:`NOTHING`): only ``!=`` is true for it, which is not an error.
"""

from collections.abc import Callable
from typing import Any, Final

from emulator.broker.replication.replica import OFFLINE, Replica
from emulator.cluster import Cluster
from emulator.coordinator.internal_topics import is_internal
from emulator.inputs.conditions import Clause, Subject, Value
from emulator.protocol import PartitionInfo
from emulator.storage.log import Log
from emulator.zookeeper.zkcli import listed, stat_fields

NOTHING: Final = None
UNORDERED: Final = frozenset(("isr", "osr", "elr", "last_known_elr", "adding", "removing"))
"""Lists that are compared without order."""


def first_failure(cluster: Cluster, clauses: list[Clause]) -> tuple[Clause, Value] | None:
    """The first clause that is false, with its left side's value; None if all are true."""
    for clause in clauses:
        passed, actual = _looked_at(cluster, clause)
        if not passed:
            return clause, actual
    return None


def _looked_at(cluster: Cluster, clause: Clause) -> tuple[bool, Value]:
    """Whether a clause is true, and the value of the last left side that was evaluated.

    ``or`` is false only once its last part is, so the value is that of the last part.
    """
    if not clause.joins:
        left = value_of(cluster, clause.left)
        right = clause.right
        if clause.right_subject is not None:
            right = value_of(cluster, clause.right_subject)
        return holds(left, clause.op, right, unordered=clause.left.field in UNORDERED), left
    actual: Value = NOTHING
    for part in clause.parts:
        passed, actual = _looked_at(cluster, part)
        if clause.op == "not":
            return not passed, actual
        if passed is (clause.op == "or"):
            return passed, actual
    return clause.op == "and", actual


def holds(left: Value, op: str, right: Value, *, unordered: bool = False) -> bool:
    """Whether ``left op right`` is true; values that cannot be compared yield False."""
    if left is NOTHING:
        return op == "!=" and right is not NOTHING
    if unordered and isinstance(left, list) and isinstance(right, list):
        left, right = sorted(left, key=str), sorted(right, key=str)
    if op in ("==", "!=") and isinstance(left, bool) != isinstance(right, bool):
        return op == "!="
    try:
        return _OPERATORS[op](left, right)
    except TypeError:
        return False


_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
    "in": lambda a, b: a in b,
    "contains": lambda a, b: b in a,
}


def value_of(cluster: Cluster, subject: Subject) -> Value:
    """The current value of a subject's field; :data:`NOTHING` if the subject does not exist."""
    return _LOOKS[subject.kind](cluster, subject.name, subject.field)


# ---- partitions and replicas


def _partition(cluster: Cluster, name: str, field: str) -> Value:
    assigned = cluster.assigned(name)
    if assigned is None:
        return "nonexistent" if field == "state" else NOTHING
    if field == "replicas":
        return list(assigned)
    info = cluster.state_of(name)
    if info is None:
        absent: dict[str, Value] = {"state": "nonexistent", "isr": [], "osr": list(assigned)}
        return absent.get(field, NOTHING)
    if field in ("hw", "leo", "lso"):
        return _leaders_own(cluster, name, info.leader, field)
    if field in _REGISTRATION_FIELDS:
        return _registration_value(cluster, name, field)
    return _znode_value(assigned, info, field)


def _znode_value(assigned: list[int], info: PartitionInfo, field: str) -> Value:
    osr = [b for b in assigned if b not in info.isr]
    values: dict[str, Value] = {
        "leader": info.leader,
        "epoch": info.leader_epoch,
        "isr": list(info.isr),
        "osr": list(osr),
        "state": "online" if info.leader >= 0 else "offline",
        "under_replicated": bool(osr),
        "version": info.zk_version,
    }
    return values.get(field, NOTHING)


_REGISTRATION_FIELDS: Final = {
    "elr": "elr",
    "last_known_elr": "last_known_elr",
    "partition_epoch": "partition_epoch",
    "recovery": "leader_recovery_state",
    "adding": "adding_replicas",
    "removing": "removing_replicas",
}
"""The fields of a partition that only the metadata log has."""


def _registration_value(cluster: Cluster, name: str, field: str) -> Value:
    if cluster.kraft is None:
        return NOTHING
    topic, _, number = name.rpartition("-")
    partition = cluster.kraft.committed.image.partition(topic, int(number))
    value = None if partition is None else getattr(partition, _REGISTRATION_FIELDS[field])
    return list(value) if isinstance(value, tuple) else value


def _leaders_own(cluster: Cluster, name: str, leader: int, field: str) -> Value:
    replica = cluster.replica(name, leader)
    if replica is None:
        return NOTHING
    if field == "lso":
        return replica.last_stable_offset
    return replica.log.end if field == "leo" else high_watermark_of(replica)


def high_watermark_of(replica: Replica) -> int:
    """A replica's HW: that of the process, or the checkpointed one if the process is down."""
    if replica.role == OFFLINE and not replica.is_known:
        return min(replica.stored_high_watermark, replica.log.end)
    return replica.high_watermark


def _replica(cluster: Cluster, name: str, field: str) -> Value:
    tp, _, broker = name.rpartition("@")
    replica = cluster.replica(tp, int(broker))
    if replica is None:
        return NOTHING
    if field in ("remote_leo", "caught_up_ms"):
        return _remembered(cluster, tp, int(broker), field)
    return _REPLICA_FIELDS[field](cluster, replica, int(broker))


def _remembered(cluster: Cluster, tp: str, broker: int, field: str) -> Value:
    info = cluster.state_of(tp)
    leader = None if info is None else cluster.replica(tp, info.leader)
    remote = None if leader is None else leader.remotes.get(broker)
    if remote is None or leader is None or info is None:
        return NOTHING
    if field == "remote_leo":
        return remote.leo
    caught_up_us = cluster.brokers[info.leader].core.sessions.caught_up_us(leader, broker)
    return (cluster.now_us - caught_up_us) // 1000


def _role(cluster: Cluster, replica: Replica, broker: int) -> Value:
    running = cluster.host_works(broker)
    return replica.role if running else OFFLINE


def _epochs(_cluster: Cluster, replica: Replica, _broker: int) -> Value:
    if replica.epochs is None:
        return NOTHING
    return [list(entry) for entry in replica.epochs.entries]


def _values(cluster: Cluster, replica: Replica, _broker: int) -> Value:
    return list(values_in(cluster, replica.log))


def values_in(cluster: Cluster, log: Log) -> list[str]:
    """The record values of a log in offset order."""
    value_of_record = cluster.clients.value_of
    return [
        value_of_record(batch.first_record + index)
        for batch in log.batches
        if not batch.is_empty
        for index in range(batch.count)
    ]


_REPLICA_FIELDS: Final[dict[str, Callable[[Cluster, Replica, int], Value]]] = {
    "leo": lambda _c, replica, _b: replica.log.end,
    "hw": lambda _c, replica, _b: high_watermark_of(replica),
    "lso": lambda _c, replica, _b: replica.last_stable_offset,
    "log_start": lambda _c, replica, _b: replica.log.start,
    "checkpointed_hw": lambda _c, replica, _b: replica.checkpointed_hw,
    "recovery_point": lambda _c, replica, _b: replica.recovery_point,
    "role": _role,
    "epochs": _epochs,
    "values": _values,
}


# ---- brokers, ZooKeeper, clients


def _controller(cluster: Cluster, _name: str, field: str) -> Value:
    return cluster.controller_id() if field == "broker" else cluster.controller_epoch()


def _broker(cluster: Cluster, name: str, field: str) -> Value:
    broker = cluster.brokers.get(int(name))
    if broker is None:
        return NOTHING
    if field == "session":
        return cluster.zookeeper.session_of(broker.id)
    if field != "state":
        return _broker_registration(cluster, broker.id, field)
    return cluster.broker_state(broker.id)


def _broker_registration(cluster: Cluster, broker: int, field: str) -> Value:
    if cluster.kraft is None:
        return NOTHING
    registration = cluster.kraft.committed.image.brokers.get(broker)
    if registration is None:
        return 0 if field == "registrations" else NOTHING
    value: Value = getattr(registration, field)
    return value


def _quorum(cluster: Cluster, _name: str, field: str) -> Value:
    """The quorum according to its leader; without a leader it has no value."""
    if cluster.kraft is None:
        return NOTHING
    active = cluster.active_controller()
    if active is None:
        return NOTHING
    if field in ("log_start", "snapshot"):
        return _metadata_log(cluster, active, field)
    return active if field == "leader" else cluster.kraft.controllers[active].quorum.epoch


def _member(cluster: Cluster, name: str, field: str) -> Value:
    """A host that reads the metadata log: its own copy, and what the quorum's leader knows."""
    if cluster.kraft is None:
        return NOTHING
    if field in ("log_start", "snapshot"):
        return _metadata_log(cluster, int(name), field)
    active = cluster.active_controller()
    if active is None:
        return NOTHING
    if int(name) == active:
        return "equal"
    leader = cluster.kraft.controllers[active]
    progress = leader.quorum.progress.get(int(name))
    if progress is None:
        return NOTHING
    return "equal" if progress.end_offset > leader.last_record else "behind"


def _metadata_log(cluster: Cluster, host: int, field: str) -> Value:
    """A host's metadata log on disk."""
    controller = cluster.controllers.get(host)
    member = cluster.kraft_membership(host) if controller is None else controller.state
    if member is None:
        return NOTHING
    log = member.quorum.log
    if field == "log_start":
        return log.start_offset
    return log.snapshots[-1].end_offset if log.snapshots else -1


def _zk(cluster: Cluster, path: str, field: str) -> Value:
    node = cluster.zookeeper.exists(path)
    if field == "exists":
        return node is not None
    if field == "watchers":
        watches = cluster.zookeeper.watches
        return sorted({*watches.data.get(path, ()), *watches.children.get(path, ())})
    if node is None:
        return NOTHING
    if field == "data":
        return node.data or ""
    if field == "children":
        return sorted(node.children or ())
    if field == "listed":
        return [*listed(cluster.zookeeper, cluster.profile, path)]
    return stat_fields(node.stat(), cluster.state.kernel.started_ms)[field]


def _producer(cluster: Cluster, name: str, field: str) -> Value:
    producer = cluster.clients.state.producers.get(name)
    if producer is None:
        return NOTHING
    value: int = getattr(producer, field)
    return value


def _consumer(cluster: Cluster, name: str, field: str) -> Value:
    consumer = cluster.clients.state.consumers.get(name)
    if consumer is None:
        return NOTHING
    if field == "position":
        return consumer.position
    if field == "partitions":
        return [] if consumer.membership is None else sorted(consumer.membership.partitions)
    return [cluster.clients.value_of(f + i) for f, count in consumer.runs for i in range(count)]


def _fault(cluster: Cluster, name: str, field: str) -> Value:
    external = cluster.clients.state.external
    if field == "injected":
        return external.faults.get(name, NOTHING)
    remaining = [fault.times for fault in external.injected if fault.name == name]
    return sum(remaining) if name in external.faults else NOTHING


def _audit(cluster: Cluster, _name: str, field: str) -> Value:
    if field == "invariants_violated":
        return sum(cluster.state.invariants.violated.values())
    if field == "unacked_visible":
        return _unacked_visible(cluster)
    return cluster.audit.count(field)


def _unacked_visible(cluster: Cluster) -> int:
    """The number of records below a leader's HW that were not acknowledged to their producer."""
    count = 0
    for tp, audited in cluster.state.audit.partitions.items():
        replica = cluster.replica(tp, audited.leader)
        if replica is None or is_internal(tp):
            continue
        acked = {batch.first_record for batch in audited.acked}
        for batch in replica.log.batches:
            is_visible = batch.end_offset <= replica.high_watermark and not batch.is_empty
            if is_visible and batch.first_record not in acked:
                count += batch.count
    return count


def _cluster(cluster: Cluster, _name: str, field: str) -> Value:
    if field == "time":
        return cluster.now_us // 1000
    return sum(_CLUSTER_TESTS[field](cluster, tp) for tp in cluster.partitions())


def _is_under_min_isr(cluster: Cluster, tp: str) -> bool:
    info = cluster.state_of(tp)
    if info is None:
        return False
    topic = tp.rpartition("-")[0]
    broker = info.leader if info.leader >= 0 else next(iter(cluster.brokers))
    return len(info.isr) < cluster.brokers[broker].context.min_insync_replicas(topic)


def _is_under_replicated(cluster: Cluster, tp: str) -> bool:
    info, assigned = cluster.state_of(tp), cluster.assigned(tp)
    return info is not None and assigned is not None and any(b not in info.isr for b in assigned)


def _is_offline(cluster: Cluster, tp: str) -> bool:
    info = cluster.state_of(tp)
    return info is not None and info.leader < 0


_CLUSTER_TESTS: Final[dict[str, Callable[[Cluster, str], bool]]] = {
    "under_min_isr": _is_under_min_isr,
    "under_replicated": _is_under_replicated,
    "offline": _is_offline,
}

_LOOKS: Final[dict[str, Callable[[Cluster, str, str], Value]]] = {
    "partition": _partition,
    "replica": _replica,
    "controller": _controller,
    "broker": _broker,
    "quorum": _quorum,
    "member": _member,
    "zk": _zk,
    "producer": _producer,
    "consumer": _consumer,
    "fault": _fault,
    "audit": _audit,
    "cluster": _cluster,
}
