"""The object that ``--json`` prints, as far as it is a cluster's state: from the view alone.

The shape is a contract with whoever reads it: keys may be added, none renamed. A ``mark`` holds
``controller``, ``brokers`` and ``partitions`` of it.
"""

from collections.abc import Mapping
from typing import Any, Final

from sessions.decoding import EVENT_JSON_MEMORY_MAX, decode_json
from sessions.model import kraft_summary
from sessions.model.cluster_view import ClusterView
from sessions.model.metadata_log import end_of
from sessions.model.states import (
    BrokerState,
    ConsumerState,
    PartitionState,
    ProducerState,
    ReplicaState,
)
from sessions.model.verdict import verdicts as verdicts_of
from sessions.model.verdict import words

SCHEMA: Final = 1
"""The version of the object's shape."""
US_PER_MS: Final = 1_000
AUDITS: Final = ("lost", "duplicated", "diverged", "consumed_lost")
"""The lists of :class:`sessions.model.states.PartitionState` that hold what the audit found."""

Plain = dict[str, Any]


def contract(view: ClusterView, facts: Mapping[str, Any] | None = None) -> Plain:
    """The whole object; ``facts`` is what no view knows: ``state_hash``, ``outputs``, ``marks``."""
    state = view.state
    return {
        "schema": SCHEMA,
        "seed": state.seed,
        "time_ms": state.time_us // US_PER_MS,
        "events": state.seq,
        "state_hash": "",
        "version": state.version,
        "verdicts": verdicts(view),
        **snapshot(view),
        "producers": [producer(client) for client in state.producers.values()],
        "consumers": [consumer(view, client) for client in state.consumers.values()],
        "audit": audit(view),
        "invariants": invariants(view),
        "expectations": expectations(view),
        "marks": {},
        "outputs": [],
        **(facts or {}),
        **_mode(view),
    }


def _mode(view: ClusterView) -> Plain:
    """Where the metadata is, if that is not ZooKeeper."""
    quorum = view.state.quorum
    if quorum is None:
        return {}
    return {"mode": "kraft", "features": kraft_summary.features_of(quorum)}


