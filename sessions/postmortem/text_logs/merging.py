"""The entries of many files in the order of their times.

The files that one node wrote one after the other (``server.log.1``, ``server.log``) are read one
after the other, and only as far as needed: memory does not grow with the number or size of files.
If they are large, another process reads half of them.
What two files of a node say alike, as ``server.log`` and ``kafkaServer.out`` do, counts once.
"""

import heapq
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import UTC, tzinfo
from itertools import accumulate, groupby, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from sessions.own_cluster.reading import SourceError
from sessions.postmortem.text_logs.clock_differences import ClockDifference, ClockDifferences
from sessions.postmortem.text_logs.log_file import (
    LogFile,
    Progress,
    Repetitions,
    entries_of,
    recognize,
)
from sessions.postmortem.text_logs.log_line import LogLine
from sessions.text import plural

_NO_LOG: Final = (
    ".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint", ".json", ".properties", ".db",
)  # fmt: skip
_SEGMENT_NAME: Final = 20
"""Kafka names its segments by an offset of so many digits."""
FORKED_BYTES_MIN: Final = 32 << 20
"""Smaller logs are read before another process would have begun to help."""
UNPACKED_TIMES: Final = 10
"""About how many times larger a text log is than what gzip or zstd make of it."""
SENT_AT_ONCE: Final = 500
_ENCODE: Final = msgspec.msgpack.Encoder().encode
_DECODE_LINES: Final = msgspec.msgpack.Decoder(list[LogLine]).decode
_DECODE_END: Final = msgspec.msgpack.Decoder(tuple[list[str], Progress]).decode


class TextLogs(Struct):
    """Text logs of several nodes, read as one.

    ``notes`` are sentences on what was left out, complete once all entries were read.
    """

    files: tuple[LogFile, ...]
    zone: tzinfo = UTC
    notes: list[str] = field(default_factory=list)
    progress: Progress = field(default_factory=Progress)
    counts: Counter[str] = field(default_factory=Counter)
    clocks: ClockDifferences = field(default_factory=ClockDifferences)

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes that the files belong to."""
        return tuple(sorted({file.node for file in self.files if file.node is not None}))

    @property
    def clock_differences(self) -> tuple[ClockDifference, ...]:
        """Differences between the nodes' clocks, as far as read."""
        return self.clocks.estimate()

    @property
    def zone_note(self) -> str | None:
        """What was assumed about times that do not say their zone."""
        silent = sum(not file.has_zone for file in self.files)
        if not silent:
            return None
        zone = "UTC" if self.zone is UTC else str(self.zone)
        return (
            f"the times of {plural(silent, 'text log')} say no time zone: taken as {zone} "
            "(--tz ZONE)"
        )

    def remarks(self) -> Iterator[str]:
        """Yield what should be known about what was read: gaps, zones, clocks that differ."""
        yield from self.notes
        if self.zone_note is not None:
            yield self.zone_note
        for difference in self.clock_differences:
            if difference.is_significant:
                yield difference.sentence

    def entries(self) -> Generator[LogLine, None, None]:
        """Yield what the logs say, in the order of time; each call reads them again."""
        self.progress, self.counts = Progress(), Counter()
        self.clocks, self.notes = ClockDifferences(), []
        streams = [list(files) for _, files in groupby(self.files, _stream_of)]
        forked = _streams_of_fork(streams)
        own_streams = [self._stream(files) for files in streams[forked:]]
        with closing(self._from_fork(streams[:forked])) as forked_stream:
            for line in _without_duplicates(_in_order([forked_stream, *own_streams])):
                self.clocks.add(line)
                self.counts[type(line.fact).__name__] += 1
                yield line

    def _from_fork(self, streams: Sequence[Sequence[LogFile]]) -> Generator[LogLine, None, None]:
        """Yield the entries of streams that a fork of this process reads meanwhile.

        Its pipe holds little, so that it waits if it is ahead.
        """
        if not streams:
            return
        context = get_context("fork")
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=self._send, args=(streams, sending), daemon=True)
        process.start()
        sending.close()
        try:
            while entries := _DECODE_LINES(receiving.recv_bytes()):
                yield from entries
            notes, progress = _DECODE_END(receiving.recv_bytes())
        except EOFError:
            notes, progress = ["a process that read text logs ended early"], Progress()
        finally:
            receiving.close()
            process.kill()
            process.join()
        self.notes.extend(notes)
        self.progress.add(progress)

    def _send(self, streams: Sequence[Sequence[LogFile]], sending: Connection) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its fork
        entries = _in_order([self._stream(files) for files in streams])
        with suppress(BrokenPipeError):  # the parent has ended
            while chunk := list(islice(entries, SENT_AT_ONCE)):
                sending.send_bytes(_ENCODE(chunk))
            sending.send_bytes(_ENCODE([]))
            sending.send_bytes(_ENCODE((self.notes, self.progress)))

    def _stream(self, files: Sequence[LogFile]) -> Iterator[LogLine]:
        repetitions = Repetitions()
        for file in files:
            progress = Progress()
            try:
                yield from entries_of(file, self.zone, progress, repetitions)
            except SourceError as error:
                self.notes.append(str(error))
            self.progress.add(progress)


