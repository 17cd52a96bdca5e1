"""Kafka's JSON of a reassignment, and what ``kafka-reassign-partitions --generate`` prints.

The file is a plan or, as ``--generate`` prints it first, the current assignment. Either way it is
where the replicas are meant to be, so every other source wins over it.
"""

import re
from typing import Final

from msgspec import Struct

from emulator.cluster_image.image import ClusterImage, Partition, Topic
from sessions.own_cluster.content import Content, json_of
from sessions.own_cluster.reading import Authority, FormatError, Reading

NAME: Final = "kafka-reassign-partitions JSON"
_START: Final = re.compile(r'\s*\{\s*"(?:version|partitions)"\s*:')
_CURRENT: Final = "Current partition replica assignment"


class _Partition(Struct):
    topic: str
    partition: int
    replicas: list[int]


class Reassignment(Struct):
    """The JSON object."""

    partitions: list[_Partition]
    version: int = 1


def recognizes(head: str) -> bool:
    """Whether a text begins as a reassignment does."""
    return head.lstrip().startswith(_CURRENT) or (
        _START.match(head) is not None and '"topic"' in head and '"replicas"' in head
    )


def read(content: Content) -> Reading:
    """Return the placement of a reassignment; of ``--generate``, the current one.

    Raises:
        FormatError: it is not complete, or of an unknown version.
    """
    text = content.whole()
    notes: tuple[str, ...] = ()
    if text.lstrip().startswith(_CURRENT.encode()):
        text = next((line for line in text.splitlines() if line.startswith(b"{")), b"")
        notes = ("the current assignment was read, not the proposed one",)
    plan = json_of(text, Reassignment)
    if plan.version != 1:
        raise FormatError(f"has version {plan.version}, and only version 1 is known")
    topics: dict[str, dict[int, Partition]] = {}
    for placement in plan.partitions:
        partitions = topics.setdefault(placement.topic, {})
        if placement.partition in partitions:
            raise FormatError(f"places {placement.topic}-{placement.partition} twice")
        partitions[placement.partition] = Partition(placement.partition, tuple(placement.replicas))
    image = ClusterImage(
        topics=tuple(
            Topic(name, partitions=tuple(partitions.values()))
            for name, partitions in topics.items()
        )
    )
    return Reading(content.name, NAME, Authority.INTENT, image, notes)
