"""What clients ask brokers of a topic."""

from msgspec import Struct

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
