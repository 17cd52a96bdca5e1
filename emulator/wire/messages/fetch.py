"""Fetching records."""

from typing import Annotated, Final

from emulator.wire.types import (
    NO_UUID,
    Api,
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    Records,
    String,
    Uuid,
    since,
    tag,
    until,
)


class ReplicaState(Message, frozen=True):
    """The ``replica_state`` of :class:`FetchRequest`."""

    replica_id: Int32 = -1
    replica_epoch: Int64 = -1


class FetchPartition(Message, frozen=True):
    partition: Int32 = 0
    current_leader_epoch: Annotated[Int32, since(9)] = -1
    fetch_offset: Int64 = 0
    last_fetched_epoch: Annotated[Int32, since(12)] = -1
    log_start_offset: Annotated[Int64, since(5)] = -1
    partition_max_bytes: Int32 = 0
    replica_directory_id: Annotated[Uuid, since(17), tag(0)] = NO_UUID
    high_watermark: Annotated[Int64, since(18), tag(1)] = 9_223_372_036_854_775_807


class FetchTopic(Message, frozen=True):
    topic: Annotated[String, until(12)] = ""
    topic_id: Annotated[Uuid, since(13)] = NO_UUID
    partitions: list[FetchPartition] = []


class ForgottenTopic(Message, frozen=True):
    topic: Annotated[String, until(12)] = ""
    topic_id: Annotated[Uuid, since(13)] = NO_UUID
    partitions: list[Int32] = []


class FetchRequest(Message, frozen=True):
    """Requests records from an offset on, as a consumer (``replica_id`` -1) or a follower.

    Response size limit since version 3 (KIP-74), isolation level since 4 (KIP-98), sessions since 7
    (KIP-227), leader epoch since 9 (KIP-320), rack since 11 (KIP-392), last fetched epoch since
    12 (KIP-595), topic ids since 13 (KIP-516).
    """

    cluster_id: Annotated[String | None, since(12), tag(0)] = None
    replica_id: Annotated[Int32, until(14)] = -1
    replica_state: Annotated[ReplicaState, since(15), tag(1)] = ReplicaState()
    max_wait_ms: Int32 = 0
    min_bytes: Int32 = 0
    max_bytes: Annotated[Int32, since(3)] = 2_147_483_647
    isolation_level: Annotated[Int8, since(4)] = 0
    session_id: Annotated[Int32, since(7)] = 0
    session_epoch: Annotated[Int32, since(7)] = -1
    topics: list[FetchTopic] = []
    forgotten_topics_data: Annotated[list[ForgottenTopic], since(7)] = []
    rack_id: Annotated[String, since(11)] = ""


class EpochEndOffset(Message, frozen=True):
    """The ``diverging_epoch`` of :class:`FetchResponse`."""

    epoch: Int32 = -1
    end_offset: Int64 = -1


class LeaderIdAndEpoch(Message, frozen=True):
    """The ``current_leader`` of :class:`FetchResponse`."""

    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class SnapshotId(Message, frozen=True):
    """The ``snapshot_id`` of :class:`FetchResponse`."""

    end_offset: Int64 = -1
    epoch: Int32 = -1


class AbortedTransaction(Message, frozen=True):
    producer_id: Int64 = 0
    first_offset: Int64 = 0


class PartitionData(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    high_watermark: Int64 = 0
    last_stable_offset: Annotated[Int64, since(4)] = -1
    log_start_offset: Annotated[Int64, since(5)] = -1
    diverging_epoch: Annotated[EpochEndOffset, since(12), tag(0)] = EpochEndOffset()
    current_leader: Annotated[LeaderIdAndEpoch, since(12), tag(1)] = LeaderIdAndEpoch()
    snapshot_id: Annotated[SnapshotId, since(12), tag(2)] = SnapshotId()
    aborted_transactions: Annotated[list[AbortedTransaction] | None, since(4)] = []
    preferred_read_replica: Annotated[Int32, since(11)] = -1
    records: Records | None = b""


class FetchableTopicResponse(Message, frozen=True):
    topic: Annotated[String, until(12)] = ""
    topic_id: Annotated[Uuid, since(13)] = NO_UUID
    partitions: list[PartitionData] = []


class NodeEndpoint(Message, frozen=True):
    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: String | None = None


class FetchResponse(Message, frozen=True):
    """Records or an error for each partition in the fetch or its session."""

    throttle_time_ms: Annotated[Int32, since(1)] = 0
    error_code: Annotated[Int16, since(7)] = 0
    session_id: Annotated[Int32, since(7)] = 0
    responses: list[FetchableTopicResponse] = []
    node_endpoints: Annotated[list[NodeEndpoint], since(16), tag(0)] = []


APIS: Final = (Api(1, FetchRequest, FetchResponse, 18, 12),)
