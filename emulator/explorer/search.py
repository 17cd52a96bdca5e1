"""Breadth-first search: every state within a model's bounds, and a shortest path to a violation.

The search proceeds level by level. If a model has faults, it first explores all states reachable
without a fault, then with one, and so on: the path found has the fewest faults and, among those,
the fewest steps. Only the index of a state's parent is kept, so paths are computed on demand.
"""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from emulator.explorer.expansion import Checker, Expansion
from emulator.explorer.model import Action, Model, Value
from emulator.explorer.plain import Plain
from emulator.explorer.successors import successors
from emulator.explorer.symmetry import renamings

CHUNK: Final = 5_000
"""The number of states expanded between two calls of the observer."""
INTERRUPTED: Final = "it was interrupted"
"""The reason for a search that was interrupted."""


class Progress(Struct, frozen=True):
    """The progress of a search. ``depth`` and ``frontier`` count states, including the first."""

    states: int
    frontier: int
    depth: int
    generated: int
    faults: int


class Violation(Struct, frozen=True):
    """A shortest path to a state that violates the property ``name``.

    ``states`` starts with the initial state; ``path`` has an action for each of the others.
    """

    name: str
    faults: int
    path: list[Action]
    states: list[tuple[Value, ...]]

    @property
    def steps(self) -> int:
        """The number of actions on the path."""
        return len(self.path)


class Result(Struct):
    """The result of a search.

    ``depth`` is the number of states on the longest of all shortest paths, including the first.
    ``generated`` counts a state each time it is reached. ``complete``: every state within the
    bounds was explored. ``stopped`` is the reason for an early end, empty if a violation ended the
    search.
    """

    states: int
    depth: int
    generated: int
    faults: int
    complete: bool
    stopped: str
    violations: list[Violation] = field(default_factory=list)


Observer = Callable[[Progress], str]
"""A progress callback; a non-empty return value stops the search, with that reason."""


def _goes_on(_progress: Progress) -> str:
    return ""


class SearchLevel(Struct, array_like=True):
    """A level's additions to a search, to be saved: a search can resume from all levels.

    ``values`` are the new values of each part (:mod:`emulator.explorer.plain`), ``places`` the bit
    positions of each part's codes (:class:`~emulator.explorer.encoding.Encoding`). Packed states
    are numbers of ``width`` bytes each; ``faulty`` are the states reached by one more fault.
    ``broken`` are the violations so far: property, state, faults. The next level has depth
    ``depth`` and starts at state ``low``.
    """

    faults: int
    depth: int
    low: int
    result_depth: int
    generated: int
    values: list[list[bytes]]
    places: list[list[int]]
    width: int
    states: bytes
    parents: list[int]
    faulty: bytes
    faulty_parents: list[int]
    broken: list[tuple[str, int, int]]


Keep = Callable[[SearchLevel], object]
"""A callback that receives what each level has added."""


class _Arrivals(Struct):
    """The states reached by a fault at one depth, and their parents."""

    states: list[int] = field(default_factory=list)
    parents: "array[int]" = field(default_factory=lambda: array("I"))


class _Stopped(Exception):
    """The observer stopped the search."""


