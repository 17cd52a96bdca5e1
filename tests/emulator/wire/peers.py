"""Two codecs that others wrote, given our messages.

kafka-python 3 reads Kafka's own message definitions, those of releases that dropped the oldest
versions; ``kafka.protocol.old`` is what it wrote by hand before that, for the old versions only.
"""

import importlib
import pkgutil
import re
from functools import cache
from typing import Any, Final
from uuid import UUID

import kafka.protocol.old
from kafka.protocol.old.api import Request, Response
from kafka.protocol.schemas import StructField, load_json

from emulator.wire.apis import APIS
from emulator.wire.schema import Array, Field, Kind, fields_of
from emulator.wire.types import (
    Api,
    Message,
    Number,
)


@cache
def definition(name: str) -> StructField:
    """kafka-python's codec of ``FetchRequest`` and the like."""
    return StructField(load_json(name))


@cache
def defined_versions(name: str) -> range:
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", load_json(name)["validVersions"])
    assert found
    first, last = found.groups()
    return range(int(first), int(last or first) + 1)


def by_definition(message: Message, version: int, *, flexible: bool) -> bytes:
    """The bytes that kafka-python makes of a message by Kafka's definitions."""
    codec = definition(type(message).__name__)
    values = as_dict(message, version)
    found: bytes = codec.encode(values, version=version, compact=flexible, tagged=flexible)
    return found


@cache
def handwritten() -> dict[tuple[str, int], Any]:
    """kafka-python's older classes by message and version."""
    for module in pkgutil.iter_modules(kafka.protocol.old.__path__):
        importlib.import_module(f"kafka.protocol.old.{module.name}")
    return {
        (f"{APIS[kind.API_KEY].name}{side}", kind.API_VERSION): kind
        for side, base in (("Request", Request), ("Response", Response))
        for kind in concrete(base)
        if kind.API_KEY in APIS
    }


def concrete(base: Any) -> list[Any]:  # noqa: ANN401 - kafka-python has no types
    below: list[Any] = []
    for sub in base.__subclasses__():
        below += [sub, *concrete(sub)]
    return [kind for kind in below if isinstance(kind.API_VERSION, int)]


def by_hand(message: Message, version: int) -> bytes:
    """The bytes that kafka-python's older class for that version makes of a message."""
    kind = handwritten()[type(message).__name__, version]
    found: bytes = kind.SCHEMA.encode(as_row(message, version))
    return found


DROPPED: Final = (("WriteTxnMarkers", 0), ("AlterReplicaLogDirs", 0), ("DescribeLogDirs", 0))
"""Versions that Kafka 4 dropped, but whose fields its definitions still name.

kafka-python has no class of its own for the first two, and a wrong one for the third.
"""


def by_another_codec(api: Api, message: Message, version: int) -> bytes:
    """What another codec makes of a message, by Kafka's definitions wherever these know it."""
    name = type(message).__name__
    is_dropped = (api.name, version) in DROPPED
    if version not in defined_versions(name) and not is_dropped:
        return by_hand(message, version)
    return by_definition(message, version, flexible=api.is_flexible(version))


def fields_here(message: Message, version: int) -> list[Field]:
    return [field for field in fields_of(type(message)) if version in field.versions]


def as_dict(message: Message, version: int) -> dict[str, Any]:
    found = {
        field.name: plain(getattr(message, field.name), field.kind, version)
        for field in fields_here(message, version)
        if field.tag is None
    }
    tagged = (field for field in fields_here(message, version) if field.tag is not None)
    for field in sorted(tagged, key=lambda field: field.tag or 0):
        value = getattr(message, field.name)
        if value != field.default:
            found[field.name] = plain(value, field.kind, version)
    return found


def plain(value: Any, kind: Kind, version: int) -> Any:  # noqa: ANN401 - of any kind
    if isinstance(value, Message):
        return as_dict(value, version)
    if isinstance(kind, Array) and value is not None:
        return [plain(item, kind.item, version) for item in value]
    if isinstance(kind, Number) and kind.code == "16s":
        return UUID(bytes=value)
    return value


def as_row(message: Message, version: int) -> tuple[Any, ...]:
    return tuple(
        [as_row(item, version) if isinstance(item, Message) else item for item in value]
        if isinstance(value, list)
        else value
        for field in fields_here(message, version)
        for value in [getattr(message, field.name)]
    )
