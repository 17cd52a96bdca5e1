"""Produce requests and responses."""

from emulator.protocol.message import Detail, Message
from emulator.protocol.record_batch import RecordBatch


class ProduceRequest(Message, frozen=True):
    """One batch for one partition; the leader assigns its offsets and leader epoch.

    ``size_bytes`` is the size compared with max.message.bytes. ``transactional_id`` is that of a
    transactional producer; with ``adds_partition`` its first batch adds the partition to the
    transaction (Produce 12, KIP-890). ``knows_abortable``: it knows TRANSACTION_ABORTABLE (Produce
    11). ``needs_min_isr`` unless it is a group coordinator's, which waits for replication alone; if
    it ``is_coordinators``, its sequence numbers mean nothing (``AppendOrigin.COORDINATOR``).
    A request that ``only_verifies`` the transaction appends nothing; ``is_verified``: it was done.
    ``malformed`` is the error of records that a request of its version may not have, ``invalid``
    that of records that no log takes.
    """

    tp: str
    batch: RecordBatch
    acks: int
    timeout_us: int
    size_bytes: int = 0
    transactional_id: str = ""
    adds_partition: bool = False
    knows_abortable: bool = False
    needs_min_isr: bool = True
    is_coordinators: bool = False
    only_verifies: bool = False
    is_verified: bool = False
    malformed: str = ""
    invalid: str = ""

    def detail(self) -> Detail:
        """First record id, count and acks; of an idempotent producer also id, epoch, sequence."""
        batch = self.batch
        row: list[str | int] = [self.tp, batch.first_record, batch.count, self.acks]
        if batch.producer_id >= 0:
            row += [batch.producer_id, batch.producer_epoch, batch.base_sequence]
        return [row]


class ProduceResponse(Message, frozen=True):
    """The result of a :class:`ProduceRequest`; ``log_start`` is -1 if the leader omits it.

    ``append_time_ms`` is the time that the leader gave the records, -1 if they keep theirs.
    ``keyless`` are the places in the batch of records that were refused because they have no key.
    """

    request: int
    tp: str
    error: str
    base_offset: int
    log_start: int = -1
    append_time_ms: int = -1
    keyless: tuple[int, ...] = ()

    def detail(self) -> Detail:
        return [[self.tp, self.error, self.base_offset]]