def find_text_logs(paths: Iterable[Path], zone: tzinfo = UTC) -> TextLogs:
    """Look for text logs: in files that are named, and in all that is below folders.

    Other files in folders are left out.

    Raises:
        SourceError: a file that is named is no text log.
    """
    files: list[LogFile] = []
    for path in paths:
        if not path.is_dir():
            files.append(recognize(path, str(path), zone))
            continue
        for file_path in sorted(path.rglob("*")):
            if _may_be_log(file_path):
                try:
                    files.append(recognize(file_path, str(file_path), zone))
                except SourceError:
                    continue
    files.sort(key=lambda file: (*_stream_of(file), file.first_us))
    return TextLogs(tuple(files), zone)


def _in_order(streams: Iterable[Iterable[LogLine]]) -> Iterator[LogLine]:
    """Merge entries by their times; those of the same time in the order of the streams."""
    return heapq.merge(*streams, key=lambda line: line.time_us)


def _without_duplicates(entries: Iterable[LogLine]) -> Iterator[LogLine]:
    """Leave out what another file of the node has said at the same time."""
    files_by_fact: dict[tuple[int | None, object], str] = {}
    now_us = -1
    for line in entries:
        if line.time_us != now_us:
            files_by_fact, now_us = {}, line.time_us
        if files_by_fact.setdefault((line.node, line.fact), line.file) == line.file:
            yield line


def _streams_of_fork(streams: Sequence[Sequence[LogFile]]) -> int:
    """How many of the first streams another process reads: those with about half of the bytes.

    0 for small logs, and beside other threads, which a fork could catch holding a lock.
    """
    if sys.platform != "linux" or threading.active_count() > 1 or os.cpu_count() == 1:
        return 0
    sizes = [sum(map(_size_of, files)) for files in streams]
    if sum(sizes) < FORKED_BYTES_MIN:
        return 0
    ends = list(accumulate(sizes))
    return min(range(len(ends)), key=lambda place: abs(2 * ends[place] - ends[-1])) + 1


def _size_of(file: LogFile) -> int:
    times = UNPACKED_TIMES if file.path.suffix in {".gz", ".zst"} else 1
    try:
        return times * file.path.stat().st_size
    except OSError:
        return 0  # it is gone, which is said where it is read


def _stream_of(file: LogFile) -> tuple[int, str, str]:
    """What a node writes to one file at a time."""
    node = -1 if file.node is None else file.node
    return node, str(file.path.parent), file.kind


def _may_be_log(path: Path) -> bool:
    name = path.name
    is_segment = name[:_SEGMENT_NAME].isdecimal() and len(name) > _SEGMENT_NAME
    return not is_segment and not name.endswith(_NO_LOG) and path.is_file()
