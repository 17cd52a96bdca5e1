"""Topic ids and partitions in the wire protocol, and their names in the emulator."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from emulator.common.names import split
from emulator.protocol import TopicDescription
from emulator.wire.types import NO_UUID

Value = TypeVar("Value")
Row = TypeVar("Row")


class WithPartitions(Protocol):
    """A topic in a request with its partitions."""

    @property
    def partitions(self) -> Sequence[Any]:
        """The partitions."""


Named = TypeVar("Named", bound=WithPartitions)
UUID_BYTES = 16
SIGN_BIT = 1 << 31
UINT32_MAX = (1 << 32) - 1


def tp_of(topic: str | None, partition: int) -> str:
    """The name of a topic's partition.

    A negative number, which no partition has, is taken as unsigned: of ``t--1`` the topic would be
    ``t-``.
    """
    return f"{topic}-{partition & UINT32_MAX}"


def split_tp(name: str) -> tuple[str, int]:
    """The topic and the number of which :func:`tp_of` made a name."""
    topic, partition = split(name)
    return topic, partition - 2 * SIGN_BIT if partition >= SIGN_BIT else partition


def named_once(topics: Iterable[Named], name: str, number: str) -> list[Named]:
    """The topics of a request as a broker has them that reads their partitions into a map.

    ``name`` and ``number`` are the fields that a topic and a partition are known by; of what is
    said of a partition again the last counts.
    """
    first: dict[str, Named] = {}
    rows: dict[str, dict[int, Any]] = {}
    for topic in topics:
        key = getattr(topic, name)
        first.setdefault(key, topic)
        rows.setdefault(key, {}).update({getattr(row, number): row for row in topic.partitions})
    return [
        replace(topic, partitions=list(rows[key].values()))  # type: ignore[type-var]
        for key, topic in first.items()
    ]


def by_topic(values: Mapping[str, Value], row: Callable[[int, Value], Row]) -> dict[str, list[Row]]:
    """The rows of each topic, made of the numbers of its partitions and their values."""
    topics: dict[str, list[Row]] = {}
    for tp, value in values.items():
        topic, number = split_tp(tp)
        topics.setdefault(topic, []).append(row(number, value))
    return topics


def uuid_bytes(text: str) -> bytes:
    """The bytes of an id in the base64 notation of ``Uuid.toString``."""
    return urlsafe_b64decode(f"{text}==")[:UUID_BYTES]


def uuid_text(data: bytes) -> str:
    """An id in the base64 notation of ``Uuid.toString``."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def topic_id_of(topic: TopicDescription) -> bytes:
    """A topic's id; topics have none before 2.8."""
    return uuid_bytes(topic.topic_id) if topic.topic_id else NO_UUID
