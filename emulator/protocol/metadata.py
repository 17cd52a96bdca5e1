"""Metadata requests of clients."""

from msgspec import Struct, field

from emulator.protocol.message import Message


class MetadataRequest(Message, frozen=True):
    """Requests a broker's metadata of a topic."""

    topic: str


class PartitionMetadata(Struct, frozen=True, array_like=True, gc=False):
    """A broker's metadata of a partition; a partition without a live leader has an error.

    ``leader_epoch`` is -1 if the release does not send it (before 2.1, KIP-320).
    """

    error: str
    leader: int = -1
    leader_epoch: int = -1


class MetadataResponse(Message, frozen=True):
    """The broker's metadata of a topic: an error, or its partitions."""

    request: int
    topic: str
    error: str
    partitions: dict[int, PartitionMetadata]

    def leader_of(self, partition: int) -> int:
        """The leader of a partition; -1 if unknown."""
        metadata = self.partitions.get(partition)
        return -1 if metadata is None else metadata.leader


class ClusterMetadataRequest(Message, frozen=True):
    """Requests the brokers, the controller and topics (None: all) known to a broker.

    ``creates``: missing topics may be created (auto.create.topics.enable).
    """

    topics: list[str] | None
    creates: bool = False


class PartitionDescription(Struct, frozen=True, array_like=True, gc=False):
    """A partition as described by a broker: :class:`PartitionMetadata` with its replicas.

    ``elr`` and ``last_known_elr`` are KRaft's eligible leaders outside the ISR (KIP-966).
    """

    error: str
    leader: int
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    elr: list[int] = field(default_factory=list)
    last_known_elr: list[int] = field(default_factory=list)


class TopicDescription(Struct, frozen=True, array_like=True, gc=False):
    """A topic as described by a broker; the id is empty before 2.8 (KIP-516)."""

    error: str
    topic_id: str = ""
    partitions: dict[int, PartitionDescription] = field(default_factory=dict)


class ClusterMetadataResponse(Message, frozen=True):
    """The live brokers, the controller (-1 if unknown), and the requested topics.

    ``fenced`` are the brokers that are registered and fenced, in KRaft mode.
    """

    request: int
    brokers: list[int]
    controller: int
    cluster_id: str
    topics: dict[str, TopicDescription]
    fenced: tuple[int, ...] = ()
