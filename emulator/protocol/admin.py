"""Administrative requests: finding the controller, and requests it handles."""

from msgspec import Struct, field

from emulator.common.errors import NONE
from emulator.protocol.message import Detail, Message
from emulator.releases.config_descriptions import ConfigEntry


class DescribeClusterRequest(Message, frozen=True):
    """Requests the controller's id from any broker (before KIP-700, 2.8, a Metadata request)."""


class DescribeClusterResponse(Message, frozen=True):
    """The controller as known to the broker; -1 if unknown."""

    request: int
    controller: int


class ApiVersionsRequest(Message, frozen=True):
    """Requests the finalized features from any broker (KIP-35, KIP-584)."""


class ApiVersionsResponse(Message, frozen=True):
    """The finalized features by name, and the epoch of the metadata that they are from.

    ``epoch`` is the version of the znode /feature or the last offset of the metadata, and -1 if
    there is neither.
    """

    request: int
    features: dict[str, int] = field(default_factory=dict)
    epoch: int = -1


class DescribeLogDirsRequest(Message, frozen=True):
    """Requests the logs on a broker's disk (KIP-113); None means all of them."""

    partitions: list[str] | None


class DescribeLogDirsResponse(Message, frozen=True):
    """The size in bytes and the offset lag of each log.

    The lag is that of the log end offset behind the high watermark, and -1 if the broker does not
    replicate the partition.
    """

    request: int
    logs: dict[str, tuple[int, int]]
    error: str = NONE


class AlterReplicaLogDirsRequest(Message, frozen=True):
    """Requests that a broker move its replicas to a log directory (KIP-113)."""

    partitions: list[str]
    path: str


class AlterReplicaLogDirsResponse(Message, frozen=True):
    """The result for each partition."""

    request: int
    errors: dict[str, str]


class ElectLeadersRequest(Message, frozen=True):
    """Requests elections, of preferred leaders unless ``unclean`` (KIP-460, 2.4+).

    An empty list of partitions means all of them.
    """

    partitions: list[str]
    unclean: bool = True


class AlterPartitionReassignmentsRequest(Message, frozen=True):
    """Requests the reassignment of partitions (KIP-455, 2.4+); None cancels it.

    ``allow_replication_factor_change`` is False if no partition may get another number of replicas
    (KIP-860, 4.1+).
    """

    partitions: dict[str, list[int] | None]
    allow_replication_factor_change: bool = True


class AdminResponse(Message, frozen=True):
    """The controller's response: a top-level error, or one for each partition.

    ``messages`` explain some of the errors in a sentence.
    """

    request: int
    error: str
    errors: dict[str, str]
    messages: dict[str, str] = field(default_factory=dict)


class ElectLeadersResponse(AdminResponse, frozen=True):
    """The response to an :class:`ElectLeadersRequest`."""


class AlterPartitionReassignmentsResponse(AdminResponse, frozen=True):
    """The response to an :class:`AlterPartitionReassignmentsRequest`."""


class NewTopic(Struct, frozen=True, array_like=True, gc=False):
    """A topic to create: by numbers (-1: the broker's defaults), or by replica lists."""

    partitions: int
    replication_factor: int
    assignment: dict[int, list[int]] = field(default_factory=dict)
    config: dict[str, str] = field(default_factory=dict)


class CreateTopicsRequest(Message, frozen=True):
    """Requests the creation of topics; completed when their leaders are known (KIP-4)."""

    topics: dict[str, NewTopic]
    timeout_us: int
    validate_only: bool = False


class CreatePartitionsRequest(Message, frozen=True):
    """Requests additional partitions for topics (KIP-195).

    ``topics`` maps each topic to its new partition count, and to the replicas of the new partitions
    (None: chosen by the broker).
    """

    topics: dict[str, tuple[int, list[list[int]] | None]]
    timeout_us: int
    validate_only: bool = False


class DeleteTopicsRequest(Message, frozen=True):
    """Requests the deletion of topics; completed when they are deleted (KIP-4)."""

    topics: list[str]
    timeout_us: int


class TopicCreated(Struct, frozen=True, array_like=True):
    """What a topic was created with (KIP-525); ``topic_id`` is empty in releases without ids.

    ``entries`` are added by the broker that responds to the client; with ``config_error`` it may
    not know them.
    """

    topic_id: str
    partitions: int
    replication_factor: int
    entries: list[ConfigEntry] = field(default_factory=list)
    config_error: str = NONE


class TopicsResponse(Message, frozen=True):
    """The response to a request about topics: an error and a message for each.

    ``created`` describes the topics that were created, or would have been.
    """

    request: int
    errors: dict[str, str]
    messages: dict[str, str] = field(default_factory=dict)
    created: dict[str, TopicCreated] = field(default_factory=dict)


class DescribeConfigsRequest(Message, frozen=True):
    """Requests what is configured of a topic, a group, a subscription to metrics, or ``broker``.

    The broker '' stands for all brokers' defaults. A broker describes itself and the defaults, and
    no other broker.
    """

    topic: str | None
    broker: str = ""
    group: str | None = None
    subscription: str | None = None


class DescribeConfigsResponse(Message, frozen=True):
    """The configuration that was requested; ``entries`` is empty if ``error`` is not NONE."""

    request: int
    error: str
    entries: list[ConfigEntry] = field(default_factory=list)
    message: str = ""


class AlterConfigsRequest(Message, frozen=True):
    """Sets configuration values of topics (an empty value removes one; KIP-339).

    ``replaces``: values not included are removed (KIP-133). ``appended`` and ``subtracted`` have
    elements of lists, separated by commas, by topic and name.
    """

    topics: dict[str, dict[str, str]]
    validate_only: bool = False
    replaces: bool = False
    appended: dict[str, dict[str, str]] = field(default_factory=dict)
    subtracted: dict[str, dict[str, str]] = field(default_factory=dict)


class ListPartitionReassignmentsRequest(Message, frozen=True):
    """Requests the ongoing reassignments (KIP-455)."""


class ListPartitionReassignmentsResponse(Message, frozen=True):
    """The original and the target replicas of each partition being reassigned."""

    request: int
    error: str
    moves: dict[str, tuple[list[int], list[int]]]


class DeleteRecordsRequest(Message, frozen=True):
    """Requests the deletion of records before an offset in each partition (KIP-107).

    -1 means the high watermark. The followers have ``timeout_us`` to delete them as well.
    """

    offsets: dict[str, int]
    timeout_us: int = 0

    def detail(self) -> Detail:
        return [[tp, offset] for tp, offset in self.offsets.items()]


class DeleteRecordsResponse(Message, frozen=True):
    """For each partition an error and the low watermark (-1 with an error).

    That is the lowest log start of its live replicas.
    """

    request: int
    results: dict[str, tuple[str, int]]

    def detail(self) -> Detail:
        """Error and log start offset of each partition."""
        return [[tp, *result] for tp, result in self.results.items()]
