"""How the declarations of messages are read."""

from typing import Annotated

import pytest

from emulator.wire.schema import Array, Field, fields_in, fields_of, smallest, tagged_in
from emulator.wire.types import (
    Int16,
    Int32,
    Message,
    Number,
    Sized,
    String,
    Versions,
    nullable_since,
    since,
    tag,
    until,
)


class Part(Message, frozen=True):
    index: Int32 = -1
    leader: Annotated[Int16, since(2)] = 0


class Example(Message, frozen=True):
    name: Annotated[String | None, nullable_since(1)] = ""
    parts: list[Part] = []  # noqa: RUF012
    gone: Annotated[Int32, until(3)] = 7
    second: Annotated[Int32, since(4), tag(1)] = 0
    first: Annotated[String | None, since(4), tag(0)] = None


def test_a_field_knows_its_versions_and_when_it_may_be_null() -> None:
    name, parts, gone, second, first = fields_of(Example)
    assert name == Field("name", Sized.STRING, "", Versions(0), 1, None)
    assert [name.is_nullable(version) for version in (0, 1)] == [False, True]
    assert (parts.kind, parts.default) == (Array(Part), [])
    assert gone == Field("gone", Number("i", 4), 7, Versions(0, 3), None, None)
    assert (first.tag, second.tag) == (0, 1)


def test_tagged_fields_stand_last_in_the_order_of_their_tags() -> None:
    assert [field.name for field in fields_in(Example, 3)] == ["name", "parts", "gone"]
    assert [field.name for field in fields_in(Example, 4)] == ["name", "parts"]
    assert [field.name for field in tagged_in(Example, 3)] == []
    assert [field.name for field in tagged_in(Example, 4)] == ["first", "second"]


@pytest.mark.parametrize(
    ("version", "flexible", "size"), [(0, False, 4), (2, False, 6), (0, True, 5), (2, True, 7)]
)
def test_the_fewest_bytes_of_an_item_bound_a_count(
    version: int, *, flexible: bool, size: int
) -> None:
    assert smallest(Part, version, flexible=flexible) == size


def test_a_field_without_a_default_is_refused() -> None:
    class Bare(Message, frozen=True):
        index: Int32

    with pytest.raises(TypeError, match="index has no default"):
        fields_of(Bare)


def test_a_type_that_the_protocol_does_not_have_is_refused() -> None:
    class Plain(Message, frozen=True):
        names: dict[str, int] = {}  # noqa: RUF012

    with pytest.raises(TypeError, match="is no type of the protocol"):
        fields_of(Plain)
