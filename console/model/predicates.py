"""Conditions evaluated on many rows at once: terms, and their combinations.

The grammar is :mod:`sessions.grammar.conditions`; :func:`joined` makes predicates of what it reads.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from sessions.grammar.conditions import Joined


class Node(Protocol):
    """A part of an expression, over places of rows with a searchable text each."""

    def matches(self, text: str, row: Any) -> bool:  # noqa: ANN401 - rows of any kind
        """Whether it holds of one row."""
        ...

    def select(self, places: Sequence[int], texts: "Lazy", rows: "Lazy") -> list[int]:
        """Return the places at which it holds."""
        ...


class Lazy:
    """All texts, or all rows, computed when the first term needs them."""

    def __init__(self, make: Callable[[], Sequence[Any]]) -> None:
        self._make = make
        self._made: Sequence[Any] | None = None

    def __call__(self) -> Sequence[Any]:
        if self._made is None:
            self._made = self._make()
        return self._made


class Term(Struct, frozen=True):
    """One condition: ``check`` looks at a row's text or, with ``by_row``, at the row."""

    check: Callable[[Any], bool]
    by_row: bool = False

    def matches(self, text: str, row: Any) -> bool:  # noqa: ANN401
        return self.check(row if self.by_row else text)

    def select(self, places: Sequence[int], texts: Lazy, rows: Lazy) -> list[int]:
        check, things = self.check, (rows if self.by_row else texts)()
        return [place for place in places if check(things[place])]


class All(Struct, frozen=True):
    """Every part holds. Texts are searched before rows are read, because that is quicker."""

    parts: tuple[Node, ...]

    def matches(self, text: str, row: Any) -> bool:  # noqa: ANN401
        return all(part.matches(text, row) for part in self.parts)

    def select(self, places: Sequence[int], texts: Lazy, rows: Lazy) -> list[int]:
        left = list(places)
        for part in sorted(self.parts, key=lambda part: getattr(part, "by_row", True)):
            left = part.select(left, texts, rows)
        return left


class Either(Struct, frozen=True):
    """At least one part holds."""

    parts: tuple[Node, ...]

    def matches(self, text: str, row: Any) -> bool:  # noqa: ANN401
        return any(part.matches(text, row) for part in self.parts)

    def select(self, places: Sequence[int], texts: Lazy, rows: Lazy) -> list[int]:
        chosen: set[int] = set()
        for part in self.parts:
            left = [place for place in places if place not in chosen]
            chosen.update(part.select(left, texts, rows))
        return [place for place in places if place in chosen]


class Not(Struct, frozen=True):
    """The part does not hold."""

    part: Node

    def matches(self, text: str, row: Any) -> bool:  # noqa: ANN401
        return not self.part.matches(text, row)

    def select(self, places: Sequence[int], texts: Lazy, rows: Lazy) -> list[int]:
        excluded = set(self.part.select(places, texts, rows))
        return [place for place in places if place not in excluded]


def joined(node: "Node | Joined") -> Node:
    """Combine the predicates of a condition's comparisons."""
    if not isinstance(node, Joined):
        return node
    parts = tuple(joined(part) for part in node.parts)
    if node.op == "not":
        return Not(parts[0])
    return Either(parts) if node.op == "or" else All(parts)
