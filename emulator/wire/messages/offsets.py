"""Offsets of partitions: by timestamp, by leader epoch, and deletion of records."""

from typing import Annotated, Final

from emulator.wire.types import Api, Int8, Int16, Int32, Int64, Message, String, since, until


class ListOffsetsPartition(Message, frozen=True):
    partition_index: Int32 = 0
    current_leader_epoch: Annotated[Int32, since(4)] = -1
    timestamp: Int64 = 0
    max_num_offsets: Annotated[Int32, until(0)] = 1


class ListOffsetsTopic(Message, frozen=True):
    name: String = ""
    partitions: list[ListOffsetsPartition] = []


class ListOffsetsRequest(Message, frozen=True):
    """Requests the first offset whose record is not older than a timestamp.

    -1 is the latest, -2 the earliest, -3 the one with the largest timestamp (since version 7,
    KIP-734). Version 0 requests up to ``max_num_offsets`` offsets, as old consumers did.
    """

    replica_id: Int32 = 0
    isolation_level: Annotated[Int8, since(2)] = 0
    topics: list[ListOffsetsTopic] = []
    timeout_ms: Annotated[Int32, since(10)] = 0


class ListOffsetsPartitionResponse(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    old_style_offsets: Annotated[list[Int64], until(0)] = []
    timestamp: Annotated[Int64, since(1)] = -1
    offset: Annotated[Int64, since(1)] = -1
    leader_epoch: Annotated[Int32, since(4)] = -1


class ListOffsetsTopicResponse(Message, frozen=True):
    name: String = ""
    partitions: list[ListOffsetsPartitionResponse] = []


class ListOffsetsResponse(Message, frozen=True):
    """The offset and its timestamp, or in version 0 a list of offsets, newest first."""

    throttle_time_ms: Annotated[Int32, since(2)] = 0
    topics: list[ListOffsetsTopicResponse] = []


class OffsetForLeaderPartition(Message, frozen=True):
    partition: Int32 = 0
    current_leader_epoch: Annotated[Int32, since(2)] = -1
    leader_epoch: Int32 = 0


class OffsetForLeaderTopic(Message, frozen=True):
    topic: String = ""
    partitions: list[OffsetForLeaderPartition] = []


class OffsetForLeaderEpochRequest(Message, frozen=True):
    """Requests the end offset of a leader epoch (KIP-101, for consumers since KIP-320)."""

    replica_id: Annotated[Int32, since(3)] = -2
    topics: list[OffsetForLeaderTopic] = []


class EpochEndOffset(Message, frozen=True):
    error_code: Int16 = 0
    partition: Int32 = 0
    leader_epoch: Annotated[Int32, since(1)] = -1
    end_offset: Int64 = -1


class OffsetForLeaderTopicResult(Message, frozen=True):
    topic: String = ""
    partitions: list[EpochEndOffset] = []


class OffsetForLeaderEpochResponse(Message, frozen=True):
    """The largest epoch up to the requested one, and its end offset."""

    throttle_time_ms: Annotated[Int32, since(2)] = 0
    topics: list[OffsetForLeaderTopicResult] = []


class DeleteRecordsPartition(Message, frozen=True):
    partition_index: Int32 = 0
    offset: Int64 = 0


class DeleteRecordsTopic(Message, frozen=True):
    name: String = ""
    partitions: list[DeleteRecordsPartition] = []


class DeleteRecordsRequest(Message, frozen=True):
    """Deletes all records before an offset (KIP-107); -1 is the high watermark."""

    topics: list[DeleteRecordsTopic] = []
    timeout_ms: Int32 = 0


class DeleteRecordsPartitionResult(Message, frozen=True):
    partition_index: Int32 = 0
    low_watermark: Int64 = 0
    error_code: Int16 = 0


class DeleteRecordsTopicResult(Message, frozen=True):
    name: String = ""
    partitions: list[DeleteRecordsPartitionResult] = []


class DeleteRecordsResponse(Message, frozen=True):
    """The log start offset of each partition, or its error."""

    throttle_time_ms: Int32 = 0
    topics: list[DeleteRecordsTopicResult] = []


APIS: Final = (
    Api(2, ListOffsetsRequest, ListOffsetsResponse, 11, 6),
    Api(21, DeleteRecordsRequest, DeleteRecordsResponse, 2, 2),
    Api(23, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, 4, 4),
)
