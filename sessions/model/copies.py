"""New objects of the read model, and copies as deep as the folding changes them in place.

What is not copied here (ISR lists, epoch caches, runs, ..) is only ever replaced as a whole. New
objects share one empty list and one empty dict, which nobody fills: a cluster of 100,000 idle
partitions would otherwise have millions of them.
"""

from copy import copy
from typing import Any, Final, TypeVar

from msgspec import Struct

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


OWN: Final[dict[type[Any], tuple[str, ...]]] = {
    PartitionState: ("replica_states",),
    ReplicaState: ("log", "remote_leo"),
    BrokerState: ("fetch_sent_us",),
    ZnodeState: ("children",),
    ProducerState: ("errors",),
    ConsumerState: ("runs", "positions"),
    ConnectionState: ("errors",),
    GroupState: ("members", "offsets", "assignments", "shares"),
    Expectations: ("failed",),
    ControllerState: (),
    QuorumState: (
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
    ),
    ViewState: (
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
    ),
}
"""What a copy has of its own. It shares everything else: objects in it that carry ``changed`` are
copied when they are touched, other values are only ever replaced."""
State = TypeVar("State", bound=Struct)


def copied(old: State) -> State:
    """A copy as deep as the folding changes such objects in place."""
    new = copy(old)
    for name in OWN[type(old)]:
        setattr(new, name, getattr(old, name).copy())
    return new


def view_state(old: ViewState) -> ViewState:
    """A copy that shares all objects which carry ``changed``; everything else is its own."""
    new = copied(old)
    new.controller = copied(old.controller)
    new.links = [copy(link) for link in old.links]
    new.expectations = copied(old.expectations)
    new.quorum = None if old.quorum is None else copied(old.quorum)
    return new
