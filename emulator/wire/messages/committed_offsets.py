"""Committed offsets of consumer groups."""

from typing import Annotated, Final

from emulator.wire.types import (
    NO_UUID,
    Api,
    Bool,
    Int16,
    Int32,
    Int64,
    Message,
    String,
    Uuid,
    nullable_since,
    since,
    until,
)


class OffsetCommitRequestPartition(Message, frozen=True):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Annotated[Int32, since(6)] = -1
    commit_timestamp: Annotated[Int64, since(1, 1)] = -1
    committed_metadata: String | None = ""


class OffsetCommitRequestTopic(Message, frozen=True):
    name: Annotated[String, until(9)] = ""
    topic_id: Annotated[Uuid, since(10)] = NO_UUID
    partitions: list[OffsetCommitRequestPartition] = []


class OffsetCommitRequest(Message, frozen=True):
    """Commits offsets of a group; version 0 stores them in ZooKeeper.

    Client-side retention in versions 2 to 4 only (KIP-211), leader epochs since 6 (KIP-320).
    """

    group_id: String = ""
    generation_id_or_member_epoch: Annotated[Int32, since(1)] = -1
    member_id: Annotated[String, since(1)] = ""
    group_instance_id: Annotated[String | None, since(7)] = None
    retention_time_ms: Annotated[Int64, since(2, 4)] = -1
    topics: list[OffsetCommitRequestTopic] = []


class OffsetCommitResponsePartition(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class OffsetCommitResponseTopic(Message, frozen=True):
    name: Annotated[String, until(9)] = ""
    topic_id: Annotated[Uuid, since(10)] = NO_UUID
    partitions: list[OffsetCommitResponsePartition] = []


class OffsetCommitResponse(Message, frozen=True):
    """The result for each partition."""

    throttle_time_ms: Annotated[Int32, since(3)] = 0
    topics: list[OffsetCommitResponseTopic] = []


class OffsetFetchRequestTopic(Message, frozen=True):
    name: String = ""
    partition_indexes: list[Int32] = []


class OffsetFetchRequestTopics(Message, frozen=True):
    name: Annotated[String, until(9)] = ""
    topic_id: Annotated[Uuid, since(10)] = NO_UUID
    partition_indexes: list[Int32] = []


class OffsetFetchRequestGroup(Message, frozen=True):
    group_id: String = ""
    member_id: Annotated[String | None, since(9)] = None
    member_epoch: Annotated[Int32, since(9)] = -1
    topics: list[OffsetFetchRequestTopics] | None = []


class OffsetFetchRequest(Message, frozen=True):
    """Requests a group's committed offsets; version 0 reads them from ZooKeeper.

    Null means all partitions since version 2 (KIP-88); ``require_stable`` since 7 (KIP-447);
    several groups since 8 (KIP-709).
    """

    group_id: Annotated[String, until(7)] = ""
    topics: Annotated[list[OffsetFetchRequestTopic] | None, until(7), nullable_since(2)] = []
    groups: Annotated[list[OffsetFetchRequestGroup], since(8)] = []
    require_stable: Annotated[Bool, since(7)] = False


class OffsetFetchResponsePartition(Message, frozen=True):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Annotated[Int32, since(5)] = -1
    metadata: String | None = ""
    error_code: Int16 = 0


class OffsetFetchResponseTopic(Message, frozen=True):
    name: String = ""
    partitions: list[OffsetFetchResponsePartition] = []


class OffsetFetchResponsePartitions(Message, frozen=True):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Int32 = -1
    metadata: String | None = ""
    error_code: Int16 = 0


class OffsetFetchResponseTopics(Message, frozen=True):
    name: Annotated[String, until(9)] = ""
    topic_id: Annotated[Uuid, since(10)] = NO_UUID
    partitions: list[OffsetFetchResponsePartitions] = []


class OffsetFetchResponseGroup(Message, frozen=True):
    group_id: String = ""
    topics: list[OffsetFetchResponseTopics] = []
    error_code: Int16 = 0


class OffsetFetchResponse(Message, frozen=True):
    """The committed offset of each partition; -1 if there is none."""

    throttle_time_ms: Annotated[Int32, since(3)] = 0
    topics: Annotated[list[OffsetFetchResponseTopic], until(7)] = []
    error_code: Annotated[Int16, since(2, 7)] = 0
    groups: Annotated[list[OffsetFetchResponseGroup], since(8)] = []


APIS: Final = (
    Api(8, OffsetCommitRequest, OffsetCommitResponse, 10, 8),
    Api(9, OffsetFetchRequest, OffsetFetchResponse, 10, 6),
)
