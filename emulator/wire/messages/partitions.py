"""Leaders and replicas of partitions."""

from typing import Annotated, Final

from emulator.wire.types import Api, Bool, Int8, Int16, Int32, Message, String, since


class TopicPartitions(Message, frozen=True):
    topic: String = ""
    partitions: list[Int32] = []


class ElectLeadersRequest(Message, frozen=True):
    """Elects preferred leaders, or unclean ones since version 1 (KIP-183, KIP-460)."""

    election_type: Annotated[Int8, since(1)] = 0
    topic_partitions: list[TopicPartitions] | None = []
    timeout_ms: Int32 = 60000


class PartitionResult(Message, frozen=True):
    partition_id: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""


class ReplicaElectionResult(Message, frozen=True):
    topic: String = ""
    partition_result: list[PartitionResult] = []


class ElectLeadersResponse(Message, frozen=True):
    """The result for each partition."""

    throttle_time_ms: Int32 = 0
    error_code: Annotated[Int16, since(1)] = 0
    replica_election_results: list[ReplicaElectionResult] = []


class ReassignablePartition(Message, frozen=True):
    partition_index: Int32 = 0
    replicas: list[Int32] | None = None


class ReassignableTopic(Message, frozen=True):
    name: String = ""
    partitions: list[ReassignablePartition] = []


class AlterPartitionReassignmentsRequest(Message, frozen=True):
    """Reassigns replicas; null replicas cancel a reassignment (KIP-455)."""

    timeout_ms: Int32 = 60000
    allow_replication_factor_change: Annotated[Bool, since(1)] = True
    topics: list[ReassignableTopic] = []


class ReassignablePartitionResponse(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""


class ReassignableTopicResponse(Message, frozen=True):
    name: String = ""
    partitions: list[ReassignablePartitionResponse] = []


class AlterPartitionReassignmentsResponse(Message, frozen=True):
    """The result for each partition."""

    throttle_time_ms: Int32 = 0
    allow_replication_factor_change: Annotated[Bool, since(1)] = True
    error_code: Int16 = 0
    error_message: String | None = ""
    responses: list[ReassignableTopicResponse] = []


class ListPartitionReassignmentsTopics(Message, frozen=True):
    name: String = ""
    partition_indexes: list[Int32] = []


class ListPartitionReassignmentsRequest(Message, frozen=True):
    """Requests ongoing reassignments (KIP-455); null means all."""

    timeout_ms: Int32 = 60000
    topics: list[ListPartitionReassignmentsTopics] | None = None


class OngoingPartitionReassignment(Message, frozen=True):
    partition_index: Int32 = 0
    replicas: list[Int32] = []
    adding_replicas: list[Int32] = []
    removing_replicas: list[Int32] = []


class OngoingTopicReassignment(Message, frozen=True):
    name: String = ""
    partitions: list[OngoingPartitionReassignment] = []


class ListPartitionReassignmentsResponse(Message, frozen=True):
    """The ongoing reassignments."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""
    topics: list[OngoingTopicReassignment] = []


APIS: Final = (
    Api(43, ElectLeadersRequest, ElectLeadersResponse, 2, 2),
    Api(45, AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, 1, 0),
    Api(46, ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, 0, 0),
)
