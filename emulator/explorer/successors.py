"""The successors of a state, computed by the rules or taken from their cached outcomes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from emulator.explorer.encoding import Encoding
from emulator.explorer.model import Action, Rule, Step, Value

Look = list[Any]
"""A lookup of rules: the mask of the parts they read, and their :class:`OutcomeTable`."""

Entry = tuple[tuple[int, ...], tuple[Look, ...]]
"""The differences that steps make to a packed state, and further lookups."""


def successors(
    rules: Iterable[Rule], state: Sequence[Value]
) -> Iterator[tuple[Action, tuple[Value, ...]]]:
    """Return all steps possible in a state, with the resulting states."""
    for step in steps(rules, state):
        after = list(state)
        for part, (_before, value) in step.changes.items():
            after[part] = value
        yield step.action, tuple(after)


def steps(rules: Iterable[Rule], state: Sequence[Value]) -> Iterator[Step]:
    """Return all steps possible in a state."""
    for rule in rules:
        for outcome in rule.outcomes(*rule.given, *(state[part] for part in rule.reads)):
            if isinstance(outcome, Step):
                yield outcome
            else:
                yield from steps((outcome,), state)


class OutcomeTable(dict[int, Entry]):
    """The outcomes of rules, by the packed values of the parts they read.

    A missing entry is computed on lookup.
    """

    __slots__ = ("known", "reads", "rules")

    def __init__(
        self, known: "OutcomeCache", reads: tuple[int, ...], rules: Sequence[Rule]
    ) -> None:
        super().__init__()
        self.known = known
        self.reads = reads
        self.rules = rules

    def __missing__(self, key: int) -> Entry:
        outcomes = self.known
        encoding = outcomes.encoding
        values = {part: encoding.value(key, part) for part in self.reads}
        differences: list[int] = []
        further: list[Rule] = []
        for rule in self.rules:
            for outcome in rule.outcomes(*rule.given, *[values[part] for part in rule.reads]):
                if isinstance(outcome, Step):
                    differences.append(encoding.difference(outcome.changes))
                else:
                    further.append(outcome)
        entry = (tuple(differences), outcomes.looks(further) if further else ())
        self[key] = entry
        return entry


class OutcomeCache:
    """A cache of rules' outcomes, shared by equal rules."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self._looks: dict[tuple[Rule, ...], Look] = {}

    def looks(self, rules: Iterable[Rule]) -> tuple[Look, ...]:
        """The lookups of some rules; rules that read the same parts share a lookup."""
        by_reads: dict[tuple[int, ...], list[Rule]] = {}
        for rule in rules:
            by_reads.setdefault(rule.reads, []).append(rule)
        return tuple([self._look(reads, tuple(group)) for reads, group in by_reads.items()])

    def joined(self, rules: Sequence[Rule]) -> tuple[Look, ...]:
        """As :meth:`looks`, but a rule whose parts are a subset of another's shares its lookup."""
        groups: dict[tuple[int, ...], list[Rule]] = {}
        for rule in sorted(rules, key=lambda rule: -len(rule.reads)):
            reads = next((parts for parts in groups if set(rule.reads) <= set(parts)), rule.reads)
            groups.setdefault(reads, []).append(rule)
        return tuple(self._look(reads, tuple(group)) for reads, group in groups.items())

    def _look(self, reads: tuple[int, ...], rules: tuple[Rule, ...]) -> Look:
        look = self._looks.get(rules)
        if look is None:
            look = [self.encoding.mask(reads), OutcomeTable(self, reads, rules)]
            self._looks[rules] = look
        return look

    def widen(self) -> None:
        """Update the masks to the current encoding."""
        for look in self._looks.values():
            look[0] = self.encoding.mask(look[1].reads)
