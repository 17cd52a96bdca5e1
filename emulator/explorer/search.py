"""Breadth-first search: every state within a model's bounds, and a shortest path to a violation.

The search goes level by level. Where a model has faults it looks at all that may happen without
one first, then with one, and so on: the path that it finds has the fewest faults, and among those
the fewest steps. A state's parent is kept by number, so a path costs nothing until it is asked for.
"""

from array import array
from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec import Struct, field

from emulator.explorer.encoding import Encoding, Widened
from emulator.explorer.model import Action, Model, Property, Value
from emulator.explorer.successors import KnownAnswers, successors
from emulator.explorer.symmetry import Canonical, renamings

CHUNK: Final = 5_000
"""How many states are expanded between two looks at the observer."""


class Progress(Struct, frozen=True):
    """How far a search is. ``depth`` counts states, the first included; so does ``frontier``."""

    states: int
    frontier: int
    depth: int
    generated: int
    faults: int


class Violation(Struct, frozen=True):
    """A shortest path to a state in which the property ``name`` does not hold.

    ``states`` begins with the first state; ``path`` has an action for each one after it.
    """

    name: str
    faults: int
    path: list[Action]
    states: list[tuple[Value, ...]]

    @property
    def steps(self) -> int:
        """How many actions lead there."""
        return len(self.path)


class Result(Struct):
    """What a search found.

    ``depth`` counts the states on the longest of all shortest paths, the first included.
    ``generated`` counts a state each time that it is reached. ``complete``: every state within the
    bounds was looked at. ``stopped`` is why it ended before that, empty if a violation ended it.
    """

    states: int
    depth: int
    generated: int
    faults: int
    complete: bool
    stopped: str
    violations: list[Violation] = field(default_factory=list)


Observer = Callable[[Progress], str]
"""Is told how far a search is; what it returns, unless empty, is why the search has to stop."""


def _goes_on(_progress: Progress) -> str:
    return ""


class _Arrivals(Struct):
    """States that a fault leads to, and their parents, of one depth."""

    states: list[int] = field(default_factory=list)
    parents: "array[int]" = field(default_factory=lambda: array("I"))


class _Stopped(Exception):
    """The observer ended the search."""


