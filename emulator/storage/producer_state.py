"""A partition's state of idempotent producers, used to detect duplicate batches.

Sequence numbers count a producer's records in one partition from 0. Followers maintain the same
table from the batches they replicate, so it survives a change of leader if the batches did. Source:
``kafka.log.ProducerStateManager`` 0.11 to 3.9 (KIP-98).
"""

from typing import Final

from msgspec import Struct, field

from emulator.common.errors import NONE
from emulator.protocol import RecordBatch
from emulator.protocol.record_batch import PLAIN
from emulator.releases.profiles import Profile
from emulator.storage.log import Log
from emulator.storage.transaction_index import TransactionIndex

SEQUENCE_MAX: Final = 2_147_483_647
"""The largest sequence number; the next one is 0."""
REMEMBERED_BATCHES: Final = 5
"""How many batches are cached per producer; 0.11 uses only the last of them."""

OUT_OF_ORDER: Final = "OUT_OF_ORDER_SEQUENCE_NUMBER"
UNKNOWN_PRODUCER: Final = "UNKNOWN_PRODUCER_ID"
INVALID_TXN_STATE: Final = "INVALID_TXN_STATE"
OLD_EPOCH: Final = "INVALID_PRODUCER_EPOCH"


class RememberedBatch(Struct, frozen=True, array_like=True, gc=False):
    """The sequence numbers and offsets of an appended batch."""

    first_sequence: int
    last_sequence: int
    base_offset: int

    @property
    def end_offset(self) -> int:
        """The offset after its last record."""
        count = (self.last_sequence - self.first_sequence) % (SEQUENCE_MAX + 1) + 1
        return self.base_offset + count


class ProducerState(Struct, array_like=True, gc=False):
    """One producer's current epoch and its latest batches in that epoch, oldest first.

    ``marker`` is the record id of its last transaction's end marker; -1 if there is none.
    """

    epoch: int
    batches: list[RememberedBatch] = field(default_factory=list)
    marker: int = -1


class ProducerStates(Struct, array_like=True, gc=False):
    """All producers of one replica by producer id, and their transactions."""

    producers: dict[int, ProducerState] = field(default_factory=dict)
    transactions: TransactionIndex = field(default_factory=TransactionIndex)

    def check(self, profile: Profile, batch: RecordBatch) -> tuple[str, int] | None:
        """Validate a batch that an idempotent producer sent to the leader.

        Return None if it is to be appended, ``NONE`` and the original's offset if it duplicates a
        cached batch, or the error and -1.
        """
        state = self.producers.get(batch.producer_id)
        if state is None:
            return self._check_unknown(profile, batch)
        if batch.producer_epoch < state.epoch:
            return OLD_EPOCH, -1
        expected = 0  # a new epoch starts again (ProducerAppendInfo.checkSequence)
        if batch.producer_epoch == state.epoch and state.batches:
            last = advance(batch.base_sequence, batch.count - 1)
            window = REMEMBERED_BATCHES if profile.has("producer_state_keeps_five_batches") else 1
            for earlier in state.batches[-window:]:
                if earlier.first_sequence == batch.base_sequence and earlier.last_sequence == last:
                    return NONE, earlier.base_offset
            expected = advance(state.batches[-1].last_sequence, 1)
        if batch.base_sequence != expected:
            return OUT_OF_ORDER, -1
        # Checked last, as in ProducerAppendInfo.appendDataBatch: a batch that is sent again is a
        # duplicate, even if its producer has begun a transaction since.
        if batch.kind == PLAIN and batch.producer_id in self.transactions.ongoing:
            return INVALID_TXN_STATE, -1
        return None

    def check_epoch(self, batch: RecordBatch) -> str:
        """Validate a coordinator's batch, which has no sequence: older epochs are rejected."""
        state = self.producers.get(batch.producer_id)
        return OLD_EPOCH if state is not None and batch.producer_epoch < state.epoch else NONE

    def append(self, batch: RecordBatch) -> None:
        """Record a batch that was appended, on a leader or a follower."""
        state = self.producers.get(batch.producer_id)
        if state is None or state.epoch != batch.producer_epoch:
            marker = -1 if state is None else state.marker
            state = ProducerState(batch.producer_epoch, marker=marker)
            self.producers[batch.producer_id] = state
        self.transactions.append(batch)
        if batch.is_control:
            state.marker = batch.first_record
        elif batch.base_sequence >= 0:
            self._remember(batch)

    def _remember(self, batch: RecordBatch) -> None:
        state = self.producers.get(batch.producer_id)
        if state is None:
            state = self.producers[batch.producer_id] = ProducerState(batch.producer_epoch)
        last = advance(batch.base_sequence, batch.count - 1)
        state.batches.append(RememberedBatch(batch.base_sequence, last, batch.base_offset))
        if len(state.batches) > REMEMBERED_BATCHES:
            del state.batches[0]

    def truncate(self, log: Log) -> None:
        """Remove the batches that a truncated log no longer contains.

        A producer that loses cached batches gets older ones back, as far as the log has any. The
        search starts at the log's end, so the cost depends on what was removed and not on the
        length of the log (Kafka reads its latest producer snapshot for the same reason).
        """
        if self.transactions.end > log.end:
            # A transaction that ended in what was removed is ongoing again, and where it began may
            # be anywhere in the log.
            self.rebuild(log)
            return
        expired = {
            producer_id: state.epoch
            for producer_id, state in self.producers.items()
            if state.batches and state.batches[-1].end_offset > log.end
        }
        by_producer: dict[int, list[RecordBatch]] = {producer_id: [] for producer_id in expired}
        at = len(log.batches)
        while expired and at:
            at -= 1
            batch = log.batches[at]
            batches = by_producer.get(batch.producer_id)
            if batches is None or batch.producer_id not in expired or batch.is_control:
                continue
            if batches and batches[0].producer_epoch != batch.producer_epoch:
                del expired[batch.producer_id]  # older epochs do not count
                continue
            batches.append(batch)
            if len(batches) == REMEMBERED_BATCHES or self._was_first(batch):
                del expired[batch.producer_id]
        for producer_id, batches in by_producer.items():
            marker = self.producers.pop(producer_id).marker
            for batch in reversed(batches):
                self._remember(batch)
            if batches:
                self.producers[producer_id].marker = marker

    def _was_first(self, batch: RecordBatch) -> bool:
        """Whether a batch is the first of its producer and epoch, as far as is known.

        If the cache is not full, it contains all batches there ever were.
        """
        state = self.producers[batch.producer_id]
        return (
            state.epoch == batch.producer_epoch
            and len(state.batches) < REMEMBERED_BATCHES
            and state.batches[0].base_offset == batch.base_offset
        )

    def rebuild(self, log: Log) -> None:
        """Rebuild the table from a log, as after loading it."""
        self.producers, self.transactions = {}, TransactionIndex()
        for batch in log.batches:
            if batch.producer_id >= 0:
                self.append(batch)

    def _check_unknown(self, profile: Profile, batch: RecordBatch) -> tuple[str, int] | None:
        """Validate the first batch of an unknown producer."""
        if batch.base_sequence == 0 or profile.has("unknown_producer_id_accepted"):
            return None
        refused = UNKNOWN_PRODUCER if profile.has("unknown_producer_id_error") else OUT_OF_ORDER
        return refused, -1


NO_PRODUCERS: Final = ProducerStates()
"""The shared, immutable table of every log without such producers, which most logs are."""


def advance(sequence: int, by: int) -> int:
    """Return the sequence number ``by`` positions on, wrapping after :data:`SEQUENCE_MAX`."""
    return (sequence + by) % (SEQUENCE_MAX + 1)
