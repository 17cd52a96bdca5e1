"""What ``kafka-metadata-quorum describe`` prints with ``--status`` and with ``--replication``.

Voters are a list of numbers up to 3.9, and JSON objects with endpoints since 4.0; the table of
replicas has ``DirectoryId`` since 3.9. Source: ``MetadataQuorumCommand`` of 3.3 to 4.1.
"""

import re
from typing import Final

from msgspec import Struct, field

from emulator.cluster_image.image import ClusterImage, Controller, Quorum
from sessions.own_cluster.content import Content, json_of
from sessions.own_cluster.reading import Authority, FormatError, Reading
from sessions.text import clean

NAME: Final = "kafka-metadata-quorum describe"

_STATUS: Final = re.compile(r"(\w+):\s+(.*)")
_TABLE: Final = re.compile(r"NodeId\s.*\bLogEndOffset\s.*")
_ENDPOINT: Final = re.compile(r"\w+://(.*):(\d+)")
_NO_DIRECTORY: Final = "A" * 22
_VOTERS: Final = ("Leader", "Follower")


class _Node(Struct, rename="camel"):
    id: int
    directory_id: str | None = None
    endpoints: list[str] = []


class _Contents(Struct):
    status: dict[str, str] = field(default_factory=dict)
    controllers: dict[int, Controller] = field(default_factory=dict)
    end: int | None = None


def recognizes(head: str) -> bool:
    """Whether a text has the lines of this tool."""
    return any(
        line.startswith(("LeaderEpoch:", "CurrentVoters:")) or _TABLE.match(line)
        for line in head.splitlines()
    )


def read(content: Content) -> Reading:
    """Return the quorum.

    Raises:
        FormatError: a line cannot be understood.
    """
    quorum = _Contents()
    columns: list[str] = []
    for number, line in enumerate(content.lines(), 1):
        status = _STATUS.match(line)
        if _TABLE.match(line):
            columns = line.split()
        elif status is not None:
            columns = []
            quorum.status[status[1]] = status[2].strip()
        elif columns and line.strip():
            _take_replica(quorum, columns, line.split(), number)
    for node in _nodes(quorum.status.get("CurrentVoters", "[]")):
        controller = quorum.controllers.get(node.id)
        quorum.controllers[node.id] = _controller(node, controller)
    return Reading(content.name, NAME, Authority.TOOL, _image(quorum))


def _image(quorum: _Contents) -> ClusterImage:
    status = quorum.status
    watermark = _number(status, "HighWatermark")
    offset = watermark if watermark is not None else quorum.end
    leader = _number(status, "LeaderId")
    if leader is None:
        leader = next((n for n, c in quorum.controllers.items() if c.up), None)
    return ClusterImage(
        mode="kraft",
        cluster_id=status.get("ClusterId"),
        quorum=Quorum(
            leader=leader,
            epoch=_number(status, "LeaderEpoch"),
            offset=None if offset is None else offset - 1,
            controllers=tuple(quorum.controllers.values()),
        ),
    )


def _take_replica(quorum: _Contents, columns: list[str], words: list[str], number: int) -> None:
    row = dict(zip(columns, words, strict=False))
    if len(words) < len(columns):
        raise FormatError(f"line {number} is cut off: {clean(' '.join(words)[:60])!r}")
    if not {"NodeId", "LogEndOffset", "Status"} <= row.keys():
        raise FormatError("has a table of replicas without NodeId, LogEndOffset or Status")
    if row["Status"] not in _VOTERS:
        return  # an observer: a broker, or a controller that was not added
    node = _digits(row["NodeId"])
    quorum.controllers[node] = Controller(
        node,
        voter=True,
        up=True if row["Status"] == _VOTERS[0] else None,
        directory_id=_directory(row.get("DirectoryId")),
    )
    if row["Status"] == _VOTERS[0]:
        quorum.end = _digits(row["LogEndOffset"])


def _nodes(text: str) -> list[_Node]:
    items = json_of(text.encode(), list[int | _Node])
    return [item if isinstance(item, _Node) else _Node(item) for item in items]


def _controller(node: _Node, before: Controller | None) -> Controller:
    """A voter, with what the table of replicas knows of it."""
    match = _ENDPOINT.fullmatch(node.endpoints[0]) if node.endpoints else None
    return Controller(
        node.id,
        voter=True,
        up=before.up if before else None,
        directory_id=_directory(node.directory_id) or (before.directory_id if before else None),
        host=match[1] if match else None,
        port=int(match[2]) if match else None,
    )


def _directory(directory: str | None) -> str | None:
    return None if directory in (None, "", _NO_DIRECTORY) else directory


def _number(status: dict[str, str], name: str) -> int | None:
    word = status.get(name)
    return None if word is None else _digits(word)


def _digits(word: str) -> int:
    try:
        return int(word[:20])
    except ValueError:
        raise FormatError(f"has no number where one belongs: {clean(word[:40])!r}") from None
