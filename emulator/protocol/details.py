"""The names of the values in :meth:`emulator.protocol.message.Message.detail`, by message.

Each item of a detail is ``[about, value, ..]``: a partition or, in the first item of messages to a
coordinator, ``group.NAME`` or ``transaction.ID``. The last values of an item may be missing.
"""

from typing import Final

from emulator.protocol import KINDS
from emulator.protocol.message import CoordinatorMessage

PARTITION_VALUES: Final[dict[str, tuple[str, ...]]] = {
    "FetchRequest": ("offset", "leader_epoch"),
    "FetchResponse": ("high_watermark", "base_offset", "count", "error"),
    "LeaderAndIsrRequest": ("leader", "leader_epoch"),
    "StopReplicaRequest": ("leader_epoch",),
    "UpdateMetadataRequest": ("leader", "leader_epoch", "zk_version"),
    "OffsetsForLeaderEpochRequest": ("leader_epoch",),
    "OffsetsForLeaderEpochResponse": ("error", "leader_epoch", "end_offset"),
    "ProduceRequest": (
        *("first_record", "count", "acks"),
        *("producer_id", "producer_epoch", "base_sequence"),
    ),
    "ProduceResponse": ("error", "base_offset"),
    "DeleteRecordsRequest": ("offset",),
    "DeleteRecordsResponse": ("error", "log_start"),
    "MetadataFetchRequest": ("leader_epoch", "offset"),
    "FetchSnapshotRequest": ("end_offset", "offset"),
    "OffsetCommitRequest": ("offset",),
    "OffsetFetchResponse": ("offset",),
    "TxnOffsetCommitRequest": ("offset",),
    "AddPartitionsToTxnResponse": ("error",),
    "WriteTxnMarkersRequest": ("producer_id", "producer_epoch", "result"),
    "WriteTxnMarkersResponse": ("error",),
}
"""The values of an item about a partition; messages without any are left out.

``result`` is ``commit`` or ``abort``; ``offset`` of a FetchSnapshotRequest is a position in bytes.
"""

COORDINATED_VALUES: Final[dict[str, tuple[str, ...]]] = {
    kind.__name__: kind.tells for kind in KINDS if issubclass(kind, CoordinatorMessage)
}
"""The values of the first item of messages to and from coordinators, which is about a group or a
transactional id."""
