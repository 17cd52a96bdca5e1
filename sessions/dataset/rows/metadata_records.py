"""Rows of ``metadata_records``: the fields of KRaft's records as columns."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from emulator.events import MetadataRecordCommitted
from sessions.dataset.writer import Row
from sessions.decoding import DecodingError, decode_object

FENCING: Final = {-1: False, 1: True}
"""The values of ``fenced`` in a BrokerRegistrationChange; 0 does not change it."""
STARTS: Final = {1: True}
"""The value of ``inControlledShutdown`` there; 0 does not change it."""


def _is_int(value: object) -> bool:
    return type(value) is int and -(1 << 31) <= value < 1 << 31


def _is_id(value: object) -> bool:
    return type(value) is int and -(1 << 63) <= value < 1 << 63


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_ints(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_int, value))


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_change(value: object) -> bool:
    return type(value) in (bool, int) and value in (-1, 0, 1)


FIELDS: Final[tuple[tuple[str, tuple[str, ...], Callable[[object], bool]], ...]] = (
    ("topic", ("topicId",), _is_text),
    ("partition", ("partitionId",), _is_int),
    ("replicas", ("replicas",), _are_ints),
    ("isr", ("isr",), _are_ints),
    ("leader", ("leader",), _is_int),
    ("leader_epoch", ("leaderEpoch",), _is_int),
    ("partition_epoch", ("partitionEpoch",), _is_int),
    ("leader_recovery_state", ("leaderRecoveryState",), _is_int),
    ("removing_replicas", ("removingReplicas",), _are_ints),
    ("adding_replicas", ("addingReplicas",), _are_ints),
    ("eligible_leader_replicas", ("eligibleLeaderReplicas",), _are_ints),
    ("last_known_elr", ("lastKnownElr",), _are_ints),
    ("broker", ("brokerId",), _is_int),
    ("broker_epoch", ("brokerEpoch",), _is_text),
    ("fenced", ("fenced",), _is_change),
    ("in_controlled_shutdown", ("inControlledShutdown",), _is_change),
    ("cordoned_log_dirs", ("cordonedLogDirs",), _are_texts),
    ("controller", ("controllerId", "leaderId"), _is_int),
    ("name", ("name", "topicName"), _is_text),
    ("value", ("value",), _is_text),
    ("resource_type", ("resourceType",), _is_int),
    ("resource", ("resourceName",), _is_text),
    ("feature_level", ("featureLevel",), _is_int),
    ("next_producer_id", ("nextProducerId",), _is_id),
)
"""The columns after ``version``: Kafka's names of their field, and what fits into them."""


def metadata_record(event: MetadataRecordCommitted) -> Row:
    """Return the row of a record; what has no column, or does not fit into it, stays JSON."""
    try:
        fields = decode_object(event.data)
    except DecodingError:
        fields, others = {}, event.data
    else:
        others = ""
    values = [_take(fields, keys, fits) for _, keys, fits in FIELDS]
    if fields:
        others = msgspec.json.encode(fields).decode()
    return (
        *(event.seq, event.time_us, event.cause, event.offset, event.epoch, event.batch),
        *(event.kind, event.version),
        *map(_as_column, (name for name, *_ in FIELDS), values),
        others or None,
    )


def _take(fields: dict[str, Any], keys: tuple[str, ...], fits: Callable[[object], bool]) -> object:
    for key in keys:
        if key in fields and fits(fields[key]):
            return fields.pop(key)
    return None


def _as_column(name: str, value: object) -> object:
    if type(value) is int and name == "fenced":
        return FENCING.get(value)
    if type(value) is int and name == "in_controlled_shutdown":
        return STARTS.get(value)
    return value
