"""What consumers say to each other inside the classic protocol: subscriptions and assignments.

A coordinator reads and writes these once members of both protocols are in a group. Source:
``ConsumerProtocolSubscription.json`` and ``ConsumerProtocolAssignment.json``, versions 0 to 3.
"""

from collections.abc import Iterable, Mapping
from struct import error, pack, unpack_from
from typing import Final

from msgspec import Struct

TYPE: Final = "consumer"
"""The protocol type of groups whose members are consumers."""
OWNED_SINCE, RACK_SINCE, LATEST = 1, 3, 3
"""The versions with owned partitions (KIP-429) and with a rack (KIP-881), and the last one."""


class MalformedError(Exception):
    """Bytes that are no subscription or assignment."""


class ConsumerSubscription(Struct, frozen=True):
    """A consumer's topics, the partitions that it owns by topic, and its rack."""

    topics: list[str]
    owned: dict[str, list[int]]
    rack_id: str = ""


class _Reader:
    """Reads fields one after another."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self, kind: str, size: int) -> int:
        (number,) = unpack_from(f">{kind}", self.data, self.at)
        self.at += size
        return int(number)

    def text(self) -> str:
        size = max(0, self.number("h", 2))
        if self.at + size > len(self.data):
            raise MalformedError("A text is longer than its message.")
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def partitions(self) -> dict[str, list[int]]:
        partitions: dict[str, list[int]] = {}
        for _ in range(self.number("i", 4)):
            topic = self.text()
            numbers = [self.number("i", 4) for _ in range(self.number("i", 4))]
            partitions.setdefault(topic, []).extend(numbers)
        return partitions


def version_of(data: bytes) -> int:
    """The version of a subscription, at most the latest that is known.

    Raises:
        MalformedError: there is none.
    """
    try:
        return min(_Reader(data).number("h", 2), LATEST)
    except error as cause:
        raise MalformedError("There is no version.") from cause


def subscription_of(data: bytes) -> ConsumerSubscription:
    """Decode a consumer's subscription.

    Raises:
        MalformedError: it is none.
    """
    reader = _Reader(data)
    try:
        version = reader.number("h", 2)
        topics = [reader.text() for _ in range(reader.number("i", 4))]
        size = max(0, reader.number("i", 4))
        reader.at += size
        owned = reader.partitions() if version >= OWNED_SINCE else {}
        if version > OWNED_SINCE:
            reader.number("i", 4)
        rack_id = reader.text() if version >= RACK_SINCE else ""
    except (error, UnicodeDecodeError) as cause:
        raise MalformedError("The subscription ends too early.") from cause
    return ConsumerSubscription(topics, owned, rack_id)


def assigned(data: bytes) -> tuple[dict[str, list[int]], bool]:
    """Decode partition numbers by topic, and whether an assignor added data of its own.

    Raises:
        MalformedError: it is no assignment.
    """
    if not data:
        return {}, False
    reader = _Reader(data)
    try:
        reader.number("h", 2)
        return reader.partitions(), reader.number("i", 4) > 0
    except (error, UnicodeDecodeError) as cause:
        raise MalformedError("The assignment ends too early.") from cause


def subscription(topics: Iterable[str], owned: Mapping[str, Iterable[int]]) -> bytes:
    """Encode a subscription in version 1."""
    names = list(topics)
    head = pack(">hi", OWNED_SINCE, len(names)) + b"".join(map(_text, names))
    return head + pack(">i", -1) + _partitions(owned)


def assignment(partitions: Mapping[str, Iterable[int]], version: int) -> bytes:
    """Encode partition numbers by topic."""
    return pack(">h", version) + _partitions(partitions) + pack(">i", -1)


def _text(text: str) -> bytes:
    data = text.encode()
    return pack(">h", len(data)) + data


def _partitions(partitions: Mapping[str, Iterable[int]]) -> bytes:
    rows = [
        _text(topic) + pack(f">i{len(numbers)}i", len(numbers), *numbers)
        for topic, numbers in ((topic, list(given)) for topic, given in partitions.items())
    ]
    return pack(">i", len(rows)) + b"".join(rows)
