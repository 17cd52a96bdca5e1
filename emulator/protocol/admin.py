"""What administrators ask of brokers: who is controller, and work that only the controller does."""

from msgspec import Struct, field

from emulator.protocol.message import Detail, Message


class DescribeClusterRequest(Message, frozen=True):
    """Asks any broker which one is the controller (before KIP-700, 2.8, a Metadata request)."""


class DescribeClusterResponse(Message, frozen=True):
    """The controller as the broker knows it; -1: it knows of none."""

    request: int
    controller: int


class ElectLeadersRequest(Message, frozen=True):
    """Asks the controller for elections, of preferred replicas unless ``unclean`` (KIP-460, 2.4+).

    Without partitions it is about all of them.
    """

    partitions: list[str]
    unclean: bool = True


class AlterPartitionReassignmentsRequest(Message, frozen=True):
    """Asks the controller to move partitions (KIP-455, 2.4+); None takes a move back."""

    partitions: dict[str, list[int] | None]


class AdminResponse(Message, frozen=True):
    """The controller's answer: an error for the whole, or one for each partition."""

    request: int
    error: str
    errors: dict[str, str]


class ElectLeadersResponse(AdminResponse, frozen=True):
    """The answer to an :class:`ElectLeadersRequest`."""


class AlterPartitionReassignmentsResponse(AdminResponse, frozen=True):
    """The answer to an :class:`AlterPartitionReassignmentsRequest`."""


class NewTopic(Struct, frozen=True, array_like=True, gc=False):
    """A topic to be made: by numbers (-1: the broker's defaults), or by lists of replicas."""

    partitions: int
    replication_factor: int
    assignment: dict[int, list[int]] = field(default_factory=dict)
    config: dict[str, str] = field(default_factory=dict)


class CreateTopicsRequest(Message, frozen=True):
    """Asks the controller to make topics, and to answer when their leaders are known (KIP-4)."""

    topics: dict[str, NewTopic]
    timeout_us: int
    validate_only: bool = False


class CreatePartitionsRequest(Message, frozen=True):
    """Asks the controller to let topics have more partitions (KIP-195).

    ``topics`` maps each to the number of partitions in all, and to the replicas of the new ones
    (none: the broker chooses).
    """

    topics: dict[str, tuple[int, list[list[int]]]]
    timeout_us: int
    validate_only: bool = False


class DeleteTopicsRequest(Message, frozen=True):
    """Asks the controller to delete topics, and to answer when they are gone (KIP-4)."""

    topics: list[str]
    timeout_us: int


class TopicsResponse(Message, frozen=True):
    """The answer to a request about topics: an error of each, and what is to be said of it."""

    request: int
    errors: dict[str, str]
    messages: dict[str, str] = field(default_factory=dict)


class DescribeConfigsRequest(Message, frozen=True):
    """Asks a broker for configuration: of topics, and (by an empty ``topics``) its own."""

    topics: list[str]


class DescribeConfigsResponse(Message, frozen=True):
    """What each topic's values are, and which of them are its own; the broker's stand under ''."""

    request: int
    values: dict[str, dict[str, str]]
    own: dict[str, dict[str, str]]


class AlterConfigsRequest(Message, frozen=True):
    """Sets values of topics' configuration (an empty one removes; KIP-339).

    ``replaces``: values that are not among them are removed (KIP-133).
    """

    topics: dict[str, dict[str, str]]
    validate_only: bool = False
    replaces: bool = False


class ListPartitionReassignmentsRequest(Message, frozen=True):
    """Asks the controller for the moves under way (KIP-455)."""


class ListPartitionReassignmentsResponse(Message, frozen=True):
    """Of each partition that moves the replicas there were, and those there shall be."""

    request: int
    error: str
    moves: dict[str, tuple[list[int], list[int]]]


class DeleteRecordsRequest(Message, frozen=True):
    """Asks the leader of each partition to delete what lies before an offset (KIP-107).

    -1: everything that is committed.
    """

    offsets: dict[str, int]

    def detail(self) -> Detail:
        """The offset of each partition."""
        return [[tp, offset] for tp, offset in self.offsets.items()]


class DeleteRecordsResponse(Message, frozen=True):
    """For each partition its error, and the first offset that is left (-1 with an error)."""

    request: int
    results: dict[str, tuple[str, int]]

    def detail(self) -> Detail:
        """Error and first offset of each partition."""
        return [[tp, *result] for tp, result in self.results.items()]
