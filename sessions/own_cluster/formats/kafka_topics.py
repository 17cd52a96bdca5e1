r"""The text of ``kafka-topics --describe``, of every release from 0.8 to 4.4.

::

    Topic: orders  TopicId: Jv..  PartitionCount: 2  ReplicationFactor: 3  Configs: a=1,b=2
        Topic: orders  Partition: 0  Leader: 3  Replicas: 3,4,1  Isr: 3,4  Elr: 1  LastKnownElr:

What differs: ``topic:`` and no line of the topic in 0.8.0; no space after ``Topic:`` in the line of
the topic up to 2.1; ``TopicId`` since 2.8; ``Adding Replicas`` and ``Removing Replicas`` since 2.5
while a partition is reassigned; ``Elr`` and ``LastKnownElr`` since 3.8, with ``N/A`` from brokers
that have none. A partition without a leader has ``none`` or ``-1``. A terminal may have turned tabs
into spaces. Source: ``TopicCommand`` of 0.8.2 to 4.1.

``Configs`` are those that differ from Kafka's defaults; since 2.2, with ``--bootstrap-server``,
also those that come from the brokers' configuration.
"""

import re
from collections.abc import Iterable
from typing import Final

from emulator.cluster_image.image import NO_LEADER, Brokers, ClusterImage, Partition, Topic
from sessions.own_cluster.content import Content
from sessions.own_cluster.reading import Authority, FormatError, Reading
from sessions.text import clean, plural

NAME: Final = "kafka-topics --describe"

_LABEL: Final = re.compile(
    r"(?:^|[\t ])(topic|topicid|partitioncount|replicationfactor|configs|markedfordeletion"
    r"|partition|leader|replicas|isr|elr|lastknownelr|adding replicas|removing replicas):",
    re.IGNORECASE,
)
_STARTS: Final = re.compile(
    r"\s*topic:\s*\S+\s(?:.*\s)?(partitioncount|partition|leader):", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"[0-9]{1,10}")
_NOT_KNOWN: Final = "n/a"
_NO_LEADERS: Final = ("none", "-1", "")
_LEAST: Final = ("leader", "replicas", "isr")


def recognizes(head: str) -> bool:
    """Whether a text has a line that only this tool prints."""
    return any(_STARTS.match(line) for line in head.splitlines())


def read(content: Content) -> Reading:
    """Return the topics that a text describes.

    Raises:
        FormatError: a line cannot be understood, or lines are missing.
    """
    topics = _Topics()
    skipped = 0
    for number, line in enumerate(content.lines(), 1):
        if not line.strip():
            continue
        try:
            fields = _fields(line)
            if "partition" in fields:
                topics.add_partition(fields)
            elif "partitioncount" in fields and "topic" in fields:
                topics.add_topic(fields)
            elif "topic" in fields:
                raise FormatError("is cut off after the topic")
            else:
                skipped += 1  # a warning of the tool, or the prompt that was copied too
        except FormatError as error:
            raise FormatError(f"line {number} {error}") from error
    skips = f"{plural(skipped, 'line')} without a topic or partition skipped"
    return Reading(content.name, NAME, Authority.TOOL, topics.image(), (skips,) if skipped else ())


class _Topics:
    """Collects what the lines say."""

    def __init__(self) -> None:
        self.heads: dict[str, dict[str, str]] = {}
        self.partitions: dict[str, dict[int, Partition]] = {}

    def add_topic(self, fields: dict[str, str]) -> None:
        _number("partitioncount", fields["partitioncount"])
        self.heads[fields["topic"]] = fields

    def add_partition(self, fields: dict[str, str]) -> None:
        missing = [name for name in ("topic", *_LEAST) if name not in fields]
        if missing:
            raise FormatError(f"is cut off before {missing[0].capitalize()}")
        number = _number("partition", fields["partition"])
        leader = fields["leader"].lower()
        partition = Partition(
            partition=number,
            replicas=_brokers("replicas", fields),
            leader=NO_LEADER if leader in _NO_LEADERS else _number("leader", leader),
            isr=_brokers("isr", fields),
            elr=_brokers_in("elr", fields),
            last_known_elr=_brokers_in("lastknownelr", fields),
            adding=_brokers_in("adding replicas", fields),
            removing=_brokers_in("removing replicas", fields),
        )
        numbered = self.partitions.setdefault(fields["topic"], {})
        if numbered.setdefault(number, partition) != partition:
            raise FormatError(f"describes {fields['topic']}-{number} a second time, differently")

    def image(self) -> ClusterImage:
        topics = []
        for name in {**self.heads, **self.partitions}:
            head = self.heads.get(name, {})
            partitions = self.partitions.get(name, {})
            count = head.get("partitioncount")
            if count is not None and partitions and int(count) != len(partitions):
                raise FormatError(
                    f"is incomplete: topic {clean(name)} has {count} partitions, and "
                    f"{len(partitions)} are described"
                )
            topics.append(
                Topic(
                    name,
                    id=head.get("topicid") or None,
                    configs=_configs(head["configs"]) if "configs" in head else None,
                    deleting=True if "markedfordeletion" in head else None,
                    partitions=tuple(sorted(partitions.values(), key=lambda p: p.partition)),
                )
            )
        return ClusterImage(topics=tuple(topics))


def _fields(line: str) -> dict[str, str]:
    """The values of a line by label, in lower case."""
    labels = list(_LABEL.finditer(line))
    ends = [*(match.start() for match in labels[1:]), len(line)]
    return {
        match[1].lower(): line[match.end() : end].strip()
        for match, end in zip(labels, ends, strict=False)
    }


def _number(label: str, text: str) -> int:
    if _NUMBER.fullmatch(text):
        return int(text)
    raise FormatError(f"has no number after {label.capitalize()}: {clean(text[:40])!r}")


def _brokers(label: str, fields: dict[str, str]) -> Brokers:
    text = fields[label]
    return tuple(_number(label, word.strip()) for word in text.split(",")) if text else ()


def _brokers_in(label: str, fields: dict[str, str]) -> Brokers | None:
    """The brokers of a column; None if the tool or the brokers do not know it."""
    text = fields.get(label)
    return None if text is None or text.lower() == _NOT_KNOWN else _brokers(label, fields)


def _configs(text: str) -> dict[str, str]:
    """``cleanup.policy=compact,delete,segment.ms=1``: a value may contain commas."""
    values: dict[str, str] = {}
    for part in _joined(text.split(",")):
        name, _, value = part.partition("=")
        values[name.strip()] = value
    return values


def _joined(parts: Iterable[str]) -> list[str]:
    joined: list[str] = []
    for part in parts:
        if "=" in part or not joined:
            joined.append(part)
        else:
            joined[-1] += f",{part}"
    return [part for part in joined if part]
