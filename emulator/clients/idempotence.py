"""Sequence numbers of an idempotent producer, and their recovery after errors.

A batch keeps its sequence numbers across retries, so that the leader can detect duplicates. When a
batch fails, it may be unknown whether it was written: up to 2.4 the producer then requests a new
id, later it bumps its epoch (KIP-360), and restarts at sequence 0. Source: ``TransactionManager``
of the Java client 1.1 to 3.9, ``Sender`` of 0.11.
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from emulator.clients.state import Flight, PartitionSequences, Producer
from emulator.common.errors import ERRORS
from emulator.inputs.statements import Produce
from emulator.protocol import RecordBatch
from emulator.releases.profiles import Profile
from emulator.storage.producer_state import OUT_OF_ORDER, UNKNOWN_PRODUCER, advance

NONE: Final = -1
GAPS: Final = (OUT_OF_ORDER, UNKNOWN_PRODUCER)
"""The errors that report inconsistent sequence numbers."""
IN_FLIGHT_MAX: Final = 5
"""The maximum in-flight batches of an idempotent producer: as many as a leader remembers."""


def idempotence_conflict(profile: Profile, statement: Produce) -> str | None:
    """The conflict of a statement with ``--idempotent``, worded like Kafka's ConfigException."""
    if statement.acks not in (None, -1):
        return f"An idempotent producer needs acks=all, not {statement.acks}: leave --acks out."
    if statement.retries == 0:
        return "An idempotent producer needs retries: leave --retries out, or give 1 or more."
    most = IN_FLIGHT_MAX if profile.has("producer_state_keeps_five_batches") else 1
    if statement.in_flight > most:
        return (
            f"An idempotent producer of {profile.version} has at most {most} requests under way,"
            f" not {statement.in_flight}."
        )
    return None


class Sequencer:
    """A release's sequence number rules; the numbers themselves belong to the producer."""

    def __init__(self, profile: Profile) -> None:
        self.counts_when_sent = profile.has("producer_state_keeps_five_batches")
        self.bumps_epoch = profile.has("producer_epoch_bump")

    # ---- before a batch is sent

    def may_send(self, producer: Producer, flight: Flight) -> bool:
        """Whether this batch may be sent now.

        A batch being retried waits until it is the oldest of its partition; a new one waits until
        nothing is unresolved and all batches of an older id or epoch are complete.
        """
        oldest = next(_numbered(producer, flight.tp), None)
        if _is_numbered(flight):
            return oldest is flight
        sequences = producer.identity.partitions.get(flight.tp)
        if sequences is None:
            return True
        return sequences.unresolved < 0 and (sequences.owner == _owner(producer) or oldest is None)

    def number(self, producer: Producer, flight: Flight) -> None:
        """Assign sequence numbers to a batch that has none."""
        if flight.batch is None or _is_numbered(flight):
            return
        sequences = producer.identity.partitions.get(flight.tp)
        owner = _owner(producer)
        if sequences is None or sequences.owner != owner:
            sequences = _partition(producer, flight.tp)
            _start_at_zero(producer, flight.tp, sequences)
        flight.batch = _numbered_batch(flight.batch, owner, sequences.next)
        if self.counts_when_sent:
            sequences.next = advance(sequences.next, flight.batch.count)

    # ---- after a response

    def acknowledged(self, producer: Producer, flight: Flight, base_offset: int) -> None:
        """Note that a batch is written, so the leader knows its last sequence number."""
        batch, sequences = flight.batch, producer.identity.partitions.get(flight.tp)
        if batch is None or sequences is None or not _belongs(batch, sequences):
            return
        if not self.counts_when_sent:
            sequences.next = advance(batch.base_sequence, batch.count)
        last = advance(batch.base_sequence, batch.count - 1)
        sequences.acked = max(sequences.acked, last)
        if base_offset >= 0:
            sequences.acked_offset = max(sequences.acked_offset, base_offset + batch.count - 1)

    def may_retry(self, producer: Producer, flight: Flight, error: str, log_start: int) -> bool:
        """Whether an error is retriable; may reassign the partition's sequence numbers."""
        if self.counts_when_sent and error in GAPS and flight.batch is not None:
            sequences = producer.identity.partitions.get(flight.tp)
            if sequences is None or not _belongs(flight.batch, sequences):
                return self.bumps_epoch
            if error == OUT_OF_ORDER:
                return self._retry_out_of_order(producer, flight, sequences)
            return self._retry_unknown(producer, flight, sequences, log_start)
        return ERRORS[error].retriable

    def _retry_out_of_order(
        self, producer: Producer, flight: Flight, sequences: PartitionSequences
    ) -> bool:
        """Retry a gap if an earlier batch is still missing; otherwise sequences were lost."""
        assert flight.batch is not None
        sequence = flight.batch.base_sequence
        is_next = sequence == sequences.acked + 1
        if sequences.unresolved < 0 and (flight.renumbered or not is_next):
            return True
        if not self.bumps_epoch:
            return False
        if sequences.unresolved < 0 or sequence == sequences.unresolved:
            self._new_epoch(producer, flight.tp)
        return True

    def _retry_unknown(
        self, producer: Producer, flight: Flight, sequences: PartitionSequences, log_start: int
    ) -> bool:
        """Restart the sequence if the leader lost the producer's state for a reason (1.1-2.4)."""
        if flight.renumbered:
            return True
        if self.bumps_epoch:
            self._new_epoch(producer, flight.tp)
            return True
        if sequences.acked_offset < log_start:
            _start_at_zero(producer, flight.tp, sequences)
            return True
        return False

    def has_lost_identity(self, producer: Producer, flight: Flight) -> bool:
        """Whether the producer's id has changed since the batch was sent (up to 2.4)."""
        if self.bumps_epoch or flight.batch is None or not _is_numbered(flight):
            return False
        batch = flight.batch
        return (batch.producer_id, batch.producer_epoch) != _owner(producer)

    # ---- after a batch has failed and been removed from the producer

    def failed(self, producer: Producer, flight: Flight, error: str, *, exhausted: bool) -> None:
        """Handle a batch that failed with ``error``; ``exhausted``: only because of its retries."""
        batch, sequences = flight.batch, producer.identity.partitions.get(flight.tp)
        if batch is None or sequences is None or not _is_numbered(flight):
            return
        if self.bumps_epoch:
            if error in GAPS or not exhausted:
                self._new_epoch(producer, flight.tp)
        elif not _belongs(batch, sequences):
            return
        elif error in GAPS:
            _forget_identity(producer)
        elif self.counts_when_sent and not exhausted:
            _close_gap(producer, flight.tp, batch, sequences)

    def expired(self, producer: Producer, flight: Flight) -> None:
        """Handle a delivery timeout between attempts: the batch may or may not be written."""
        batch, sequences = flight.batch, producer.identity.partitions.get(flight.tp)
        if batch is not None and sequences is not None and _is_numbered(flight):
            following = advance(batch.base_sequence, batch.count)
            sequences.unresolved = max(sequences.unresolved, following)
            producer.identity.in_doubt[flight.tp] = None

    def resolve(self, producer: Producer) -> None:
        """Check the sequence of an unresolved partition once it has no batch in flight."""
        identity = producer.identity
        for tp in list(identity.in_doubt):
            if next(_numbered(producer, tp), None) is not None:
                continue
            sequences = identity.partitions[tp]
            sequences.unresolved = -1
            del identity.in_doubt[tp]
            if sequences.next == sequences.acked + 1:
                continue
            if not self.bumps_epoch:
                _forget_identity(producer)
                return
            self._new_epoch(producer, tp)

    # ---- producer ids, epochs, sequence numbers

    def _new_epoch(self, producer: Producer, tp: str) -> None:
        producer.identity.epoch += 1
        sequences = _partition(producer, tp)
        sequences.unresolved = -1
        producer.identity.in_doubt.pop(tp, None)
        _start_at_zero(producer, tp, sequences)


