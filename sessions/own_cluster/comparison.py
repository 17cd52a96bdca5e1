"""Say in words what differs between two images of a cluster."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from emulator.cluster_image.image import ClusterImage
from sessions.own_cluster.merging import KEYS, Path, is_same, keyed, subject, value_text
from sessions.text import plural

_PARTS = {"offsets": "offset", "logs": "log"}
"""Items that are named by what they are a part of."""


def compare(before: ClusterImage, after: ClusterImage) -> list[str]:
    """Return a sentence for each difference, in the order of the document.

    What only one of the images knows is a difference too: ``unknown`` stands for the other's value.
    """
    return list(_structs(before, after, ()))


def _structs(before: Struct, after: Struct, path: Path) -> Iterator[str]:
    for name in before.__struct_fields__:
        old, new = getattr(before, name), getattr(after, name)
        if old == new or is_same(name, old, new):
            continue
        here = (*path, name)
        if name in KEYS:
            yield from _items(name, old, new, here)
        elif isinstance(old, dict) or isinstance(new, dict):
            yield from _values(old, new, here)
        elif isinstance(old, Struct) and isinstance(new, Struct):
            yield from _structs(old, new, here)
        elif isinstance(old, Struct) or isinstance(new, Struct):
            yield f"{subject(here)}: {_presence(new is not None)}"
        else:
            yield f"{subject(here)}: {_text(old)} -> {_text(new)}"


def _items(name: str, before: Any, after: Any, path: Path) -> Iterator[str]:  # noqa: ANN401
    old, new = keyed(name, before), keyed(name, after)
    for key in sorted({**old, **new}):
        here = (*path, key)
        if key in old and key in new:
            yield from _structs(old[key], new[key], here)
        else:
            yield f"{_item(name, here)}: {_presence(key in new)}{_size((new | old)[key])}"


def _item(name: str, path: Path) -> str:
    match path:
        case ("topics", topic, "partitions", number):
            return f"partition {topic}-{number}"
        case ("acls", tuple(entry)):
            return f"access control entry {' '.join(entry)}"
        case _:
            owner = subject((*path, "-")).removeprefix("- of ")
            return f"{_PARTS[name]} of {owner}" if name in _PARTS else owner


def _size(item: Struct) -> str:
    partitions = getattr(item, "partitions", ())
    return f" with {plural(len(partitions), 'partition')}" if partitions else ""


def _values(before: Any, after: Any, path: Path) -> Iterator[str]:  # noqa: ANN401
    old, new = before or {}, after or {}
    if (before is None or after is None) and not old and not new:
        yield f"{subject(path)}: {_dict_text(before)} -> {_dict_text(after)}"
    for key in sorted({**old, **new}):
        if old.get(key) != new.get(key):
            old_text = value_text(old[key]) if key in old else "not set"
            new_text = value_text(new[key]) if key in new else "not set"
            yield f"{subject((*path, key))}: {old_text} -> {new_text}"


def _text(value: object) -> str:
    return "unknown" if value is None else value_text(value)


def _dict_text(value: object) -> str:
    return "unknown" if value is None else "none"


def _presence(is_there: bool) -> str:
    return "new" if is_there else "gone"
