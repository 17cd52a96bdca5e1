"""The metadata log of one node, as its files: segments, and the snapshot that they begin with.

A node's log is never held in memory. Its headers are read once, to know which offsets and epochs it
has; its batches are read when they are wanted.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.wire.exceptions import WireError
from emulator.wire.metadata.batches import MetadataBatch, Torn, read_headers
from emulator.wire.metadata.control_records import SnapshotFooterRecord, SnapshotHeaderRecord
from emulator.wire.records.record_batch import BatchHeader
from sessions.own_cluster.content import Content, open_content
from sessions.own_cluster.formats import metadata_log
from sessions.own_cluster.formats.metadata_log import SEGMENT, SNAPSHOT, batches_of
from sessions.own_cluster.places import LAST_MS
from sessions.own_cluster.reading import FormatError, SourceError
from sessions.own_cluster.recognition import METADATA_FOLDER
from sessions.own_cluster.wrong_files import identify
from sessions.text import clean

EXPECTED: Final = (
    "wanted is the folder __cluster_metadata-0 of a node, or a folder that such folders are in"
)
FOLDERS_MAX: Final = 10_000
"""How many folders are searched for metadata logs."""
EPOCHS_MAX: Final = 1_000_000
"""How many leader epochs a log may have: each is an election of the quorum."""
_NODE_ID: Final = re.compile(rb"(?m)^(?:node|broker)\.id=(\d+)\s*$")
_TIME: Final = re.compile(rb"\W*\d{4}-\d\d-\d\d[ T]\d\d:\d\d")
_TIME_BYTES: Final = 64
_PROPERTIES: Final = "meta.properties"
_PROPERTIES_BYTES_MAX: Final = 1 << 16


class Snapshot(Struct, frozen=True):
    """A snapshot: it replaces the records below ``end``, the last of which has ``epoch``.

    ``count`` is the number of its records, without those that enclose them.
    """

    path: Path
    end: int
    epoch: int
    count: int


class EpochStart(Struct, frozen=True):
    """The first batch of an epoch in a log: its offset and checksum."""

    epoch: int
    offset: int
    crc: int


class Span:
    """Which offsets a log has, and the first batch of each leader epoch in it, in order."""

    def __init__(self) -> None:
        self.epochs: list[EpochStart] = []
        self.end = 0
        self.last_epoch = -1

    def add(self, header: BatchHeader) -> bool:
        """Add a batch; return False if it does not follow those before it."""
        follows = not self.epochs or header.base_offset == self.end
        if not follows or header.leader_epoch < self.last_epoch:
            return False
        if header.leader_epoch > self.last_epoch or not self.epochs:
            if len(self.epochs) >= EPOCHS_MAX:
                return False
            self.last_epoch = header.leader_epoch
            self.epochs.append(EpochStart(header.leader_epoch, header.base_offset, header.crc))
        self.end = header.last_offset + 1
        return True

    def end_of(self, epoch: int) -> int:
        """The offset after the last record of an epoch."""
        later = (start.offset for start in self.epochs if start.epoch > epoch)
        return next(later, self.end)


class LogCopy:
    """The metadata log as one node has it.

    ``name`` is how the user calls it, ``node`` the node's id if its files say so. The log begins at
    offset ``start``, after ``snapshot`` if that is not None. ``notes`` are sentences about what is
    left out.
    """

    def __init__(self, name: str, files: Sequence[Path], node: int | None = None) -> None:
        """Look at the beginning of these segments and snapshots.

        Raises:
            FormatError: they are no metadata log, or begin in its middle.
        """
        self.name = clean(name)
        self.node = node
        self.notes: list[str] = []
        self._segments = _in_order(files)
        header = self._first_header()
        self.start = 0 if header is None else header.base_offset
        self.snapshot = self._first_snapshot(files, is_log_empty=header is None)
        if self.snapshot is not None:
            self.start = self.snapshot.end

    # ---- what it has

    @property
    def size_bytes(self) -> int:
        return sum(path.stat().st_size for path in self._segments)

    def _first_header(self) -> BatchHeader | None:
        for path in self._segments:
            with open_content(path, self._name_of(path)) as content:
                try:
                    header = next(read_headers(content.read), None)
                except WireError as error:
                    raise FormatError(f"is damaged: {error}") from error
            if isinstance(header, BatchHeader):
                return header
        return None

    @cached_property
    def span(self) -> "Span":
        """Which offsets and epochs the log has, up to the first damage of a header."""
        span = Span()
        if self.snapshot is not None:
            span.end, span.last_epoch = self.snapshot.end, self.snapshot.epoch
        for path in self._segments:
            try:
                with open_content(path, path.name) as content:
                    for header in read_headers(content.read):
                        if isinstance(header, Torn):
                            break
                        if header.last_offset >= self.start and not span.add(header):
                            return span
            except (WireError, FormatError):
                return span  # reading the batches tells what is damaged
        return span

    def _first_snapshot(self, files: Sequence[Path], *, is_log_empty: bool) -> Snapshot | None:
        """The oldest complete snapshot at which the log can begin; None if it begins with 0."""
        if not is_log_empty and not self.start:
            return None
        oldest_first = sorted(path for path in files if SNAPSHOT.fullmatch(path.name))
        for path in oldest_first:
            snapshot = _snapshot(path)
            if snapshot is not None and (is_log_empty or self.start <= snapshot.end):
                return snapshot
        if not is_log_empty:
            raise FormatError(
                f"starts in the middle of a log: offsets 0 to {self.start - 1:,} are missing; "
                "wanted is the whole folder, whose snapshot has them"
            )
        raise FormatError(
            f"has neither a whole batch of records nor a complete snapshot; {EXPECTED}"
        )

    # ---- reading

    def snapshot_batches(self) -> Iterator[MetadataBatch]:
        """Yield the batches of the snapshot, with offsets that end where the log begins.

        Those of control records, such as the first and the last one, have no offsets of their own.
        """
        snapshot = self.snapshot
        if snapshot is None:
            return
        offset, time_ms = max(0, snapshot.end - snapshot.count), 0
        for batch in self._batches_of_file(snapshot.path):
            first_record = batch.records[0] if batch.records else None
            if isinstance(first_record, SnapshotHeaderRecord):
                time_ms = min(first_record.last_contained_log_timestamp, LAST_MS)
            timestamp = time_ms if time_ms > 0 else batch.timestamp
            yield replace(
                batch, base_offset=offset, leader_epoch=snapshot.epoch, timestamp=timestamp
            )
            offset += 0 if batch.is_control else len(batch.records)

    def batches(self, start: int, end: int, *, joins_idle: bool = False) -> Iterator[MetadataBatch]:
        """Yield the batches from offset ``start`` to ``end`` (exclusive), as far as it has them.

        Where the log is damaged it ends, and ``notes`` says why. ``joins_idle`` (``end`` is not
        before the log's own): runs of an idle controller's batches are yielded as one batch each.
        """
        expected = self.start
        for number, path in enumerate(self._segments):
            next_segment = self._segments[number + 1 : number + 2]
            if next_segment and _base_offset(next_segment[0]) <= start:
                continue
            for batch in self._batches_of_file(path, joins_idle=joins_idle):
                end_offset = batch.base_offset + len(batch.records)
                if end_offset <= max(start, self.start):
                    expected = end_offset
                    continue
                if batch.base_offset >= end:
                    return
                if batch.base_offset > max(expected, start):
                    self._note(
                        f"{self.name}: offsets {expected:,} to {batch.base_offset - 1:,} are "
                        "missing; what is before them was read"
                    )
                    return
                expected = end_offset
                is_cut = batch.batches > 1 and batch.base_offset < start
                yield batch.since(start) if is_cut else batch

    def _batches_of_file(self, path: Path, *, joins_idle: bool = False) -> Iterator[MetadataBatch]:
        name = self._name_of(path)
        try:
            with open_content(path, name) as content:
                for batch in batches_of(content, joins_idle=joins_idle):
                    if isinstance(batch, Torn):
                        self._note(metadata_log.torn_note(name, batch))
                    else:
                        yield batch
        except FormatError as error:
            self._note(f"{clean(name)} {error}; what is before that was read")

    def _name_of(self, path: Path) -> str:
        """How the user calls one of its files, which may be all that was named."""
        return self.name if Path(self.name).name == path.name else f"{self.name}/{path.name}"

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)


def copies_of(paths: Iterable[str]) -> list[LogCopy]:
    """Return the metadata logs of folders of nodes and files, among which may be text logs.

    Where other copies are there, one that cannot be used is left out, and the first one notes why.

    Raises:
        SourceError: a file is no log or cannot be read, or no copy that is there can be used.
    """
    copies: dict[str, LogCopy] = {}
    unusable: list[SourceError] = []
    for name in paths:
        path = Path(name)
        if is_text_log(path, name):
            continue
        for file_or_folder in _folders_in(path) if path.is_dir() else [path]:
            try:
                copy = _copy_of(file_or_folder, name, path)
            except SourceError as error:
                if not path.is_dir():
                    raise
                unusable.append(error)
            else:
                if copy is not None:
                    copies.setdefault(copy.name, copy)
    found = list(copies.values())
    if unusable and not found:
        raise unusable[0]
    if found:
        reasons = dict.fromkeys(map(str, unusable))  # a folder may be named twice
        found[0].notes += [f"{reason}; this copy is left out" for reason in reasons]
    return found


def is_text_log(path: Path, name: str) -> bool:
    """Whether a file is text, and so no metadata log.

    Raises:
        SourceError: it cannot be read.
    """
    if path.is_dir():
        return False
    with open_content(path, name) as content:
        head = content.head
    return bool(_TIME.match(head[:_TIME_BYTES])) and not metadata_log.recognizes(head)


def _require_metadata(content: Content) -> None:
    """Refuse what is no metadata log, by its first batch."""
    for _ in batches_of(content):
        return


def _folders_in(path: Path) -> Iterator[Path]:
    """The folders that may be metadata logs: this one, or those in it."""
    if metadata_log.is_folder(path):
        yield path
        return
    waiting, visited = [path], 0
    while waiting and visited < FOLDERS_MAX:
        folder, visited = waiting.pop(), visited + 1
        with suppress(OSError):
            children = sorted(child for child in folder.iterdir() if child.is_dir())
            for child in children:
                if child.is_symlink():
                    continue
                if metadata_log.is_folder(child):
                    yield child
                else:
                    waiting.append(child)


def _copy_of(path: Path, name: str, root: Path) -> LogCopy | None:
    """The log that a file or folder is; None if it is a folder of another partition.

    Raises:
        SourceError: it is no metadata log, or cannot be read.
    """
    relative = path.relative_to(root).as_posix()
    copy_name = name if relative == "." else f"{name.rstrip('/')}/{relative}"
    try:
        if path.is_dir():
            return _copy_in(path, copy_name, is_named=path in {root, root / METADATA_FOLDER})
        with open_content(path, name) as content:
            if not metadata_log.recognizes(content.head):
                raise SourceError(f"{clean(name)} is {identify(content)[0]}; {EXPECTED}")
            _require_metadata(content)
        return LogCopy(name, [path])
    except FormatError as error:
        raise SourceError(f"{clean(copy_name)} ({metadata_log.NAME}) {error}") from error
    except OSError as error:
        raise SourceError(f"{clean(copy_name)} cannot be read: {error.strerror}") from error


def _copy_in(folder: Path, name: str, *, is_named: bool) -> LogCopy | None:
    files = [
        file
        for file in folder.iterdir()
        if SEGMENT.fullmatch(file.name) or SNAPSHOT.fullmatch(file.name)
    ]
    if not is_named and folder.name != METADATA_FOLDER:
        try:
            with open_content(min(files), name) as content:
                _require_metadata(content)
        except (FormatError, SourceError):
            return None
    return LogCopy(name, files, _node_of(folder))


def _node_of(folder: Path) -> int | None:
    """The node's id, from the ``meta.properties`` of the folder of logs."""
    with suppress(OSError, SourceError, FormatError):
        path = folder.parent / _PROPERTIES
        with open_content(path, path.name) as content:
            match = _NODE_ID.search(content.read(_PROPERTIES_BYTES_MAX))
            return int(match[1]) if match else None
    return None


def _snapshot(path: Path) -> Snapshot | None:
    """A snapshot, if it is complete and not that of an empty log."""
    count, is_complete = 0, False
    try:
        with open_content(path, path.name) as content:
            for batch in batches_of(content):
                if isinstance(batch, Torn):
                    return None
                last_record = batch.records[-1] if batch.records else None
                is_complete |= isinstance(last_record, SnapshotFooterRecord)
                count += 0 if batch.is_control else len(batch.records)
    except (FormatError, SourceError):
        return None
    match = SNAPSHOT.fullmatch(path.name)
    if match is None or not is_complete or not count:
        return None
    return Snapshot(path, int(match[1]), int(match[2]), count)


def _in_order(files: Sequence[Path]) -> list[Path]:
    segments = [path for path in files if SEGMENT.fullmatch(path.name)]
    if not segments and len(files) == 1 and not SNAPSHOT.fullmatch(files[0].name):
        return list(files)  # somebody renamed it
    return sorted(segments)


def _base_offset(path: Path) -> int:
    match = SEGMENT.fullmatch(path.name)
    return int(match[1]) if match else 0
