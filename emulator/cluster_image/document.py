r"""The JSON document of a cluster image: versioned, deterministic, and readable in a diff.

It is one JSON object. Every access control entry, user, quota, broker, partition, group and
committed offset has a line of its own, so that a line-based diff shows what changed; what is
unknown is absent::

    {
        "format": "tidegauge cluster image",
        "schema": 1,
        "release": "4.1",
        "mode": "kraft",
        "brokers": [{"id": 1, "rack": "a", "up": true}],
        "topics": [
            {
                "name": "orders",
                "configs": {"min.insync.replicas": "2"},
                "partitions": [
                    {
                        "partition": 0,
                        "replicas": [1, 2, 3],
                        "leader": 1,
                        "isr": [1, 2, 3],
                        "leader_epoch": 7,
                    }
                ],
            }
        ],
    }

A reader ignores fields that it does not know, so that fields can be added without a new schema.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from emulator.cluster_image.acls import acls_of, in_words
from emulator.cluster_image.image import ClientQuota, ClusterImage, Group, Partition, Topic

FORMAT: Final = "tidegauge cluster image"
SCHEMA: Final = 1
"""The version of the document: it is increased when a field changes its meaning."""


class DocumentError(ValueError):
    """The bytes are not the document of a cluster image that can be read; the text says why."""


class _Start(Struct):
    format: str | None = None
    schema: int | None = None


_LISTS: Final = ("acls", "users", "quotas", "brokers", "topics", "groups")
_ENCODER: Final = msgspec.json.Encoder(order="deterministic")
_DECODER: Final = msgspec.json.Decoder(ClusterImage)
_START: Final = msgspec.json.Decoder(_Start)


def encode(image: ClusterImage) -> bytes:
    """Return the document of an image; equal images have equal documents."""
    return b"".join(parts(image))


def parts(image: ClusterImage) -> Iterator[bytes]:
    """Yield the document of an image piece by piece, for images that are large."""
    image = ordered(image)
    head = {"format": FORMAT, "schema": SCHEMA} | _fields(image, _LISTS)
    yield _opened(head, b",\n")
    for name in _LISTS[:4]:
        yield from _array(name.encode(), map(_line, getattr(image, name)))
    yield from _array(b"topics", (_topic(topic) for topic in image.topics))
    yield from _array(b"groups", (_group(group) for group in image.groups))
    yield b"}\n"


def decode(document: bytes) -> ClusterImage:
    """Return the image of a document.

    Raises:
        DocumentError: it is no JSON, no cluster image, or one of a newer schema.
    """
    try:
        start = _START.decode(document)
        require(start.format, start.schema)
        image = ordered(_DECODER.decode(document))
        acls_of(image.acls)
    except RecursionError:
        raise DocumentError("it is nested too deeply") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise DocumentError(str(error)) from error
    return image


def require(format_: str | None, schema: int | None) -> None:
    """Check that a document is a cluster image that can be read.

    Raises:
        DocumentError: it is not.
    """
    if format_ != FORMAT:
        raise DocumentError(f"its 'format' is not {FORMAT!r}")
    if schema is None or not 1 <= schema <= SCHEMA:
        raise DocumentError(f"its schema is {schema}, and schemas 1 to {SCHEMA} can be read")


def ordered(image: ClusterImage) -> ClusterImage:
    """Return an image whose parts are in the order of the document."""
    return replace(
        image,
        quorum=image.quorum
        and replace(image.quorum, controllers=_sorted(image.quorum.controllers, "id")),
        acls=tuple(sorted(image.acls, key=in_words)),
        users=_sorted(image.users, "name"),
        quotas=tuple(sorted(image.quotas, key=_entity)),
        brokers=_sorted(image.brokers, "id"),
        topics=tuple(
            topic
            if _is_sorted(topic.partitions)
            else replace(topic, partitions=_sorted(topic.partitions, "partition"))
            for topic in _sorted(image.topics, "name")
        ),
        groups=tuple(
            replace(
                group,
                members=_sorted(group.members, "id"),
                offsets=tuple(sorted(group.offsets, key=lambda o: (o.topic, o.partition))),
            )
            for group in _sorted(image.groups, "id")
        ),
    )


def _sorted(items: Iterable[Any], name: str) -> tuple[Any, ...]:
    return tuple(sorted(items, key=lambda item: getattr(item, name)))


def _entity(quota: ClientQuota) -> tuple[str, str, str]:
    return quota.user, quota.client_id, quota.ip


def _is_sorted(partitions: tuple[Partition, ...]) -> bool:
    numbers = [partition.partition for partition in partitions]
    return numbers == sorted(numbers)


def _topic(topic: Topic) -> bytes:
    return _object(_fields(topic, ("partitions",)), b"partitions", map(_line, topic.partitions))


def _group(group: Group) -> bytes:
    return _object(_fields(group, ("offsets",)), b"offsets", map(_line, group.offsets))


def _object(head: dict[str, Any], name: bytes, lines: Iterator[bytes]) -> bytes:
    return _opened(head, b",") + b"".join(_array(name, lines, b",")) + b"}"


def _opened(head: dict[str, Any], separator: bytes) -> bytes:
    """The start of an object that continues with arrays."""
    fields = (_line(name) + b":" + _line(value) for name, value in head.items())
    return b"{" + separator.join(fields)


def _array(name: bytes, lines: Iterator[bytes], before: bytes = b",\n") -> Iterator[bytes]:
    """An array at the end of an object, an item a line; nothing if there are no items."""
    separator = before + b'"' + name + b'":[\n'
    for line in lines:
        yield separator + line
        separator = b",\n"
    if separator == b",\n":
        yield b"\n]"


def _fields(struct: Struct, without: tuple[str, ...]) -> dict[str, Any]:
    """The known fields of a struct by name."""
    return {
        name: value
        for name in struct.__struct_fields__
        if name not in without and (value := getattr(struct, name)) is not None
    }


def _line(value: object) -> bytes:
    return _ENCODER.encode(value)