def _owner(producer: Producer) -> tuple[int, int]:
    return producer.identity.producer_id, producer.identity.epoch


def _partition(producer: Producer, tp: str) -> PartitionSequences:
    return producer.identity.partitions.setdefault(tp, PartitionSequences(_owner(producer)))


def _is_numbered(flight: Flight) -> bool:
    return flight.batch is not None and flight.batch.base_sequence >= 0


def _numbered(producer: Producer, tp: str) -> Iterator[Flight]:
    """The batches of a partition that have sequence numbers, oldest first."""
    return (flight for flight in producer.flights if flight.tp == tp and _is_numbered(flight))


def _belongs(batch: RecordBatch, sequences: PartitionSequences) -> bool:
    """Whether a batch has the id and epoch of its partition's current sequence."""
    return (batch.producer_id, batch.producer_epoch) == sequences.owner


def _numbered_batch(batch: RecordBatch, owner: tuple[int, int], sequence: int) -> RecordBatch:
    return replace(batch, producer_id=owner[0], producer_epoch=owner[1], base_sequence=sequence)


def _start_at_zero(producer: Producer, tp: str, sequences: PartitionSequences) -> None:
    """Restart a partition's sequence at 0 under the current id and epoch."""
    sequence, owner = 0, _owner(producer)
    for flight in _numbered(producer, tp):
        assert flight.batch is not None
        flight.batch = _numbered_batch(flight.batch, owner, sequence)
        flight.renumbered = True
        sequence = advance(sequence, flight.batch.count)
    sequences.owner, sequences.next, sequences.acked = owner, sequence, NONE


def _close_gap(
    producer: Producer, tp: str, gone: RecordBatch, sequences: PartitionSequences
) -> None:
    """Close the gap left by a batch that was definitely not written."""
    sequences.next -= gone.count
    for flight in _numbered(producer, tp):
        assert flight.batch is not None
        if flight.batch.base_sequence > gone.base_sequence:
            sequence = flight.batch.base_sequence - gone.count
            flight.batch = replace(flight.batch, base_sequence=sequence)
            flight.renumbered = True


def _forget_identity(producer: Producer) -> None:
    """Discard the producer id and all sequences; a new id is requested later (up to 2.4)."""
    producer.identity.producer_id = producer.identity.epoch = NONE
    producer.identity.partitions, producer.identity.in_doubt = {}, {}
