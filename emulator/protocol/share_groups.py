"""Messages of share groups (KIP-932): members, records, and the state of share-partitions."""

from msgspec import Struct, field

from emulator.common.names import as_sent
from emulator.protocol.consumer_groups import (
    ConsumerGroupHeartbeatResponse,
    GroupHeartbeatRequest,
    GroupHeartbeatResponse,
    GroupsDescribeRequest,
    GroupsDescribeResponse,
)
from emulator.protocol.message import Detail, Message
from emulator.protocol.record_batch import RecordBatch

# ---- membership


class ShareGroupHeartbeatRequest(GroupHeartbeatRequest, frozen=True):
    """A member of a share group joins, stays, or leaves."""


class ShareGroupHeartbeatResponse(GroupHeartbeatResponse, frozen=True):
    """The response to a member of a share group."""


EpochResponse = ConsumerGroupHeartbeatResponse | ShareGroupHeartbeatResponse
"""What a member of a group of either type is told."""


class ShareGroupDescribeRequest(GroupsDescribeRequest, frozen=True):
    """Requests share groups."""


class ShareGroupDescribeResponse(GroupsDescribeResponse, frozen=True):
    """The requested share groups; their members have neither instances nor target assignments."""


# ---- records


class Acknowledgement(Struct, frozen=True, array_like=True, gc=False):
    """Offsets, both inclusive, and one type for all of them or one for each.

    The types are 0 (a gap), 1 (accept), 2 (release), 3 (reject) and 4 (renew).
    """

    first: int
    last: int
    types: list[int]


class AcquiredRange(Struct, frozen=True, array_like=True, gc=False):
    """Offsets that were acquired together, both inclusive, and how often they were delivered."""

    first: int
    last: int
    deliveries: int


class ShareFetchRequest(Message, frozen=True):
    """Acquires records in a share session, and acknowledges earlier ones.

    ``session_epoch`` is 0 for a new session and -1 for its end. ``partitions`` join the session,
    ``forgotten`` ones leave it. ``strict``: no more than ``max_records`` are acquired, otherwise
    whole batches of the log. ``renews``: locks are renewed, and nothing is fetched. The session
    ends with the ``connection``. ``limits`` are how many bytes are read of each partition at most;
    members of 4.0 set them.
    """

    group: str
    member_id: str
    session_epoch: int
    max_wait_us: int
    min_bytes: int
    max_bytes: int
    max_records: int
    batch_size: int
    partitions: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    acknowledged: dict[str, list[Acknowledgement]] = field(default_factory=dict)
    strict: bool = False
    renews: bool = False
    client: str = ""
    version: int = 1
    connection: str = ""
    limits: dict[str, int] = field(default_factory=dict)

    def detail(self) -> Detail:
        """The group, the session's epoch, and how many acknowledgements each partition has."""
        rows: Detail = [[f"group.{self.group}", self.session_epoch]]
        for tp, batches in self.acknowledged.items():
            rows.append([tp, len(batches)])
        return rows


class ConnectionClosed(Message, frozen=True):
    """A client's connection to a broker is closed."""

    connection: str


class SharedPartition(Struct, frozen=True, array_like=True, gc=False):
    """A share fetch's result for one partition.

    ``batches`` are those of the log that have ``acquired`` records; ``leader`` and
    ``leader_epoch`` are told where another broker leads the partition.
    """

    error: str
    message: str = ""
    acknowledge_error: str = "NONE"
    acknowledge_message: str = ""
    batches: list[RecordBatch] = field(default_factory=list)
    acquired: list[AcquiredRange] = field(default_factory=list)
    leader: int = 0
    leader_epoch: int = 0


class ShareFetchResponse(Message, frozen=True):
    """The records acquired from each partition, and for how long (``lock_ms``)."""

    request: int
    group: str
    error: str
    message: str = ""
    lock_ms: int = 0
    partitions: dict[str, SharedPartition] = field(default_factory=dict)

    def detail(self) -> Detail:
        """First and last offset acquired of each partition, or its error."""
        rows: Detail = []
        for tp, partition in self.partitions.items():
            first = partition.acquired[0].first if partition.acquired else -1
            last = partition.acquired[-1].last if partition.acquired else -1
            errors = [] if partition.error == "NONE" else [partition.error]
            rows.append([tp, first, last, *errors])
        return rows


