"""Fast copies of plain state that share immutable values.

A copier is built once for each type from its fields: frozen structs, numbers, text and tuples are
shared; mutable structs, lists and dicts are copied. A dict of a type of its own (the partitions
that images share) is never modified, nor is a field's default that is the same object in every
struct (``NO_BATCHES`` of an empty log), so these are shared too. Encoding and decoding has the same
result but is several times slower.
"""

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from emulator.simulation.bytes_by_number import BytesByNumber
from emulator.simulation.packed_list import PackedList

Copier = Callable[[Any], Any]


@cache
def copier(kind: Any) -> Copier | None:  # noqa: ANN401 - any type annotation
    """Return a function that copies a value of that type; None if it is shared."""
    origin = get_origin(kind)
    if origin is dict:
        return _dict_copier(copier(get_args(kind)[1]))
    if origin is list:
        return _list_copier(copier(get_args(kind)[0]))
    if origin in (Union, UnionType):
        return _union_copier(kind)
    if isinstance(kind, type) and issubclass(kind, Struct) and not kind.__struct_config__.frozen:
        return _struct_copier(kind)
    if isinstance(kind, type) and issubclass(kind, PackedList | BytesByNumber):
        return kind.copy
    return None


def _dict_copier(of_value: Copier | None) -> Copier:
    if of_value is None:
        return lambda mapping: mapping.copy() if type(mapping) is dict else mapping
    return lambda mapping: {key: of_value(value) for key, value in mapping.items()}


def _list_copier(of_item: Copier | None) -> Copier:
    if of_item is None:
        return list.copy
    return lambda items: [of_item(item) for item in items]


def _union_copier(kind: Any) -> Copier | None:  # noqa: ANN401 - any type annotation
    """The copier of a union of shared types with one mutable type, or with several structs."""
    copiers = {
        part: part_copier for part in get_args(kind) if (part_copier := copier(part)) is not None
    }
    if not copiers:
        return None
    if len(copiers) > 1:
        if not all(isinstance(part, type) and issubclass(part, Struct) for part in copiers):
            raise TypeError(f"{kind} has more than one mutable part: state has to be plainer.")
        return lambda value: copiers[type(value)](value) if type(value) in copiers else value
    if type(None) not in get_args(kind):
        raise TypeError(f"{kind} has parts that cannot be told apart: state has to be plainer.")
    (only,) = copiers.values()
    return lambda value: None if value is None else only(value)


def _struct_copier(kind: type[Struct]) -> Copier:
    hints = get_type_hints(kind)
    defaults = _shared_defaults(kind)
    mutable = [
        (name, field_copier, defaults.get(name))
        for name in hints
        if (field_copier := copier(hints[name])) is not None
    ]

    def copied(struct: Any) -> Any:  # noqa: ANN401 - a struct of that kind
        copied = struct.__copy__()
        for name, copy_field, default in mutable:
            value = getattr(struct, name)
            if value is default or value is None:
                continue
            setattr(copied, name, copy_field(value) if value else type(value)())
        return copied

    return copied


def _shared_defaults(kind: type[Struct]) -> dict[str, Any]:
    """The defaults of a struct's fields that are one object, not a new one each time."""
    shared: dict[str, Any] = {}
    for field in fields(kind):
        if field.default is not NODEFAULT:
            shared[field.name] = field.default
        elif field.default_factory is not NODEFAULT:
            default = field.default_factory()
            if default is field.default_factory():
                shared[field.name] = default
    return shared
