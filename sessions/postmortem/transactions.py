"""Metadata transactions (KIP-868): their records take effect at their end, or never."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from emulator.wire.metadata.batches import MetadataBatch
from emulator.wire.metadata.messages import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)
from sessions.own_cluster.reading import FormatError

RECORDS_MAX: Final = 1_000_000
"""How many records a metadata transaction may have."""
_MARKERS: Final = (BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord)


class Transactions:
    """Passes batches on; those of a transaction as one, at its end.

    ``aborted`` counts the records of aborted transactions, ``open`` those of one without an end.
    """

    def __init__(self) -> None:
        self.aborted = 0
        self._held: list[MetadataBatch] | None = None
        self._count = 0

    @property
    def open(self) -> int:
        """How many records a transaction has that did not end."""
        return self._count if self._held is not None else 0

    def resolve(self, batches: Iterable[MetadataBatch]) -> Iterator[MetadataBatch]:
        """Yield batches whose records take effect together.

        Raises:
            FormatError: a transaction has too many records.
        """
        for batch in batches:
            if batch.is_idle and self._held is None:
                yield batch
                continue
            markers = [record for record in batch.records if isinstance(record, _MARKERS)]
            if not markers and self._held is None:
                yield batch
                continue
            for piece in _split(batch) if markers else (batch,):
                yield from self._take(piece)

    def _take(self, piece: MetadataBatch) -> Iterator[MetadataBatch]:
        first_record = piece.records[0]
        if isinstance(first_record, BeginTransactionRecord):
            self._held, self._count = [], 0
        if self._held is None:
            yield piece
            return
        if piece.is_control:  # a new leader; it aborts the transaction that it finds
            yield piece
            return
        self._held.append(piece)
        self._count += len(piece.records)
        if self._count > RECORDS_MAX:
            raise FormatError(f"has a metadata transaction of over {RECORDS_MAX:,} records")
        if isinstance(first_record, EndTransactionRecord):
            yield _joined(self._held)
            self._held = None
        elif isinstance(first_record, AbortTransactionRecord):
            self.aborted += self._count - len(_MARKERS[:2])
            self._held = None


def _split(batch: MetadataBatch) -> Iterator[MetadataBatch]:
    """The batch in pieces, each of one marker or of records without one."""
    start = 0
    for position, record in enumerate(batch.records):
        if isinstance(record, _MARKERS):
            if position > start:
                yield _piece(batch, start, position)
            yield _piece(batch, position, position + 1)
            start = position + 1
    if start < len(batch.records):
        yield _piece(batch, start, len(batch.records))


def _piece(batch: MetadataBatch, start: int, end: int) -> MetadataBatch:
    return replace(
        batch,
        base_offset=batch.base_offset + start,
        records=batch.records[start:end],
        versions=batch.versions[start:end],
    )


def _joined(pieces: list[MetadataBatch]) -> MetadataBatch:
    last = pieces[-1]
    return replace(
        last,
        base_offset=last.base_offset + 1 - sum(len(piece.records) for piece in pieces),
        records=tuple(record for piece in pieces for record in piece.records),
        versions=tuple(version for piece in pieces for version in piece.versions),
    )
