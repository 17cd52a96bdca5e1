"""The records in the log of __share_group_state: a share-partition's whole state, and its changes.

Source: ``ShareCoordinatorRecordHelpers`` 4.1. Kafka's keys and values are binary; here they are
JSON, so that a log is readable.
"""

import msgspec
from msgspec import Struct

from emulator.protocol import SharePartitionKey, StateBatch


class ShareSnapshot(
    Struct, frozen=True, tag="share_snapshot", tag_field="record", omit_defaults=True
):
    """The whole state of a share-partition, the ``snapshot_epoch``-th; epoch -1 is a tombstone."""

    key: SharePartitionKey
    snapshot_epoch: int
    state_epoch: int = 0
    leader_epoch: int = 0
    start: int = -1
    batches: list[StateBatch] = []
    completed: int = -1


class ShareUpdate(Struct, frozen=True, tag="share_update", tag_field="record", omit_defaults=True):
    """A change since the last snapshot; ``start`` -1: it has not changed."""

    key: SharePartitionKey
    snapshot_epoch: int
    leader_epoch: int = 0
    start: int = -1
    batches: list[StateBatch] = []
    completed: int = -1


Record = ShareSnapshot | ShareUpdate
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


def text_of(record: Record) -> str:
    """A record's value in the log."""
    return msgspec.json.encode(record).decode()


def read(value: str) -> Record | None:
    """Decode a record's value; None if it is malformed (another client wrote to the topic)."""
    try:
        return _decoder.decode(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
