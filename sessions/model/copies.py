"""New objects of the read model, and copies as deep as the folding changes them in place.

What is not copied here (ISR lists, epoch caches, runs, ..) is only ever replaced as a whole. New
objects share one empty list and one empty dict, which nobody fills: a cluster of 100,000 idle
partitions would otherwise have millions of them.
"""

from copy import copy
from typing import Any, Final

from sessions.model.states import (
    UNKNOWN,
    BrokerState,
    ConnectionState,
    ConsumerState,
    ControllerState,
    Expectations,
    GroupState,
    PartitionState,
    ProducerState,
    QuorumState,
    ReplicaState,
    ViewState,
    ZnodeState,
)

_NONE: Final[list[Any]] = []
_NOBODY: Final[dict[Any, Any]] = {}


def new_partition(topic: str, number: int, created_us: int) -> PartitionState:
    """A partition of which nothing is known yet."""
    return PartitionState(
        topic,
        number,
        _NONE,
        isr=_NONE,
        leader_isr=_NONE,
        adding=_NONE,
        removing=_NONE,
        lost=_NONE,
        duplicated=_NONE,
        diverged=_NONE,
        consumed_lost=_NONE,
        lost_offsets=_NONE,
        created_us=created_us,
    )


def new_replica(broker: int, seq: int, has_epochs: bool) -> ReplicaState:
    """An empty replica; ``log`` and ``remote_leo`` are replaced when something comes into them."""
    epochs = _NONE if has_epochs else None
    return ReplicaState(broker, "offline", 0, 0, 0, epochs, _NONE, -1, -1, False, _NOBODY, seq)


def unknown_replica(broker: int, seq: int) -> ReplicaState:
    """A replica of a cluster that runs outside: no client is told what it has."""
    return ReplicaState(
        broker, "offline", UNKNOWN, UNKNOWN, UNKNOWN, None, _NONE, -1, -1, False, _NOBODY, seq
    )


def new_znode(path: str, data: str | None, zxid: int, time_us: int, owner: int) -> ZnodeState:
    """A znode without children; ``children`` is replaced when the first one comes."""
    return ZnodeState(
        path,
        data,
        zxid,
        zxid,
        zxid,
        time_us,
        time_us,
        ephemeral_owner=owner,
        children=_NOBODY,
    )


def partition(old: PartitionState) -> PartitionState:
    """A copy that shares its replicas, each of which is copied when it is touched."""
    new = copy(old)
    new.replica_states = old.replica_states.copy()
    return new


def replica(old: ReplicaState) -> ReplicaState:
    """A copy with a log and a memory of followers of its own."""
    new = copy(old)
    new.log = copy(old.log)
    new.remote_leo = old.remote_leo.copy()
    return new


def broker(old: BrokerState) -> BrokerState:
    """A copy with its own times of fetches."""
    new = copy(old)
    new.fetch_sent_us = old.fetch_sent_us.copy()
    return new


def znode(old: ZnodeState) -> ZnodeState:
    """A copy with its own children."""
    new = copy(old)
    new.children = old.children.copy()
    return new


def producer(old: ProducerState) -> ProducerState:
    """A copy with its own errors."""
    new = copy(old)
    new.errors = old.errors.copy()
    return new


def consumer(old: ConsumerState) -> ConsumerState:
    """A copy with its own runs and positions."""
    new = copy(old)
    new.runs = old.runs.copy()
    new.positions = old.positions.copy()
    return new


def connection(old: ConnectionState) -> ConnectionState:
    """A copy with its own counts of errors."""
    new = copy(old)
    new.errors = old.errors.copy()
    return new


def group(old: GroupState) -> GroupState:
    """A copy with its own members, positions, assignments and share-partitions."""
    new = copy(old)
    new.members, new.offsets = old.members.copy(), old.offsets.copy()
    new.assignments, new.shares = old.assignments.copy(), old.shares.copy()
    return new


def view_state(old: ViewState) -> ViewState:
    """A copy that shares all objects which carry ``changed``; everything else is its own."""
    new = copy(old)
    for name in (
        "config",
        "brokers",
        "partitions",
        "topic_configs",
        "broker_configs",
        "znodes",
        "sessions",
        "producers",
        "consumers",
        "batches",
        "bookmarks",
        "invariants",
        "held",
        "updates",
        "connections",
        "groups",
        "faults",
        "beliefs",
    ):
        setattr(new, name, getattr(old, name).copy())
    new.controller = controller(old.controller)
    new.links = [copy(link) for link in old.links]
    new.expectations = expectations(old.expectations)
    new.quorum = None if old.quorum is None else quorum(old.quorum)
    return new


def quorum(old: QuorumState) -> QuorumState:
    """A copy of its own; the records are shared, and lists of folders are only ever replaced."""
    new = copy(old)
    for name in (
        "controllers",
        "log",
        "fetched",
        "applied",
        "folders",
        "roles",
        "snapshots",
        "log_starts",
        "silent_us",
        "led",
    ):
        setattr(new, name, getattr(old, name).copy())
    return new


def controller(old: ControllerState) -> ControllerState:
    """A copy of its own."""
    return copy(old)


def expectations(old: Expectations) -> Expectations:
    """A copy with its own list of what failed."""
    return Expectations(old.passed, old.failed.copy())