class ShareAcknowledgeRequest(Message, frozen=True):
    """Acknowledges records in a share session without fetching more."""

    group: str
    member_id: str
    session_epoch: int
    acknowledged: dict[str, list[Acknowledgement]] = field(default_factory=dict)
    renews: bool = False
    client: str = ""
    version: int = 1
    connection: str = ""

    def detail(self) -> Detail:
        """The group, the session's epoch, and how many acknowledgements each partition has."""
        rows: Detail = [[f"group.{self.group}", self.session_epoch]]
        for tp, batches in self.acknowledged.items():
            rows.append([tp, len(batches)])
        return rows


class ShareAcknowledgeResponse(Message, frozen=True):
    """The outcome for each partition."""

    request: int
    group: str
    error: str
    message: str = ""
    lock_ms: int = 0
    partitions: dict[str, SharedPartition] = field(default_factory=dict)

    def detail(self) -> Detail:
        return [[tp, partition.error] for tp, partition in self.partitions.items()]


# ---- the state of share-partitions


class StateBatch(Struct, frozen=True, array_like=True, gc=False):
    """The state of offsets, both inclusive.

    It is 0 (available), 2 (acknowledged), 3 (archiving: on the way to a dead-letter queue) or 4
    (archived).
    """

    first: int
    last: int
    state: int
    deliveries: int


class SharePartitionKey(Struct, frozen=True, array_like=True, gc=False):
    """A partition in a share group."""

    group: str
    topic_id: str
    partition: int

    def __str__(self) -> str:
        """The key by which the share coordinator is found."""
        return f"{self.group}:{as_sent(self.topic_id)}:{self.partition}"


class InitializeShareGroupStateRequest(Message, frozen=True):
    """A group coordinator begins with a share-partition: ``start`` -1 leaves it to the leader."""

    key: SharePartitionKey
    state_epoch: int
    start: int = -1


class ReadShareGroupStateRequest(Message, frozen=True):
    """A partition's leader reads the state of a share-partition."""

    key: SharePartitionKey
    leader_epoch: int


class WriteShareGroupStateRequest(Message, frozen=True):
    """A partition's leader stores changes of a share-partition; ``start`` is its SPSO."""

    key: SharePartitionKey
    state_epoch: int
    leader_epoch: int
    start: int
    batches: list[StateBatch] = field(default_factory=list)
    completed: int = -1


class DeleteShareGroupStateRequest(Message, frozen=True):
    """A group coordinator deletes the state of a share-partition."""

    key: SharePartitionKey


class ReadShareGroupStateSummaryRequest(Message, frozen=True):
    """A group coordinator asks how far a share-partition is."""

    key: SharePartitionKey


class ShareGroupStateResponse(Message, frozen=True):
    """A share coordinator's response to each of these requests.

    What was not asked for has its default. ``start`` -1: the share-partition was not begun.
    """

    request: int
    key: SharePartitionKey
    error: str
    message: str = ""
    state_epoch: int = 0
    start: int = -1
    leader_epoch: int = 0
    batches: list[StateBatch] = field(default_factory=list)
    completed: int = -1


# ---- offsets


class ShareOffset(Struct, frozen=True, array_like=True, gc=False):
    """How far a share group is in a partition; ``lag`` -1: unknown."""

    error: str
    start: int = -1
    leader_epoch: int = 0
    lag: int = -1
    message: str = ""


class DescribeShareGroupOffsetsRequest(Message, frozen=True):
    """Requests the start offsets of share groups; None: those of all partitions with state."""

    groups: dict[str, list[str] | None]


class DescribeShareGroupOffsetsResponse(Message, frozen=True):
    """The error of each group, and what is known of its partitions."""

    request: int
    errors: dict[str, str]
    offsets: dict[str, dict[str, ShareOffset]] = field(default_factory=dict)


class AlterShareGroupOffsetsRequest(Message, frozen=True):
    """Sets the start offsets of a share group without members."""

    group: str
    offsets: dict[str, int]


class DeleteShareGroupOffsetsRequest(Message, frozen=True):
    """Deletes the state of topics in a share group without members."""

    group: str
    topics: list[str]


class ShareGroupOffsetsResponse(Message, frozen=True):
    """The outcome for a group, and for each of its partitions or topics, with messages."""

    request: int
    group: str
    error: str
    message: str = ""
    errors: dict[str, tuple[str, str]] = field(default_factory=dict)
