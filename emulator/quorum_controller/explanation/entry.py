"""A record of the metadata log with its place, as the rules see it."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import overload

from msgspec import Struct
from msgspec.structs import replace

from emulator.metadata_log.records import (
    AnyRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
)
from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.batches import MetadataBatch
from emulator.wire.metadata.translation import translate
from emulator.wire.types import Message

_RESERVED_IDS = {bytes(15) + b"\0": 0, bytes(15) + b"\2": 0, bytes(15) + b"\1": -1}
"""UNASSIGNED and MIGRATING: any directory; LOST: none that is available (``DirectoryId``)."""
ANY_DIRECTORY = 0


class Entry(Struct, frozen=True):
    """A record: ``message`` as it stands in the log, ``record`` as the rules know it.

    ``record`` is None for what has no meaning for replication. ``timestamp_ms`` is its batch's.
    """

    offset: int
    epoch: int
    timestamp_ms: int
    message: Message
    record: AnyRecord | None


class Upcoming(Sequence[Entry]):
    """The records from a place on, without a copy of them."""

    def __init__(self, entries: list[Entry], start: int = 0) -> None:
        self._entries = entries
        self._start = start

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        """Return the record at a place counted from the first, or those of a slice."""
        if isinstance(index, int):
            return self._entries[self._start + index]
        begin, end, _ = index.indices(len(self))
        return self._entries[self._start + begin : self._start + end]

    def __len__(self) -> int:
        return len(self._entries) - self._start

    def __iter__(self) -> Iterator[Entry]:
        return islice(self._entries, self._start, None)


class DirectoryNumbers(Struct):
    """Numbers for the random ids of log directories, from 1 on in order of appearance.

    0 is a replica whose directory is not known, -1 one whose directory is lost (KIP-858).
    """

    numbers: dict[bytes, int]

    @staticmethod
    def none() -> "DirectoryNumbers":
        """Return the numbers before the first record."""
        return DirectoryNumbers(dict(_RESERVED_IDS))

    def number_of(self, directory: bytes) -> int:
        return self.numbers.setdefault(directory, len(self.numbers) - len(_RESERVED_IDS) + 1)

    def all(self, directories: list[bytes] | None) -> tuple[int, ...] | None:
        """Return the numbers of replicas' directories; () if none is known, None if unchanged."""
        if directories is None:
            return None
        numbers = tuple(map(self.number_of, directories))
        return numbers if any(numbers) else ()

    def default(self, directories: list[bytes]) -> int:
        """Return where a broker with these directories will have a new replica."""
        return self.number_of(directories[0]) if len(directories) == 1 else ANY_DIRECTORY


def entries(batch: MetadataBatch, directories: DirectoryNumbers) -> Iterator[Entry]:
    """The records of a batch."""
    for offset, message in enumerate(batch.records, batch.base_offset):
        record = _record(message, directories)
        yield Entry(offset, batch.leader_epoch, batch.timestamp, message, record)


def _record(message: Message, directories: DirectoryNumbers) -> AnyRecord | None:
    record = translate(message)
    match message, record:
        case wire.PartitionRecord(), PartitionRecord():
            return replace(record, directories=directories.all(message.directories) or ())
        case wire.PartitionChangeRecord(), PartitionChangeRecord():
            return replace(record, directories=directories.all(message.directories))
        case wire.RegisterBrokerRecord(), RegisterBrokerRecord():
            return replace(record, directory=directories.default(message.log_dirs))
        case _:
            return record
