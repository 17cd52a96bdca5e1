"""The schema's number stands for all that a file's bytes depend on: it changes when they do."""

import json
from hashlib import sha256
from typing import Any

import msgspec

from emulator.events import ElectionHeld, Event, ProduceSent
from emulator.inputs.statements import Statement
from sessions.format import codec, schema
from sessions.format.codec import Block
from sessions.format.keyframes import Keyframe
from sessions.format.metadata import Extent, Origin, Outcome, input_checksum, meta_checksum

WRITTEN = [*Event.__subclasses__(), Block, Extent, Keyframe, Origin, Outcome, Statement]
"""What becomes bytes, each with all that is in it."""
EVENTS: list[Event] = [
    ProduceSent(7, 1_000, 6, "p1", "t-0", 0, [None, "k"], ["a", "b"], -1),
    ElectionHeld(8, 1_500, 7, "t-0", 0, "Offline", 2, [2, 0], [0, 2], [(2, "elected")]),
    ProduceSent(9, 1_500, 8, "p1", "t-0", 2, [], ["c"], 1),
]


def fingerprint() -> str:
    """Tables, types (names, order, defaults, nested ones), and the bytes of a block."""
    _, components = msgspec.json.schema_components(WRITTEN, schema_hook=packed)
    fields = {kind.__name__: kind.__struct_fields__ for kind in structs()}
    block = codec.decompress(codec.encode(EVENTS, codec.group(EVENTS)))
    sums = (
        codec.checksum(b"block", 1, 2, 3),
        meta_checksum("origin", "{}"),
        input_checksum((1, 2, 3, 4), "wait 1s", "{}"),
    )
    parts = (schema.TABLES, without_prose(components), fields, block.hex(), sums)
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def packed(kind: type) -> dict[str, Any]:
    """Lists that are packed in memory are written as lists."""
    return {"type": "array", "packed": kind.__name__}


def structs() -> set[type[msgspec.Struct]]:
    """Every struct that can be in a file."""
    found: set[type[msgspec.Struct]] = set()
    waiting: list[Any] = list(msgspec.inspect.multi_type_info(WRITTEN))
    while waiting:
        info = waiting.pop()
        if isinstance(info, msgspec.inspect.StructType):
            if info.cls in found:
                continue
            found.add(info.cls)
        if isinstance(info, msgspec.Struct):
            waiting += [getattr(info, name) for name in info.__struct_fields__]
        elif isinstance(info, tuple):
            waiting += info
    return found


def without_prose(schema: object) -> object:
    if isinstance(schema, dict):
        return {
            name: without_prose(value) for name, value in schema.items() if name != "description"
        }
    return [without_prose(each) for each in schema] if isinstance(schema, list) else schema


def test_files_of_this_schema_are_what_they_were() -> None:
    """If this fails, raise SCHEMA, and record ``python -m tests.sessions.format.release``.

    A field of an event may be added with a default, one of a state at its end with a default; where
    older files cannot be read any more, OLDEST is raised as well.
    """
    assert (schema.SCHEMA, fingerprint()) == (16, "af1eb8ec0a451e1f")


def test_the_fingerprint_covers_all_that_is_written() -> None:
    names = {kind.__name__ for kind in structs()}
    assert {"ViewState", "PartitionState", "CreateTopic", "CreateCluster", "Clause"} <= names
    assert names > {kind.__name__ for kind in Event.__subclasses__()}
