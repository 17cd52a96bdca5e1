"""Differences between two moments: brokers, partitions, replicas, znodes, clients, counts.

A pure function of two read models. Objects whose last event is the same in both are the same, so
only what has changed is looked at.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from msgspec import Struct

from console.model.links import Link
from sessions.model.cluster_view import ClusterView
from sessions.model.states import PartitionState, ReplicaState
from sessions.text import brackets, plain

NOT_THERE: Final = "-"
DATA_SHOWN_MAX: Final = 60
"""Characters of a znode's data that are shown."""

Fields = Sequence[tuple[str, Callable[[Any], str], bool]]
"""How an object is compared: its name, its format, and whether it changes all the time."""


class Change(Struct, frozen=True):
    """A difference: the object, the field, and its value at both moments.

    ``moves``: the value changes all the time, as a LEO does.
    """

    object: str
    link: Link | None
    what: str
    before: str
    after: str
    moves: bool = False


def _number(name: str) -> Callable[[Any], str]:
    read = attrgetter(name)
    return lambda state: plain(read(state))


def _brokers(name: str) -> Callable[[Any], str]:
    read = attrgetter(name)
    return lambda state: brackets(read(state))


def _text(name: str) -> Callable[[Any], str]:
    read = attrgetter(name)
    return lambda state: str(read(state))


def _count(name: str) -> Callable[[Any], str]:
    read = attrgetter(name)
    return lambda state: str(len(read(state)))


def _epochs(replica: ReplicaState) -> str:
    if replica.epochs is None:
        return "none"
    return " ".join(f"e{epoch}:{start}" for epoch, start in replica.epochs)


def _shortened(data: str | None) -> str:
    text = "null" if data is None else " ".join(data.split())
    return text if len(text) <= DATA_SHOWN_MAX else f"{text[: DATA_SHOWN_MAX - 2]}.."


PARTITION: Final[Fields] = (
    ("state", _text("state"), False),
    ("leader", _number("leader"), False),
    ("leader epoch", _number("leader_epoch"), False),
    ("ISR", _brokers("isr"), False),
    ("ISR of the leader", _brokers("leader_isr"), False),
    ("replicas", _brokers("replicas"), False),
    ("min ISR", _number("min_isr"), False),
    ("unclean", _text("unclean"), False),
    ("lost", _count("lost"), False),
    ("duplicated", _count("duplicated"), False),
    ("diverged", _count("diverged"), False),
    ("read and lost", _count("consumed_lost"), False),
)
REPLICA: Final[Fields] = (
    ("role", _text("role"), False),
    ("epoch cache", _epochs, False),
    ("HW", _number("high_watermark"), True),
    ("LEO", _number("log_end_offset"), True),
    ("first offset", _number("log_start"), False),
)
BROKER: Final[Fields] = (
    ("state", _text("state"), False),
    ("ZooKeeper", _text("zk_connection"), False),
    ("session", lambda broker: f"0x{broker.session:x}", False),
    ("broker epoch", _number("broker_epoch"), False),
)
ZNODE: Final[Fields] = (
    ("data", lambda node: _shortened(node.data), False),
    ("version", _number("version"), True),
    ("children", _count("children"), False),
    ("owner", lambda node: f"0x{node.ephemeral_owner:x}", False),
)
CONTROLLER: Final[Fields] = (
    ("broker", _number("broker"), False),
    ("epoch", _number("epoch"), False),
)
PRODUCER: Final[Fields] = (
    ("acked", _number("acked"), True),
    ("failed", _number("failed"), False),
    ("retries", _number("retries"), True),
)
CONSUMER: Final[Fields] = (
    ("position", _number("position"), True),
    ("error", _text("error"), False),
)
COUNTS: Final = (
    "brokers_up",
    "partitions",
    "offline",
    "under_min_isr",
    "unclean",
    "diverged",
    "at_min_isr",
    "under_replicated",
    "non_preferred",
)


def differences(before: ClusterView, after: ClusterView) -> list[Change]:
    """All differences, those of the whole cluster first, then object by object."""
    return list(_all(before, after))


def _all(before: ClusterView, after: ClusterView) -> Iterator[Change]:
    one, two = before.state, after.state
    counts = before.counts(), after.counts()
    for name in COUNTS:
        old, new = (str(getattr(side, name)) for side in counts)
        if old != new:
            yield Change("cluster", None, name.replace("_", " "), old, new)
    yield from _fields("controller", None, CONTROLLER, one.controller, two.controller)
    yield from _objects("broker", BROKER, one.brokers, two.brokers, "broker ")
    yield from _partitions(one.partitions, two.partitions)
    yield from _configurations(one.topic_configs, two.topic_configs)
    yield from _objects("znode", ZNODE, one.znodes, two.znodes)
    yield from _objects("", PRODUCER, one.producers, two.producers, "producer ")
    yield from _objects("", CONSUMER, one.consumers, two.consumers, "consumer ")


def _objects(
    kind: str,
    fields: Fields,
    before: Mapping[Any, Any],
    after: Mapping[Any, Any],
    called: str = "",
) -> Iterator[Change]:
    """The objects of one kind whose last event differs."""
    for name in _changed(before, after):
        link = Link(kind, str(name)) if kind else None
        old, new = before.get(name), after.get(name)
        yield from _fields(f"{called}{name}", link, fields, old, new)


def _changed(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> list[Any]:
    changed = [
        name
        for name, state in after.items()
        if (old := before.get(name)) is None or old.changed != state.changed
    ]
    return changed + [name for name in before if name not in after]


def _fields(
    name: str, link: Link | None, fields: Fields, before: object, after: object
) -> Iterator[Change]:
    """The fields of an object; an object that does not exist has none."""
    if before is None or after is None:
        there, gone = "there", NOT_THERE
        values = (gone, there) if before is None else (there, gone)
        yield Change(name, link, "exists", *values)
        return
    for what, text, moves in fields:
        old, new = text(before), text(after)
        if old != new:
            yield Change(name, link, what, old, new, moves)


def _partitions(
    before: Mapping[str, PartitionState], after: Mapping[str, PartitionState]
) -> Iterator[Change]:
    nothing: dict[int, ReplicaState] = {}
    for tp in _changed(before, after):
        old, new = before.get(tp), after.get(tp)
        yield from _fields(tp, Link("partition", tp), PARTITION, old, new)
        olds = nothing if old is None else old.replica_states
        news = nothing if new is None else new.replica_states
        yield from _objects("", REPLICA, olds, news, f"{tp}@")


def _configurations(
    before: Mapping[str, dict[str, str]], after: Mapping[str, dict[str, str]]
) -> Iterator[Change]:
    for topic in sorted(before.keys() | after.keys()):
        old, new = before.get(topic, {}), after.get(topic, {})
        for key in sorted(old.keys() | new.keys()):
            values = old.get(key, NOT_THERE), new.get(key, NOT_THERE)
            if values[0] != values[1]:
                yield Change(f"topic {topic}", None, key, *values)
