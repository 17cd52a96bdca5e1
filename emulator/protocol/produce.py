"""What producers ask."""

from emulator.protocol.message import Detail, Message
from emulator.protocol.record_batch import RecordBatch


class ProduceRequest(Message, frozen=True):
    """One batch for one partition; its offsets and epoch are the leader's to fill in.

    ``size_bytes`` is what counts against max.message.bytes. ``transactional_id`` is that of a
    transactional producer; with ``adds_partition`` its first batch adds the partition to the
    transaction (Produce 12, KIP-890).
    """

    tp: str
    batch: RecordBatch
    acks: int
    timeout_us: int
    size_bytes: int = 0
    transactional_id: str = ""
    adds_partition: bool = False

    def detail(self) -> Detail:
        """First record id, count and acks; of an idempotent producer also id, epoch, sequence."""
        batch = self.batch
        row: list[str | int] = [self.tp, batch.first_record, batch.count, self.acks]
        if batch.producer_id >= 0:
            row += [batch.producer_id, batch.producer_epoch, batch.base_sequence]
        return [row]


class ProduceResponse(Message, frozen=True):
    """How a :class:`ProduceRequest` ended; ``log_start`` is -1 if the leader does not say it."""

    request: int
    tp: str
    error: str
    base_offset: int
    log_start: int = -1

    def detail(self) -> Detail:
        """Error and base offset."""
        return [[self.tp, self.error, self.base_offset]]
