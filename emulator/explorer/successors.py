"""What may come after a state: by asking the rules, or from what they answered before."""

from collections.abc import Iterable, Iterator, Sequence

from emulator.explorer.encoding import Encoding
from emulator.explorer.model import Action, Rule, Step, Value

Entry = tuple[tuple[int, ...], "tuple[tuple[int, Answers], ...]"]
"""The differences that steps make to a packed state, and where to look further."""


def successors(
    rules: Iterable[Rule], state: Sequence[Value]
) -> Iterator[tuple[Action, tuple[Value, ...]]]:
    """Everything that may happen in a state, and the states after it."""
    for step in _steps(rules, state):
        changed = list(state)
        for part, value in step.changes.items():
            changed[part] = value
        yield step.action, tuple(changed)


def _steps(rules: Iterable[Rule], state: Sequence[Value]) -> Iterator[Step]:
    for rule in rules:
        for outcome in rule.outcomes(*(state[part] for part in rule.reads)):
            if isinstance(outcome, Step):
                yield outcome
            else:
                yield from _steps((outcome,), state)


class Answers(dict[int, Entry]):
    """What rules that read the same parts answered, by the packed values of these parts.

    What has not been asked is asked when it is looked up. ``known`` are the packed values of what
    the rules above these have read.
    """

    __slots__ = ("encoding", "known", "reads", "rules")

    def __init__(
        self, encoding: Encoding, reads: tuple[int, ...], rules: Sequence[Rule], known: int = 0
    ) -> None:
        super().__init__()
        self.encoding = encoding
        self.reads = reads
        self.rules = rules
        self.known = known

    def __missing__(self, key: int) -> Entry:
        encoding, known = self.encoding, self.known | key
        values = [encoding.value(key, part) for part in self.reads]
        steps: list[int] = []
        further: dict[tuple[int, ...], list[Rule]] = {}
        for rule in self.rules:
            for outcome in rule.outcomes(*values):
                if isinstance(outcome, Rule):
                    further.setdefault(outcome.reads, []).append(outcome)
                else:
                    steps.append(self._difference(known, outcome))
        entry = (tuple(steps), roots(encoding, further, known))
        self[key] = entry
        return entry

    def _difference(self, known: int, step: Step) -> int:
        encoding = self.encoding
        return sum(
            encoding.code(part, value) - (known & encoding.mask((part,)))
            for part, value in step.changes.items()
        )


def by_reads(rules: Iterable[Rule]) -> dict[tuple[int, ...], list[Rule]]:
    """Rules that read the same parts are asked together."""
    found: dict[tuple[int, ...], list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.reads, []).append(rule)
    return found


def roots(
    encoding: Encoding, rules: dict[tuple[int, ...], list[Rule]], known: int = 0
) -> tuple[tuple[int, Answers], ...]:
    """Where to look rules up: the mask of what they read, and their answers."""
    return tuple(
        (encoding.mask(reads), Answers(encoding, reads, same, known))
        for reads, same in rules.items()
    )