class Search:
    """Explores a model; call :meth:`run` once."""

    def __init__(self, model: Model, properties: Collection[str] = ()) -> None:
        """Explore ``model``, checking the ``properties`` with these names."""
        self.model = model
        checked = [prop for prop in model.properties if prop.name in properties]
        self._expansion = Expansion(model)
        self.encoding = self._expansion.encoding
        self._checker = Checker(self.encoding, checked)
        self._has_properties = bool(checked)
        self._unbroken = list(dict.fromkeys(prop.name for prop in checked))
        self._broken: list[tuple[str, int, int]] = []
        self._states: list[int] = []
        self._visited: set[int] = set()
        self._looked = 0
        self._parents = array("I")
        self._result = Result(0, 0, 1, 0, complete=False, stopped="")
        # The current level, which starts at ``_low``, and the states reached by faults, by depth.
        self._low = self._depth = 0
        self._arriving = {0: _Arrivals([self._expansion.first], array("I", [0]))}
        self._later: dict[int, _Arrivals] = {}
        self._plain = Plain(model.kinds)
        self._kept_states = 0
        self._kept_values = [0] * len(model.parts)

    # ---- the search

    def run(
        self, observe: Observer = _goes_on, *, keep_going: bool = False, keep: Keep | None = None
    ) -> Result:
        """Search until all properties are violated, no state is left, or ``observe`` stops it.

        ``keep_going``: continue after that; the result has the first violation of each property.
        ``keep`` receives what each level adds, from which :meth:`go_on_from` resumes.
        """
        result = self._result
        try:
            while True:
                self._explore(observe, keep_going, keep)
                if not self._later:
                    break
                self._arriving, self._later = self._later, {}
                self._depth = min(self._arriving)
                result.faults += 1
            result.complete = True
        except _Stopped as stopped:
            result.stopped = str(stopped)
        result.states = len(self._states)
        return result

    def so_far(self, reason: str) -> Result:
        """The result of an interrupted search, stopped for ``reason``."""
        self._result.states, self._result.stopped = len(self._states), reason
        return self._result

    def _explore(self, observe: Observer, keep_going: bool, keep: Keep | None) -> None:
        """Explore all states reachable with the current number of faults."""
        states, result, arriving = self._states, self._result, self._arriving
        while True:
            low, depth = self._low, self._depth
            if depth in arriving:
                self._admit(arriving.pop(depth))
            high = len(states)
            if low == high:
                if not arriving:
                    return
                self._depth = min(arriving)
                continue
            result.depth = max(result.depth, depth + 1)
            self._look(keep_going)
            faulty = _Arrivals()
            for start in range(low, high, CHUNK):
                self._expand(range(start, min(start + CHUNK, high)), faulty)
                if len(states) > high:
                    result.depth = max(result.depth, depth + 2)
                self._look(keep_going)
                progress = Progress(
                    len(states), high - low, depth + 1, result.generated, result.faults
                )
                reason = observe(progress)
                if reason:
                    raise _Stopped(reason)
            if faulty.states:
                self._later[depth + 1] = faulty
            self._low, self._depth = high, depth + 1
            if keep is not None:
                keep(self._added(faulty))

    def _admit(self, arrivals: _Arrivals) -> None:
        for packed, parent in zip(arrivals.states, arrivals.parents, strict=True):
            if packed not in self._visited:
                self._visited.add(packed)
                self._states.append(packed)
                self._parents.append(parent)

    def _expand(self, indexes: range, faulty: _Arrivals) -> None:
        """Compute the successors of some states."""
        states, result, expansion = self._states, self._result, self._expansion
        result.generated += expansion.reach(states, indexes, self._visited, states, self._parents)
        reached, parents, generated = expansion.reach_by_faults(states, indexes, self._visited)
        result.generated += generated
        faulty.states += reached
        faulty.parents.extend(parents)

    # ---- violations

    def _look(self, keep_going: bool) -> None:
        """Check the new states; stop if there is nothing left to find."""
        low, self._looked = self._looked, len(self._states)
        for index, name in self._checker.broken(self._states[low:]):
            if name in self._unbroken:
                self._add_violation(name, low + index, self._result.faults)
        if not self._unbroken and self._has_properties and not keep_going:
            raise _Stopped

    def _add_violation(self, name: str, index: int, faults: int) -> None:
        self._unbroken.remove(name)
        self._checker.drop(name)
        self._broken.append((name, index, faults))
        chain = [self._states[index]]
        while index:
            index = self._parents[index]
            chain.append(self._states[index])
        unpacked = [self.encoding.unpack(packed) for packed in reversed(chain)]
        self._result.violations.append(violation(self.model, name, faults, unpacked))

    # ---- saving and resuming

    def _added(self, faulty: _Arrivals) -> SearchLevel:
        """The additions since the last call."""
        result, low = self._result, self._kept_states
        self._kept_states = len(self._states)
        values = []
        for part, kept in enumerate(self._kept_values):
            new = self.encoding.values(part)[kept:]
            self._kept_values[part] += len(new)
            values.append([self._plain.encoded(value) for value in new])
        width = -(-self.encoding.bits // 8)
        return SearchLevel(
            result.faults,
            self._depth,
            self._low,
            result.depth,
            result.generated,
            values,
            self.encoding.places(),
            width,
            b"".join([state.to_bytes(width) for state in self._states[low:]]),
            self._parents[low:].tolist(),
            b"".join([state.to_bytes(width) for state in faulty.states]),
            faulty.parents.tolist(),
            list(self._broken),
        )

    def go_on_from(self, levels: Iterable[SearchLevel]) -> None:
        """Resume from the levels, in order, of an earlier search of the same model."""
        last = None
        for level in levels:
            if last is not None and level.faults > last.faults:
                self._arriving, self._later = self._later, {}
            last = level
            for part, values in enumerate(level.values):
                self.encoding.restore(part, map(self._plain.decoded, values), level.places[part])
                self._kept_values[part] = len(self.encoding.values(part))
            self._states += _numbers(level.states, level.width)
            self._parents.extend(level.parents)
            if level.faulty_parents:
                faulty = list(_numbers(level.faulty, level.width))
                self._later[level.depth] = _Arrivals(faulty, array("I", level.faulty_parents))
        if last is None:
            return
        self._expansion.widen()
        self._visited.update(self._states)
        self._low, self._depth = last.low, last.depth
        self._arriving = {
            depth: arrivals for depth, arrivals in self._arriving.items() if depth >= last.depth
        }
        result = self._result
        result.depth, result.faults = last.result_depth, last.faults
        result.generated = last.generated
        for name, index, faults in last.broken:
            self._add_violation(name, index, faults)
        self._kept_states = self._looked = len(self._states)


def _numbers(content: bytes, width: int) -> Iterator[int]:
    for start in range(0, len(content), width):
        yield int.from_bytes(content[start : start + width])


def violation(
    model: Model, name: str, faults: int, chain: Sequence[tuple[Value, ...]]
) -> Violation:
    """Return the violation in the last of a chain of states, each a successor of the previous one.

    With symmetry, replicas keep the names they have in the first state.
    """
    symmetry = model.symmetry
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
    return Violation(name, faults, path, states)
