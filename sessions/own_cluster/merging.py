"""Merge what several sources say into one image, and name what they disagree about.

A value that one source knows is taken; where two know different values, the source of the higher
authority wins, and of two with the same the one that was given first. ISR, ELR and the replicas
being added and removed are compared without their order, which tools print differently.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.cluster_image.document import ordered
from emulator.cluster_image.image import AclEntry, ClusterImage
from sessions.own_cluster.reading import Reading
from sessions.text import natural_list

Step = str | int | tuple[Any, ...]
Path = tuple[Step, ...]
"""Where a value is in an image: names of fields, and keys of items."""

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "acls": AclEntry.__struct_fields__,
    "brokers": ("id",),
    "controllers": ("id",),
    "groups": ("id",),
    "listeners": ("name",),
    "logs": ("broker", "future"),
    "members": ("id",),
    "offsets": ("topic", "partition"),
    "partitions": ("partition",),
    "quotas": ("user", "client_id", "ip"),
    "topics": ("name",),
    "users": ("name",),
}
"""What identifies the items of a list."""
_UNORDERED: Final = frozenset({"isr", "elr", "last_known_elr", "adding", "removing"})
_MOVING: Final = frozenset({"offset", "log_end", "high_watermark", "size", "lag"})
"""What grows on a healthy cluster between two readings: different values are no contradiction."""
_SUBJECTS: Final = {"brokers": "broker", "controllers": "controller", "topics": "topic"} | {
    "groups": "group",
    "members": "member",
    "users": "user",
}


class Contradiction(Struct, frozen=True):
    """A value that sources disagree about; the first of ``values`` wins."""

    what: str
    values: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """``leader of t-0: 3 in topics.txt wins over 2 in kcat.json``."""
        (winner, value), *others = self.values
        losers = natural_list(f"{other} in {source}" for source, other in others)
        return f"{self.what}: {value} in {winner} wins over {losers}"


class Merged(Struct, frozen=True):
    """The image of all sources together, and their contradictions in the order of the image."""

    image: ClusterImage
    contradictions: tuple[Contradiction, ...]


def merge(readings: Iterable[Reading]) -> Merged:
    """Merge readings."""
    ranked = sorted(readings, key=lambda reading: reading.authority)
    image = ClusterImage()
    contradicted: dict[Path, None] = {}
    for reading in ranked:
        image = _structs(image, reading.image, (), contradicted)
    contradictions = (_contradiction(path, ranked) for path in contradicted)
    return Merged(ordered(image), tuple(sorted(contradictions, key=lambda entry: entry.what)))


def _structs(first: Any, second: Any, path: Path, contradicted: dict[Path, None]) -> Any:  # noqa: ANN401
    changed = {}
    for name in first.__struct_fields__:
        first_value, second_value = getattr(first, name), getattr(second, name)
        value = _values(name, first_value, second_value, path, contradicted)
        if value is not first_value:
            changed[name] = value
    return replace(first, **changed) if changed else first


def _values(name: str, first: Any, second: Any, path: Path, contradicted: dict[Path, None]) -> Any:  # noqa: ANN401
    if is_unknown(name, second) or first == second:
        return first
    if is_unknown(name, first):
        return second
    here = (*path, name)
    if name in KEYS:
        return _items(name, first, second, here, contradicted)
    if isinstance(first, dict):
        for key in first.keys() & second.keys():
            if first[key] != second[key]:
                contradicted[*here, key] = None
        return {**second, **first}
    if isinstance(first, Struct):
        return _structs(first, second, here, contradicted)
    if name not in _MOVING and not is_same(name, first, second):
        contradicted[here] = None
    return first


def _items(name: str, first: Any, second: Any, path: Path, contradicted: dict[Path, None]) -> Any:  # noqa: ANN401
    items = keyed(name, first)
    for key, item in keyed(name, second).items():
        own = items.get(key)
        items[key] = item if own is None else _structs(own, item, (*path, key), contradicted)
    return tuple(items.values())


def keyed(name: str, items: Sequence[Any]) -> dict[Step, Any]:
    """Return the items of a list of an image by what identifies them."""
    fields = KEYS[name]
    if len(fields) == 1:
        (field,) = fields
        return {getattr(item, field): item for item in items}
    return {tuple(getattr(item, field) for field in fields): item for item in items}


def is_unknown(name: str, value: object) -> bool:
    """Whether a field's value means that nothing is known: no replicas are no placement."""
    return value is None or (value == () and (name == "replicas" or name in KEYS))


def is_same(name: str, first: object, second: object) -> bool:
    """Whether two values of a field mean the same."""
    if first == second:
        return True
    return (
        name in _UNORDERED
        and isinstance(first, tuple)
        and isinstance(second, tuple)
        and sorted(first) == sorted(second)
    )


# ---- contradictions in words


def _contradiction(path: Path, ranked: Sequence[Reading]) -> Contradiction:
    values: list[tuple[str, str]] = []
    for reading in ranked:
        value = _lookup(reading.image, path)
        if value is None:
            continue
        text = value_text(value)
        if all(text != other for _, other in values):
            values.append((reading.source, text))
    return Contradiction(subject(path), tuple(values))


def _lookup(value: Any, path: Path) -> Any:  # noqa: ANN401 - a part of an image
    container = ""
    for step in path:
        if value is None:
            return None
        if container:
            value, container = keyed(container, value).get(step), ""
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            value = getattr(value, str(step))
            container = str(step) if step in KEYS else ""
            if is_unknown(str(step), value):
                return None
    return value


def subject(path: Path) -> str:
    """Return what a path leads to: ``leader of t-0``, ``rack of broker 3``."""
    *outer, last = path
    name = str(last).replace("_", " ").replace("isr", "ISR").replace("elr", "ELR")
    if outer and outer[-1] in ("configs", "static_configs", "features", "values", "iterations"):
        name = f"{last} iterations" if outer[-1] == "iterations" else str(last)
        outer.pop()
    owner = _owner(tuple(outer))
    return f"{name} of {owner}" if owner else name


def _owner(path: Path) -> str:
    match path:
        case ("topics", topic, "partitions", number):
            return f"{topic}-{number}"
        case ("topics", topic, "partitions", number, "logs", (broker, *_)):
            return f"{topic}-{number} on broker {broker}"
        case ("brokers", broker, "listeners", listener):
            return f"listener {listener} of broker {broker}"
        case ("quotas", tuple(entity)):
            kinds = zip(("user", "client id", "address"), entity, strict=True)
            return "quotas of " + ", ".join(f"{kind} {part}" for kind, part in kinds if part)
        case ("groups", group, "offsets", (topic, number)):
            return f"group {group} in {topic}-{number}"
        case (*_, container, key) if container in _SUBJECTS:
            return f"{_SUBJECTS[str(container)]} {key}"
        case ():
            return ""
        case _:
            return f"the {path[-1]}"


def value_text(value: object) -> str:
    """Return a value in words: ``[1,2]``, ``none``, ``yes``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return f"[{','.join(map(value_text, value))}]"
    if value in (None, ""):
        return "none"
    return str(value)
