"""What ``kafka-consumer-groups --describe`` prints: offsets, or ``--state`` or ``--members``.

::

    Consumer group 'g' has no active members.

    GROUP  TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID
    g      orders  0          5               10              5    -            -     -

The column ``GROUP`` is absent from 0.10.2 to 1.1, where one group is described at a time, and
``LEADER-EPOCH`` is there with ``--verbose`` since 4.0. Source: ``ConsumerGroupCommand`` of 0.10 to
4.1.
"""

import re
from typing import Final

from msgspec import Struct, field

from emulator.cluster_image.image import (
    ClusterImage,
    CommittedOffset,
    Group,
    Member,
    Partition,
    Topic,
)
from sessions.own_cluster.content import Content
from sessions.own_cluster.reading import Authority, FormatError, Reading
from sessions.text import clean

NAME: Final = "kafka-consumer-groups --describe"

_HEAD: Final = re.compile(r"\s*(GROUP\s+)?(TOPIC\s+PARTITION|COORDINATOR|CONSUMER-ID\s+HOST)\b.*")
_STATUS: Final = re.compile(
    r"(?:Warning: )?Consumer group '(.+)' (?:has no active members|is .*)\.?"
)
_COLUMN: Final = re.compile(r"(\S+)(?: \(ID\))?")
_COORDINATOR: Final = re.compile(r".*\((\d+)\)")
_UNKNOWN: Final = ("-", "")


class _Group(Struct):
    state: str | None = None
    coordinator: int | None = None
    members: dict[str, Member] = field(default_factory=dict)
    offsets: dict[tuple[str, int], CommittedOffset] = field(default_factory=dict)


def recognizes(head: str) -> bool:
    """Whether a text has a table of this tool."""
    return any(_HEAD.fullmatch(line) or _STATUS.fullmatch(line) for line in head.splitlines())


def read(content: Content) -> Reading:
    """Return the groups, and how long the logs are that they read.

    Raises:
        FormatError: a line does not fit its table.
    """
    groups: dict[str, _Group] = {}
    ends: dict[tuple[str, int], int] = {}
    columns: _Columns | None = None
    group_name = ""
    for number, line in enumerate(content.lines(), 1):
        status = _STATUS.fullmatch(line.strip())
        if status is not None:
            group_name = status[1]
            if "no active members" in line:
                groups.setdefault(group_name, _Group()).state = "Empty"
        elif _HEAD.fullmatch(line):
            columns = _Columns(line)
        elif not line.strip():
            columns = None
        elif columns is not None:
            row = columns.row(line, number)
            name = row.get("GROUP", group_name)
            _take(groups.setdefault(name, _Group()), row, ends, number)
    return Reading(content.name, NAME, Authority.TOOL, _image(groups, ends))


class _Columns:
    """The columns of a table: their names, and where they start in the line of the names."""

    def __init__(self, head: str) -> None:
        columns = list(_COLUMN.finditer(head))
        self.names = [match[1] for match in columns]
        self.starts = [match.start() for match in columns]

    def row(self, line: str, number: int) -> dict[str, str]:
        """Return the cells of a line.

        Client ids may contain spaces and a strategy may be empty, so cells are found by their
        place. In tables of older tools, long values push the others aside: those have no spaces.
        """
        ends = [*self.starts[1:], len(line)]
        if all(line[start - 1 : start] in (" ", "\t") for start in self.starts[1:]):
            cells = [line[start:end].strip() for start, end in zip(self.starts, ends, strict=True)]
        else:
            cells = line.split()
        if len(cells) < len(self.names):
            raise FormatError(f"line {number} is cut off: {clean(line.strip()[:60])!r}")
        return dict(zip(self.names, cells, strict=False))


def _take(
    group: _Group, row: dict[str, str], ends: dict[tuple[str, int], int], number: int
) -> None:
    member = row.get("CONSUMER-ID", "-")
    if member not in _UNKNOWN:
        host = row.get("HOST", "-").removeprefix("/")
        group.members[member] = Member(member, row.get("CLIENT-ID"), host)
    if "STATE" in row:
        group.state = row["STATE"]
        coordinator = _COORDINATOR.fullmatch(row.get("COORDINATOR", ""))
        group.coordinator = int(coordinator[1]) if coordinator else None
    if row.get("TOPIC", "-") in _UNKNOWN:
        return
    partition = _number(row.get("PARTITION", "-"), number)
    if partition is None:
        return
    key = row["TOPIC"], partition
    group.offsets[key] = CommittedOffset(
        *key,
        offset=_number(row.get("CURRENT-OFFSET", "-"), number),
        leader_epoch=_number(row.get("LEADER-EPOCH", "-"), number),
        member=None if member in _UNKNOWN else member,
    )
    end = _number(row.get("LOG-END-OFFSET", "-"), number)
    if end is not None:
        ends[key] = max(end, ends.get(key, 0))


def _number(word: str, number: int) -> int | None:
    if word in _UNKNOWN or word == "unknown":
        return None
    if not word.isdecimal():
        raise FormatError(f"line {number} has no number where one belongs: {clean(word[:40])!r}")
    return int(word)


def _image(groups: dict[str, _Group], ends: dict[tuple[str, int], int]) -> ClusterImage:
    """Return the image; a log's end is that of a consumer: the high watermark."""
    topics: dict[str, list[Partition]] = {}
    for (topic, number), end in sorted(ends.items()):
        topics.setdefault(topic, []).append(Partition(number, high_watermark=end, log_end=end))
    return ClusterImage(
        groups=tuple(
            Group(
                name,
                state=group.state,
                coordinator=group.coordinator,
                members=tuple(group.members.values()),
                offsets=tuple(group.offsets.values()),
            )
            for name, group in groups.items()
            if name
        ),
        topics=tuple(
            Topic(name, partitions=tuple(partitions)) for name, partitions in topics.items()
        ),
    )