class Search:
    """Explores a model; call :meth:`run` once."""

    def __init__(self, model: Model, properties: Collection[str] = ()) -> None:
        """Explore ``model``, and look at the ``properties`` of these names."""
        self.model = model
        self.encoding = Encoding(len(model.parts))
        self._properties = [each for each in model.properties if each.name in properties]
        self._unbroken = list(dict.fromkeys(each.name for each in self._properties))
        self._states: list[int] = []
        self._seen: set[int] = set()
        self._looked = 0
        self._parents = array("I")
        self._held: dict[tuple[int, ...], set[int]] = {}
        self._result = Result(0, 0, 1, 0, complete=False, stopped="")
        first = self.encoding.pack(model.initial)
        self._answers = KnownAnswers(self.encoding)
        self._looks = self._answers.joined(model.rules)
        self._fault_looks = self._answers.joined(model.faults)
        self._canonical = (
            None if model.symmetry is None else Canonical(self.encoding, model.symmetry)
        )
        self._first = first if self._canonical is None else self._canonical(first)

    # ---- the search

    def run(self, observe: Observer = _goes_on, *, keep_going: bool = False) -> Result:
        """Search until each property has been violated, nothing is left, or ``observe`` says so.

        ``keep_going``: go on after that; the first violation of each property is what is found.
        """
        result = self._result
        arriving = {0: _Arrivals([self._first], array("I", [0]))}
        try:
            while arriving:
                arriving = self._explore(arriving, observe, keep_going)
                result.faults += bool(arriving)
            result.complete = True
        except _Stopped as stopped:
            result.stopped = str(stopped)
        result.states = len(self._states)
        return result

    def so_far(self, reason: str) -> Result:
        """What a search has found that was broken off, for ``reason``."""
        self._result.states, self._result.stopped = len(self._states), reason
        return self._result

    def _explore(
        self, arriving: dict[int, _Arrivals], observe: Observer, keep_going: bool
    ) -> dict[int, _Arrivals]:
        """Everything that may happen with so many faults; what one more leads to, by depth."""
        states, result = self._states, self._result
        later: dict[int, _Arrivals] = {}
        low, depth = len(states), min(arriving)
        while True:
            if depth in arriving:
                self._admit(arriving.pop(depth))
            high = len(states)
            if low == high:
                if not arriving:
                    return later
                depth = min(arriving)
                continue
            result.depth = max(result.depth, depth + 1)
            self._look(keep_going)
            faulty = later.setdefault(depth + 1, _Arrivals()) if self.model.faults else _Arrivals()
            for start in range(low, high, CHUNK):
                self._expand(start, min(start + CHUNK, high), faulty)
                if len(states) > high:
                    result.depth = max(result.depth, depth + 2)
                self._look(keep_going)
                progress = Progress(
                    len(states), high - low, depth + 1, result.generated, result.faults
                )
                reason = observe(progress)
                if reason:
                    raise _Stopped(reason)
            if not faulty.states:
                later.pop(depth + 1, None)
            low, depth = high, depth + 1

    def _admit(self, arrivals: _Arrivals) -> None:
        for packed, parent in zip(arrivals.states, arrivals.parents, strict=True):
            if packed not in self._seen:
                self._seen.add(packed)
                self._states.append(packed)
                self._parents.append(parent)

    def _expand(self, low: int, high: int, faulty: _Arrivals) -> None:
        """Reach what comes after some states."""
        while low < high:
            try:
                self._reach(low, high)
                if self.model.faults:
                    self._reach_by_faults(low, high, faulty)
                return
            except Widened:
                self._answers.widen()
                if self._canonical is not None:
                    self._canonical.widen()

    def _reach(self, low: int, high: int) -> None:
        states, seen, canonical, every = self._states, self._seen, self._canonical, self._looks
        add, append, link = seen.add, states.append, self._parents.append
        generated = self._result.generated
        for index in range(low, high):
            state = states[index]
            look = list(every)
            for mask, answers in look:
                steps, further = answers[state & mask]
                if further:
                    look += further
                for difference in steps:
                    generated += 1
                    reached = state + difference
                    if canonical is not None:
                        reached = canonical(reached)
                    if reached not in seen:
                        add(reached)
                        append(reached)
                        link(index)
        self._result.generated = generated

    def _reach_by_faults(self, low: int, high: int, faulty: _Arrivals) -> None:
        states, seen, canonical = self._states, self._seen, self._canonical
        found, parents = list[int](), array("I")
        for index in range(low, high):
            state = states[index]
            look = list(self._fault_looks)
            for mask, answers in look:
                steps, further = answers[state & mask]
                look += further
                for difference in steps:
                    reached = state + difference
                    if canonical is not None:
                        reached = canonical(reached)
                    if reached not in seen:
                        found.append(reached)
                        parents.append(index)
        self._result.generated += len(found)
        faulty.states += found
        faulty.parents.extend(parents)

    # ---- what is found

    def _look(self, keep_going: bool) -> None:
        """Look at the states that have not been looked at; end if there is no more to find."""
        self._check(self._looked)
        self._looked = len(self._states)
        if not self._unbroken and self._properties and not keep_going:
            raise _Stopped

    def _check(self, low: int) -> None:
        """Look at the states from ``low`` on; each combination of parts is looked at once."""
        new, encoding = self._states[low:], self.encoding
        for reads, properties in self._by_parts().items():
            mask = encoding.mask(reads)
            held = self._held.setdefault(reads, set())
            for packed in {state & mask for state in new} - held:
                values = [encoding.value(packed, part) for part in reads]
                broken = [each.name for each in properties if not each.holds(*values)]
                if not broken:
                    held.add(packed)
                    continue
                index = next(i for i, state in enumerate(new, low) if state & mask == packed)
                for name in broken:
                    if name in self._unbroken:
                        self._unbroken.remove(name)
                        self._result.violations.append(self._violation(name, index))

    def _by_parts(self) -> dict[tuple[int, ...], list[Property]]:
        found: dict[tuple[int, ...], list[Property]] = {}
        for each in self._properties:
            if each.name in self._unbroken:
                found.setdefault(each.reads, []).append(each)
        return found

    def _violation(self, name: str, index: int) -> Violation:
        chain = [self._states[index]]
        while index:
            index = self._parents[index]
            chain.append(self._states[index])
        path, states = self._replayed([self.encoding.unpack(packed) for packed in chain[::-1]])
        return Violation(name, self._result.faults, path, states)

    def _replayed(
        self, chain: Sequence[tuple[Value, ...]]
    ) -> tuple[list[Action], list[tuple[Value, ...]]]:
        """The actions between states; with symmetry, under the names that the first state has."""
        symmetry, model = self.model.symmetry, self.model
        path: list[Action] = []
        states = [model.initial]
        for target in chain[1:]:
            targets = {target} if symmetry is None else set(renamings(symmetry, target))
            action, state = next(
                (action, state)
                for rules in (model.rules, model.faults)
                for action, state in successors(rules, states[-1])
                if state in targets
            )
            path.append(action)
            states.append(state)
        return path, states
