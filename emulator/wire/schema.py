"""The fields of a message, derived once from its declaration."""

from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from emulator.wire.types import Message, NullableSince, Number, Sized, Tag, Versions

ALWAYS: Final = Versions(0)


class Array(Struct, frozen=True):
    """A list of items of one kind."""

    item: "Kind"


Kind = Number | Sized | Array | type[Message]


class Field(Struct, frozen=True):
    """One field of a message.

    ``nullable_since`` is None if it is never null; ``tag`` is None if it is not tagged.
    """

    name: str
    kind: Kind
    default: Any
    versions: Versions
    nullable_since: int | None
    tag: int | None

    def is_nullable(self, version: int) -> bool:
        return self.nullable_since is not None and version >= self.nullable_since


@cache
def fields_of(message: type[Message]) -> tuple[Field, ...]:
    """Return a message's fields in wire order."""
    hints = get_type_hints(message, include_extras=True)
    return tuple(
        _field(field.encode_name, hints[field.name], _default(field)) for field in fields(message)
    )


def fields_in(message: type[Message], version: int) -> tuple[Field, ...]:
    """Return the fields of a version, without tagged ones."""
    return tuple(f for f in fields_of(message) if f.tag is None and version in f.versions)


def tagged_in(message: type[Message], version: int) -> tuple[Field, ...]:
    """Return the tagged fields of a version, in the order of their tags."""
    tagged = (f for f in fields_of(message) if f.tag is not None and version in f.versions)
    return tuple(sorted(tagged, key=lambda f: f.tag or 0))


def _default(field: Any) -> Any:  # noqa: ANN401 - msgspec's FieldInfo of a field of any type
    if field.default is not NODEFAULT:
        return field.default
    if field.default_factory is not NODEFAULT:
        return field.default_factory()
    raise TypeError(f"{field.name} has no default: a version without it could not be read")


def _field(name: str, hint: Any, default: Any) -> Field:  # noqa: ANN401 - any annotation
    kind, marks, nullable = _unwrapped(hint)
    versions, since, number = ALWAYS, 0 if nullable else None, None
    for mark in marks:
        match mark:
            case Versions():
                versions = mark
            case NullableSince(version):
                since = version
            case Tag(tag):
                number = tag
    return Field(name, kind, default, versions, since, number)


def _unwrapped(hint: Any) -> tuple[Kind, list[Any], bool]:  # noqa: ANN401 - any annotation
    """Split an annotation into its kind, its markers, and whether it allows None."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *marks = get_args(hint)
        for mark in marks:
            if isinstance(mark, Number | Sized):
                return mark, [other for other in marks if other is not mark], False
        kind, more, nullable = _unwrapped(inner)
        return kind, [*marks, *more], nullable
    if origin in (Union, UnionType):
        (inner,) = (part for part in get_args(hint) if part is not type(None))
        kind, marks, _ = _unwrapped(inner)
        return kind, marks, True
    if origin is list:
        kind, _, _ = _unwrapped(get_args(hint)[0])
        return Array(kind), [], False
    if isinstance(hint, type) and issubclass(hint, Message):
        return hint, [], False
    raise TypeError(f"{hint} is no type of the protocol")


def smallest(kind: Kind, version: int, *, flexible: bool) -> int:
    """Return the minimum size of a value, which limits the number of items in an array."""
    if isinstance(kind, Number):
        return kind.size
    if isinstance(kind, Enum):
        return 1 if flexible else (2 if kind is Sized.STRING else 4)
    if isinstance(kind, Array):
        return 1 if flexible else 4
    total = sum(_smallest_field(f, version, flexible) for f in fields_in(kind, version))
    return total + (1 if flexible else 0)


def _smallest_field(field: Field, version: int, flexible: bool) -> int:
    nullable_struct = field.is_nullable(version) and isinstance(field.kind, type)
    return 1 if nullable_struct else smallest(field.kind, version, flexible=flexible)
