"""A file of text logs: how it is recognized, whose it is, and its entries."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, tzinfo
from pathlib import Path, PurePath
from typing import Final

from msgspec import Struct

from sessions.own_cluster.content import Content, open_content
from sessions.own_cluster.reading import FormatError, SourceError
from sessions.own_cluster.wrong_files import refusal
from sessions.postmortem.text_logs.blocks import blocks_of_entries
from sessions.postmortem.text_logs.configurations import configured
from sessions.postmortem.text_logs.facts import (
    Configured,
    Fact,
    FetchFailed,
    HeartbeatFailed,
    IsrRefused,
    IsrShrunk,
    KafkaVersion,
    NodeUnreachable,
    SlowRequest,
)
from sessions.postmortem.text_logs.log_line import LogLine
from sessions.postmortem.text_logs.recognition import Layout, fact_of, layout_of
from sessions.postmortem.text_logs.times import Clock, is_timed
from sessions.text import clean

NAME: Final = "text log"
UNTIMED_BYTES_MAX: Final = 64 << 20
"""A text with this much after its last line with a time is no log, but for instance a dump, or a
small file that unpacks to endless zeros."""
_HEAD_LINES_MAX: Final = 2_000
_LEVEL: Final = re.compile(rb"\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b")
_LEVEL_BYTES: Final = 200
_EXCEPTION: Final = re.compile(
    rb"(?:Caused by: )?((?:[\w$]{1,100}\.){1,20}[\w$]{1,100}(?:: .*)?)\s*\Z"
)
_EXCEPTION_BYTES_MAX: Final = 300
_TRACE_LINES_MAX: Final = 20
_TROUBLED: Final = ("WARN", "ERROR", "FATAL")
_TIME_OF_DAY: Final = re.compile(rb"\[?\d\d:\d\d:\d\d[.,]\d{3}\b")
_OWN_ID: Final = re.compile(
    rb"\[(?:Kafka ?Server|BrokerServer|ControllerServer|SharedServer|KafkaRaftServer|RaftManager"
    rb"|QuorumController|Controller|Broker|ReplicaManager|ReplicaStateMachine|PartitionStateMachine"
    rb"|BrokerLifecycleManager|GroupCoordinator|GroupMetadataManager|TransactionCoordinator"
    rb"|BrokerMetadataPublisher|MetadataLoader|ControllerEventThread)"
    rb"(?: on [Bb]roker)?[ -]?(?:(?:id|nodeId|broker|controllerId|brokerId)=)?(\d{1,10})[\]: ,]"
    rb"|\[(?:Partition \S{1,260} |ReplicaFetcher replica|ReplicaFetcherManager on )"
    rb"(?:broker=|Id=|broker )(\d{1,10})"
    rb"|[ \t](?:Broker|Controller) (\d{1,10}) (?:epoch|completed|received|handling|cached)\b"
    rb"|^\s(?:broker|node)\.id ?= ?(\d{1,10})\s*$",
    re.M,
)
_NODE_IN_NAME: Final = re.compile(
    r"(?:broker|node|kafka|server|controller|host)[-_.]?(\d{1,10})(?!\d)", re.I
)
_ROTATION: Final = re.compile(r"(?:[.-]\d[\d_:T-]*|\.gz|\.zst)+$")


class LogFile(Struct, frozen=True):
    """What the beginning of a text log tells.

    ``name`` is how the file is called in messages. ``node`` is None if neither lines nor names tell
    whose it is; ``nodes`` are all that its lines name, of several if logs were collected in one
    file. ``first_us`` is the time of its first line, ``release`` what its beginning says that the
    process runs.
    """

    path: Path
    name: str
    node: int | None
    nodes: tuple[int, ...]
    first_us: int
    layout: Layout
    has_zone: bool
    release: str | None = None

    @property
    def kind(self) -> str:
        """The name without what rotation appended: ``server.log``, ``state-change.log``, .."""
        return _ROTATION.sub("", self.path.name)


REPEATED: Final = (
    Configured, FetchFailed, HeartbeatFailed, IsrRefused, IsrShrunk, NodeUnreachable, SlowRequest
)  # fmt: skip
"""Facts that are written again and again while their cause lasts."""
REPEATED_WITHIN_US: Final = 10_000_000
REMEMBERED_MAX: Final = 100_000


class Repetitions:
    """When the files of a stream last had each fact that is written many times a second."""

    def __init__(self) -> None:
        self._last: dict[tuple[int | None, Fact], int] = {}

    def has(self, node: int | None, fact: Fact, time_us: int) -> bool:
        """Whether a node said the same shortly before; it has now said it again."""
        if len(self._last) > REMEMBERED_MAX:
            self._last.clear()
        last_us = self._last.get((node, fact))
        self._last[node, fact] = time_us
        return last_us is not None and time_us - last_us < REPEATED_WITHIN_US


class Progress(Struct):
    """How far a file was read; ``repeated`` lines are not among the entries."""

    bytes: int = 0
    lines: int = 0
    entries: int = 0
    repeated: int = 0

    def add(self, other: "Progress") -> None:
        """Count what was read of another file."""
        self.bytes += other.bytes
        self.lines += other.lines
        self.entries += other.entries
        self.repeated += other.repeated


def recognize(path: Path, name: str, zone: tzinfo = UTC) -> LogFile:
    """Look at the beginning of a file.

    Raises:
        SourceError: it cannot be read, or is no text log of Kafka or ZooKeeper.
    """
    with open_content(path, name) as content:
        head = content.head
        lines = head.replace(b"\r\n", b"\n").split(b"\n")[:_HEAD_LINES_MAX]
        clock = Clock(zone)
        times = [time for line in lines if (time := clock.time_us(line)) is not None]
        levels = sum(_LEVEL.search(line, 0, _LEVEL_BYTES) is not None for line in lines)
        if not times or not levels:
            raise SourceError(_not_a_log(content, lines))
    timed = [line for line in lines if is_timed(line)]
    ids = Counter(int(next(filter(None, match.groups()))) for match in _OWN_ID.finditer(head))
    node = ids.most_common(1)[0][0] if ids else _node_in(name)
    layout, release = layout_of(timed), None
    for _, line, rows in layout(lines, 0):
        fact = fact_of(line, rows)
        if isinstance(fact, KafkaVersion):
            release = fact.version
    nodes = tuple(sorted(ids))
    return LogFile(path, clean(name), node, nodes, times[0], layout, clock.has_zone, release)


def entries_of(
    file: LogFile,
    zone: tzinfo = UTC,
    progress: Progress | None = None,
    repetitions: Repetitions | None = None,
) -> Iterator[LogLine]:
    """Yield the entries of a file in their order, without repetitions.

    Raises:
        SourceError: it cannot be read, is compressed and damaged, or stops being a log.
    """
    progress = progress if progress is not None else Progress()
    repetitions = repetitions if repetitions is not None else Repetitions()
    with open_content(file.path, file.name) as content:
        try:
            yield from _entries(file, content, Clock(zone), progress, repetitions)
        except FormatError as error:
            raise SourceError(f"{clean(file.name)} ({NAME}): {error}") from error


def _entries(
    file: LogFile, content: Content, clock: Clock, progress: Progress, repetitions: Repetitions
) -> Iterator[LogLine]:
    is_mixed = len(file.nodes) > 1
    untimed = 0
    for size, lines in blocks_of_entries(content):
        for number, line, rows in file.layout(lines, progress.lines):
            fact = fact_of(line, rows)
            if isinstance(fact, Configured):
                printed = configured(lines, number - progress.lines - 1)
                if printed is None:
                    continue
                line, number = lines[printed[0]], printed[0] + progress.lines + 1  # noqa: PLW2901
                fact = printed[1]
            time_us = None if fact is None else clock.time_us(line)
            if fact is None or time_us is None:
                continue
            node = _own_id(line, file.node) if is_mixed else file.node
            if isinstance(fact, REPEATED) and repetitions.has(node, fact, time_us):
                progress.repeated += 1
                continue
            match = _LEVEL.search(line, 0, _LEVEL_BYTES)
            level = match[0].decode() if match else ""
            progress.entries += 1
            yield LogLine(
                time_us,
                node,
                file.name,
                number,
                level,
                fact,
                _exception(lines, number - progress.lines) if level in _TROUBLED else None,
            )
        progress.bytes += size
        progress.lines += len(lines)
        untimed = 0 if any(map(is_timed, lines)) else untimed + size
        if untimed > UNTIMED_BYTES_MAX:
            raise FormatError(
                f"has no line with a time after line {progress.lines:,}: it is no log"
            )


def _exception(lines: list[bytes], begin: int) -> str | None:
    """The first line of the stack trace that begins below a line, in the same block."""
    for line in lines[begin : begin + _TRACE_LINES_MAX]:
        if is_timed(line):
            return None
        match = _EXCEPTION.match(line, 0, _EXCEPTION_BYTES_MAX)
        if match is not None:
            return match[1].decode("utf-8", "replace")
    return None


def _own_id(line: bytes, otherwise: int | None) -> int | None:
    match = _OWN_ID.search(line, 0, _LEVEL_BYTES)
    return int(next(filter(None, match.groups()))) if match else otherwise


def _node_in(name: str) -> int | None:
    """The number in the nearest part of a path that names a node: ``logs/broker-2/server.log``."""
    for part in reversed(PurePath(name).parts):
        match = _NODE_IN_NAME.search(part)
        if match is not None:
            return int(match[1])
    return None


def _not_a_log(content: Content, lines: list[bytes]) -> str:
    """One sentence about a file that is no text log."""
    name = clean(content.name)
    if any(_TIME_OF_DAY.match(line) for line in lines):
        return f"{name} is a text log whose lines have a time of day and no date; wanted is both"
    return refusal(content)
