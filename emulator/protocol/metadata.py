"""What clients ask brokers of a topic."""

from msgspec import Struct, field

from emulator.protocol.message import Message


class MetadataRequest(Message, frozen=True):
    """Asks a broker what it knows of a topic."""

    topic: str


class PartitionMetadata(Struct, frozen=True, array_like=True, gc=False):
    """What a broker knows of a partition; without a live leader that is an error.

    ``leader_epoch`` is -1 where the release does not tell it (before 2.1, KIP-320).
    """

    error: str
    leader: int = -1
    leader_epoch: int = -1


class MetadataResponse(Message, frozen=True):
    """The broker's view of a topic: an error, or what it knows of each of its partitions."""

    request: int
    topic: str
    error: str
    partitions: dict[int, PartitionMetadata]

    def leader_of(self, partition: int) -> int:
        """The leader of a partition; -1: none is known."""
        found = self.partitions.get(partition)
        return -1 if found is None else found.leader


class ClusterMetadataRequest(Message, frozen=True):
    """Asks a broker for the brokers that it knows, the controller, and topics (None: all).

    ``creates``: topics that do not exist may be made (auto.create.topics.enable).
    """

    topics: list[str] | None
    creates: bool = False


class PartitionDescription(Struct, frozen=True, array_like=True, gc=False):
    """A partition as a broker describes it: as :class:`PartitionMetadata`, and its replicas.

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
    """A topic as a broker describes it; the id is empty before 2.8 (KIP-516)."""

    error: str
    topic_id: str = ""
    partitions: dict[int, PartitionDescription] = field(default_factory=dict)


class ClusterMetadataResponse(Message, frozen=True):
    """The live brokers and the controller (-1: none is known), and the topics asked for."""

    request: int
    brokers: list[int]
    controller: int
    cluster_id: str
    topics: dict[str, TopicDescription]
