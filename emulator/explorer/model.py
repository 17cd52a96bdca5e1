"""What can be explored: a state in parts, rules that change some of them, properties of some.

A state has one value for each part, such as what a replica is or what is on the way to it. A rule
names the parts that it reads. Where these have the same values it has the same outcomes, whatever
the rest of the state is, so a search asks it once and looks the answer up from then on. That is
what makes searching by real rules fast: among a million states few differ in any two replicas.

An outcome can be another rule, which reads more. So a rule begins with the part that most often
settles that nothing can happen.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

Value = Hashable
"""What a part can be. Equal values are one value."""


class Action(Struct, frozen=True, gc=False):
    """One step of a path: what happens, and to what."""

    name: str
    details: tuple[tuple[str, Any], ...] = ()


class Step(Struct, frozen=True, gc=False):
    """Something that may happen: for each part that it changes, what it was and what it is then."""

    action: Action
    changes: Mapping[int, tuple[Value, Value]]


class Rule(Struct, frozen=True, gc=False):
    """What may happen, by the values of the parts that it ``reads``.

    ``outcomes`` is called with what is ``given`` and then with these values. It gives steps, and
    rules that look further. Equal rules are asked once for the same values, so what is given to a
    rule should be no more than it needs.
    """

    reads: tuple[int, ...]
    outcomes: "Callable[..., Iterable[Step | Rule]]"
    given: tuple[Value, ...] = ()


class Property(Struct, frozen=True):
    """What must hold in every state: ``holds`` is called with the values of ``reads``.

    Several with one name, each on other parts, make one property together.
    """

    name: str
    reads: tuple[int, ...]
    holds: Callable[..., bool]


class Symmetry(Struct, frozen=True):
    """The renamings that make two states one.

    Each of ``places`` is a renaming: where each part goes to. ``rename`` gives the value of a part
    under the renaming of that number.
    """

    places: Sequence[tuple[int, ...]]
    rename: Callable[[int, int, Any], Value]


class Model(Struct, frozen=True):
    """A state space: the names of its parts, its first state, what may happen, what must hold.

    ``faults`` are rules that a search uses as sparingly as it can: it looks at everything that may
    happen with fewer of them first. ``kinds`` are the named tuples that values are made of, by
    which a search can be kept in files (:mod:`emulator.explorer.plain`).
    """

    parts: tuple[str, ...]
    initial: tuple[Value, ...]
    rules: Sequence[Rule]
    properties: Sequence[Property]
    faults: Sequence[Rule] = ()
    symmetry: Symmetry | None = None
    kinds: Sequence[type] = ()
