"""Expansion of packed states, common to all searches: successors and property checks."""

from array import array
from collections.abc import Collection, Sequence

from emulator.explorer.encoding import Encoding, Widened
from emulator.explorer.model import Model, Property
from emulator.explorer.successors import Look, OutcomeCache
from emulator.explorer.symmetry import Canonical


class Expansion:
    """Computes the successors of a model's states."""

    def __init__(self, model: Model) -> None:
        self.encoding = Encoding(len(model.parts))
        first = self.encoding.pack(model.initial)
        self._responses = OutcomeCache(self.encoding)
        self._looks = self._responses.joined(model.rules)
        self._fault_looks = self._responses.joined(model.faults)
        self._canonical = (
            None if model.symmetry is None else Canonical(self.encoding, model.symmetry)
        )
        self.first = first if self._canonical is None else self._canonical(first)

    def reach(
        self,
        states: Sequence[int],
        indexes: range,
        visited: set[int],
        reached: list[int],
        parents: "array[int]",
    ) -> int:
        """Take every step without a fault from the states at these indexes.

        New states are added to ``visited`` and appended to ``reached``, which may be ``states``
        itself; their parents' indexes are appended to ``parents``. Returns the number of states
        generated.
        """
        while True:
            try:
                return self._reach(states, indexes, visited, reached, parents)
            except Widened:
                self.widen()

    def reach_by_faults(
        self, states: Sequence[int], indexes: range, visited: set[int]
    ) -> tuple[list[int], "array[int]", int]:
        """Take every faulty step; return new states, their parents, and the number generated."""
        while self._fault_looks:
            try:
                return self._reach_by_faults(states, indexes, visited)
            except Widened:
                self.widen()
        return [], array("I"), 0

    def widen(self) -> None:
        """Update the masks to the current encoding."""
        self._responses.widen()
        if self._canonical is not None:
            self._canonical.widen()

    def _reach(
        self,
        states: Sequence[int],
        indexes: range,
        visited: set[int],
        reached: list[int],
        parents: "array[int]",
    ) -> int:
        canonical, every = self._canonical, self._looks
        add, append, link = visited.add, reached.append, parents.append
        generated = 0
        for index in indexes:
            state = states[index]
            look: list[Look] = list(every)
            for mask, responses in look:
                steps, further = responses[state & mask]
                if further:
                    look += further
                for difference in steps:
                    generated += 1
                    after = state + difference
                    if canonical is not None:
                        after = canonical(after)
                    if after not in visited:
                        add(after)
                        append(after)
                        link(index)
        return generated

    def _reach_by_faults(
        self, states: Sequence[int], indexes: range, visited: set[int]
    ) -> tuple[list[int], "array[int]", int]:
        canonical, every = self._canonical, self._fault_looks
        reached, parents, generated = list[int](), array("I"), 0
        for index in indexes:
            state = states[index]
            look: list[Look] = list(every)
            for mask, responses in look:
                steps, further = responses[state & mask]
                look += further
                generated += len(steps)
                for difference in steps:
                    after = state + difference
                    if canonical is not None:
                        after = canonical(after)
                    if after not in visited:
                        reached.append(after)
                        parents.append(index)
        return reached, parents, generated


class Checker:
    """Finds states that violate properties; each combination of part values is checked once."""

    def __init__(self, encoding: Encoding, properties: Collection[Property]) -> None:
        self._encoding = encoding
        self._by_parts: dict[tuple[int, ...], list[Property]] = {}
        for prop in properties:
            self._by_parts.setdefault(prop.reads, []).append(prop)
        self._checked: dict[tuple[int, ...], set[int]] = {reads: set() for reads in self._by_parts}

    def broken(self, states: Sequence[int]) -> list[tuple[int, str]]:
        """The violations found, as indexes and property names, in order."""
        violations: set[tuple[int, str]] = set()
        for reads, properties in self._by_parts.items():
            mask, checked = self._encoding.mask(reads), self._checked[reads]
            broken: dict[int, list[str]] = {}
            for packed in {state & mask for state in states} - checked:
                values = [self._encoding.value(packed, part) for part in reads]
                names = [prop.name for prop in properties if not prop.holds(*values)]
                if names:
                    broken[packed] = names
                else:
                    checked.add(packed)
            if broken:
                for index, state in enumerate(states):
                    violations.update((index, name) for name in broken.get(state & mask, ()))
        return sorted(violations)

    def drop(self, name: str) -> None:
        for reads, properties in list(self._by_parts.items()):
            remaining = [prop for prop in properties if prop.name != name]
            if remaining:
                self._by_parts[reads] = remaining
            else:
                del self._by_parts[reads]
