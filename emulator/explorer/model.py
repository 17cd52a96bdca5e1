"""The interface of a model: a state in parts, rules that change some, properties of some.

A state has a value for each part, such as a replica or the messages in flight to it. A rule names
the parts it reads. If these have the same values, its outcomes are the same, whatever the rest of
the state is, so a search evaluates it once and caches the outcomes. This is what makes searching
with real rules fast: among a million states, few differ in any two replicas.

An outcome can be another rule that reads more. A rule should therefore start with the part that
most often shows that nothing can happen.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

Value = Hashable
"""The value of a part. Equal values are interchangeable."""


class Action(Struct, frozen=True, gc=False):
    """One step of a path: the name of the action and its details."""

    name: str
    details: tuple[tuple[str, Any], ...] = ()

    @property
    def details_text(self) -> str:
        """The details in words, such as ``broker 2, leader 1, offset 0``."""
        return ", ".join(
            f"{name} {list(value) if isinstance(value, tuple) else value}"
            for name, value in self.details
        )


class Step(Struct, frozen=True, gc=False):
    """A possible step: the old and the new value of each part that it changes."""

    action: Action
    changes: Mapping[int, tuple[Value, Value]]


class Rule(Struct, frozen=True, gc=False):
    """The possible steps, given the values of the parts in ``reads``.

    ``outcomes`` is called with the arguments in ``given``, followed by these values. It yields
    steps, and rules that read more. Equal rules are evaluated once for the same values, so a rule
    should be given no more than it needs.
    """

    reads: tuple[int, ...]
    outcomes: "Callable[..., Iterable[Step | Rule]]"
    given: tuple[Value, ...] = ()


class Property(Struct, frozen=True):
    """A condition on every state: ``holds`` is called with the values of ``reads``.

    Several properties with the same name, each on other parts, form a single one.
    """

    name: str
    reads: tuple[int, ...]
    holds: Callable[..., bool]


class Symmetry(Struct, frozen=True):
    """The renamings that map a state to an equivalent one.

    Each of ``places`` is a renaming: the new place of each part. ``rename`` returns the value of a
    part under the renaming with that number.
    """

    places: Sequence[tuple[int, ...]]
    rename: Callable[[int, int, Any], Value]


class Model(Struct, frozen=True):
    """A state space: the names of its parts, its initial state, rules and properties.

    ``faults`` are rules used as sparingly as possible: the search explores all paths with fewer of
    them first. ``kinds`` lists the named tuples in values, so that a search can be saved to files
    (:mod:`emulator.explorer.plain`).
    """

    parts: tuple[str, ...]
    initial: tuple[Value, ...]
    rules: Sequence[Rule]
    properties: Sequence[Property]
    faults: Sequence[Rule] = ()
    symmetry: Symmetry | None = None
    kinds: Sequence[type] = ()
