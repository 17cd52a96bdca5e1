"""What producers and consumers ask."""

from emulator.messages.base import Detail, Message
from emulator.messages.replication import RecordBatch


class ProduceRequest(Message, frozen=True):
    """One batch for one partition; its offsets and epoch are the leader's to fill in."""

    tp: str
    batch: RecordBatch
    acks: int
    timeout_us: int

    def detail(self) -> Detail:
        """First record id, count and acks."""
        return [[self.tp, self.batch.first_record, self.batch.count, self.acks]]


class ProduceResponse(Message, frozen=True):
    """How a :class:`ProduceRequest` ended."""

    request: int
    tp: str
    error: str
    base_offset: int

    def detail(self) -> Detail:
        """Error and base offset."""
        return [[self.tp, self.error, self.base_offset]]


class MetadataRequest(Message, frozen=True):
    """Asks a broker what it knows of a topic."""

    topic: str


class MetadataResponse(Message, frozen=True):
    """The broker's view: leader by partition number, -1 if none is known, or an error."""

    request: int
    topic: str
    error: str
    leaders: dict[int, int]
