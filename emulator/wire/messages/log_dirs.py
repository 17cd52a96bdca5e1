"""Log directories: what they contain, and moving replicas between them (KIP-113)."""

from typing import Annotated, Final

from emulator.wire.types import Api, Bool, Int16, Int32, Int64, Message, String, since


class DescribableLogDirTopic(Message, frozen=True):
    topic: String = ""
    partitions: list[Int32] = []


class DescribeLogDirsRequest(Message, frozen=True):
    """Requests the logs of partitions on a broker; null means all of them."""

    topics: list[DescribableLogDirTopic] | None = []


class DescribeLogDirsPartition(Message, frozen=True):
    partition_index: Int32 = 0
    partition_size: Int64 = 0
    offset_lag: Int64 = 0
    is_future_key: Bool = False


class DescribeLogDirsTopic(Message, frozen=True):
    name: String = ""
    partitions: list[DescribeLogDirsPartition] = []


class DescribeLogDirsResult(Message, frozen=True):
    error_code: Int16 = 0
    log_dir: String = ""
    topics: list[DescribeLogDirsTopic] = []
    total_bytes: Annotated[Int64, since(4)] = -1
    usable_bytes: Annotated[Int64, since(4)] = -1
    is_cordoned: Annotated[Bool, since(5)] = False


class DescribeLogDirsResponse(Message, frozen=True):
    """The logs in each log directory, with their sizes in bytes."""

    throttle_time_ms: Int32 = 0
    error_code: Annotated[Int16, since(3)] = 0
    results: list[DescribeLogDirsResult] = []


class AlterReplicaLogDirTopic(Message, frozen=True):
    name: String = ""
    partitions: list[Int32] = []


class AlterReplicaLogDir(Message, frozen=True):
    path: String = ""
    topics: list[AlterReplicaLogDirTopic] = []


class AlterReplicaLogDirsRequest(Message, frozen=True):
    """Moves a broker's replicas to other log directories."""

    dirs: list[AlterReplicaLogDir] = []


class AlterReplicaLogDirPartitionResult(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class AlterReplicaLogDirTopicResult(Message, frozen=True):
    topic_name: String = ""
    partitions: list[AlterReplicaLogDirPartitionResult] = []


class AlterReplicaLogDirsResponse(Message, frozen=True):
    """The result for each partition."""

    throttle_time_ms: Int32 = 0
    results: list[AlterReplicaLogDirTopicResult] = []


APIS: Final = (
    Api(34, AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse, 2, 2),
    Api(35, DescribeLogDirsRequest, DescribeLogDirsResponse, 5, 2),
)