def mark(view: ClusterView, before: ClusterView | None = None) -> Plain:
    """The content of a mark: the cluster in the view.

    In KRaft mode that includes the metadata log since the mark ``before``, or since the cluster was
    up.
    """
    return {"time_ms": view.state.time_us // US_PER_MS, **snapshot(view, before)}


def marks(views: Mapping[str, ClusterView]) -> Plain:
    """All marks, in the order in which they were set."""
    summaries: Plain = {}
    before = None
    for name, view in views.items():
        summaries[name] = mark(view, before)
        before = view
    return summaries


def snapshot(view: ClusterView, before: ClusterView | None = None) -> Plain:
    """Controller, brokers and partitions; in KRaft mode more, and the log since ``before``."""
    quorum = view.state.quorum
    common = _snapshot(view)
    if quorum is None:
        return common
    since = quorum.booted
    if before is not None and before.state.quorum is not None:
        since = end_of(before.state.quorum)
    return kraft_summary.mark_of(view, common, since)


def _snapshot(view: ClusterView) -> Plain:
    """Controller, brokers and partitions; partitions by topic and number."""
    state = view.state
    partitions = sorted(state.partitions.values(), key=lambda p: (p.topic, p.partition))
    return {
        "controller": {
            "broker": state.controller.broker,
            "epoch": state.controller.epoch,
            "epoch_zk_version": state.controller.epoch_zk_version,
        },
        "brokers": [broker(broker_state) for _, broker_state in sorted(state.brokers.items())],
        "partitions": [partition(view, partition_state) for partition_state in partitions],
    }


def broker(state: BrokerState) -> Plain:
    """One broker; ``epoch`` is null while it is not registered."""
    return {
        "id": state.id,
        "state": state.state,
        "rack": state.rack,
        "epoch": state.broker_epoch or None,
        "registered": state.registered,
        "session": state.session or None,
    }


def partition(view: ClusterView, state: PartitionState) -> Plain:
    """One partition: what its znode says, its leader's own HW and LEO, and every replica."""
    leader = state.leader_replica
    remote_leo = {} if leader is None else leader.remote_leo
    return {
        "topic": state.topic,
        "partition": state.partition,
        "state": state.state,
        "leader": state.leader,
        "leader_epoch": state.leader_epoch,
        "replicas": state.replicas,
        "isr": state.isr,
        "osr": state.osr,
        "hw": None if leader is None else leader.high_watermark,
        "lso": None if leader is None else leader.last_stable_offset,
        "leo": None if leader is None else leader.log_end_offset,
        "zk_version": state.zk_version,
        "controller_epoch": state.controller_epoch,
        "replica_states": [
            replica(view, replica_state, None if broker == state.leader else remote_leo.get(broker))
            for broker, replica_state in sorted(state.replica_states.items())
        ],
    }


def replica(view: ClusterView, state: ReplicaState, remote_leo: int | None) -> Plain:
    """One replica: what its process has, or its disk; records by value and leader epoch.

    ``remote_leo`` is what the leader remembers of a follower's LEO.
    """
    log = state.log
    return {
        "broker": state.broker,
        "role": view.role(state),
        "leo": state.log_end_offset,
        "hw": state.high_watermark,
        "lso": state.last_stable_offset,
        "log_start": state.log_start,
        "remote_leo": remote_leo,
        "epochs": state.epochs,
        "values": view.log_values(log) if log else [],
        "record_epochs": view.log_epochs(log) if log else [],
    }


def producer(state: ProducerState) -> Plain:
    """One producer's counts of records, and an error for each that failed."""
    return {
        "name": state.name,
        "acked": state.acked,
        "failed": state.failed,
        "retries": state.retries,
        "pending": state.pending,
        "errors": state.errors,
    }


def consumer(view: ClusterView, state: ConsumerState) -> Plain:
    """One consumer: the values that it was given, and its position."""
    return {
        "name": state.name,
        "values": view.values_of(state.runs),
        "position": state.position,
        "error": state.error,
    }


def audit(view: ClusterView) -> Plain:
    """Ground truth: the number of acknowledged records, and lists of what is wrong with them."""
    lists = {finding: _audited(view, finding) for finding in AUDITS}
    offsets = [
        {"topic": partition.topic, "partition": partition.partition, "begin": begin, "end": end}
        for partition in sorted(
            view.state.partitions.values(), key=lambda p: (p.topic, p.partition)
        )
        for begin, end in partition.lost_offsets
    ]
    of_image = {"lost_offsets": offsets} if offsets else {}
    return {"acked": view.state.acked, **lists, **of_image}


def _audited(view: ClusterView, finding: str) -> list[Plain]:
    partitions = [
        partition for partition in view.state.partitions.values() if getattr(partition, finding)
    ]
    partitions.sort(key=lambda p: (p.topic, p.partition))
    return [
        {
            "topic": partition.topic,
            "partition": partition.partition,
            "offset": offset,
            "value": view.value(record),
        }
        for partition in partitions
        for offset, record in getattr(partition, finding)
    ]


def verdicts(view: ClusterView) -> list[Plain]:
    """The verdicts on the cluster, the worst first, each with its number and in words."""
    return [
        {"kind": verdict.kind, "count": verdict.count, "text": words(view, verdict)}
        for verdict in verdicts_of(view.counts())
    ]


def invariants(view: ClusterView) -> list[Plain]:
    """The broken ones; ``known`` tells that the release is known to break it."""
    return [
        {"event": seq, "name": name, "tp": tp, "detail": detail, "known": known}
        for seq, name, tp, detail, known in view.state.invariants
    ]


def expectations(view: ClusterView) -> Plain:
    """How many assertions held, and those that did not."""
    checked = view.state.expectations
    return {
        "passed": checked.passed,
        "failed": [
            {
                "line": line,
                "text": text,
                "actual": decode_json(actual, object, EVENT_JSON_MEMORY_MAX),
            }
            for line, text, actual in checked.failed
        ],
    }
