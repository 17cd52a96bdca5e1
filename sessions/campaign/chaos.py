"""Random faults among the statements of a run, drawn from its seed.

A fault is two statements: one that does harm and a later one that ends it. Both are statements like
any other, so whatever a run finds is a script. They fall between statements and into waits, which
are divided for it. Brokers that the script itself stops, starts or freezes are left alone, and no
broker or link has two faults at a time, so no fault is refused.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final, Literal, NamedTuple, get_args

from msgspec import Struct

from emulator.inputs.statements import (
    AnyInput,
    CrashBroker,
    CreateCluster,
    CutLink,
    DelayLink,
    FreezeBroker,
    HealLinks,
    StartBroker,
    Statement,
    StopBroker,
    ThawBroker,
    Wait,
)
from sessions.grammar.words import BadWord, nearest

Kind = Literal["crash", "stop", "freeze", "cut", "delay"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
BUDGET_MAX: Final = 100
MS: Final = 1_000
ENDS: Final = 2
"""A link is between two brokers."""
DELAYS_MS: Final = (20, 200, 2_000)
DRAWS_MAX: Final = 50
"""Attempts to find a place for a fault; after these, every target probably has one."""


class Chaos(Struct, frozen=True):
    """Kinds of faults, each with a budget: the maximum number per run."""

    budgets: dict[Kind, int]


def chaos_kinds(words: str) -> Chaos:
    """Parse ``crash,freeze:2``: kinds of faults, one of each by default.

    Raises:
        BadWord: there is no such kind, or the number is invalid.
    """
    budgets: dict[Kind, int] = {}
    for part in words.split(","):
        word, separator, number = part.partition(":")
        kind = next((fault for fault in KINDS if fault == word), None)
        if kind is None:
            raise BadWord(
                f"'{word}' is not a kind of fault: {', '.join(KINDS)}{nearest(word, KINDS)}"
            )
        if kind in budgets:
            raise BadWord(f"'{kind}' is given twice")
        if separator and not (number.isascii() and number.isdigit() and int(number) <= BUDGET_MAX):
            raise BadWord(
                f"'{part}' is not a number of faults (written {kind}:2, at most {BUDGET_MAX})"
            )
        budgets[kind] = int(number) if separator else 1
    return Chaos(budgets)


class Place(NamedTuple):
    """Where to insert a statement: before the statement ``at``, or partway through a wait."""

    at: int
    into_ms: int


class Fault(NamedTuple):
    """A fault: its target, its start and end, and its two statements."""

    target: tuple[int, ...]
    begin: Place
    end: Place
    harm: Statement
    repair: Statement


OF_BROKER: Final[dict[Kind, tuple[Callable[[int], AnyInput], Callable[[int], AnyInput], str]]] = {
    "crash": (lambda b: CrashBroker(broker=b), lambda b: StartBroker(broker=b), "start"),
    "stop": (lambda b: StopBroker(broker=b), lambda b: StartBroker(broker=b), "start"),
    "freeze": (lambda b: FreezeBroker(broker=b), lambda b: ThawBroker(broker=b), "thaw"),
}
"""The faults of brokers: the inputs that start and end them, and the verb of the latter."""
OF_PROCESSES: Final = (CrashBroker, StopBroker, StartBroker, FreezeBroker, ThawBroker)


def with_faults(
    steps: Sequence[Statement], chaos: Chaos, spec: CreateCluster, seed: int
) -> list[Statement]:
    """Return the statements with faults among them; the same ones for the same seed."""
    draw = Random(f"chaos {seed}")
    brokers = spec.broker_ids
    used = {step.input.broker for step in steps if isinstance(step.input, OF_PROCESSES)}
    free = [broker for broker in brokers if broker not in used]
    faults: list[Fault] = []
    for kind, budget in chaos.budgets.items():
        for _ in range(budget):
            fault = _drawn(draw, kind, steps, (brokers, free), faults)
            if fault is not None:
                faults.append(fault)
    return _put_in(steps, faults)


def _drawn(
    draw: Random,
    kind: Kind,
    steps: Sequence[Statement],
    brokers: tuple[list[int], list[int]],
    faults: list[Fault],
) -> Fault | None:
    """Return a fault at a time when its target has no other; None if none can be found."""
    for _ in range(DRAWS_MAX):
        if kind in OF_BROKER and not brokers[1]:
            return None
        if kind not in OF_BROKER and len(brokers[0]) < ENDS:
            return None
        begin, end = sorted((_random_place(draw, steps), _random_place(draw, steps)))
        drawn = (
            _of_broker(kind, draw.choice(brokers[1]))
            if kind in OF_BROKER
            else _of_link(kind, draw, brokers[0])
        )
        target, harm, repair = drawn
        apart = all(
            other.target != target or other.end < begin or end < other.begin for other in faults
        )
        if begin < end and apart:
            return Fault(target, begin, end, harm, repair)
    return None


def _random_place(draw: Random, steps: Sequence[Statement]) -> Place:
    """Return a random place after the first statement, possibly the end."""
    index = draw.randint(min(1, len(steps)), len(steps))
    step = steps[index].input if index < len(steps) else None
    waits_ms = step.duration_us // MS if isinstance(step, Wait) else 0
    return Place(index, draw.randrange(waits_ms) if waits_ms > 1 else 0)


def _of_broker(kind: Kind, broker: int) -> tuple[tuple[int, ...], Statement, Statement]:
    harm, repair, word = OF_BROKER[kind]
    return (
        (broker,),
        Statement(harm(broker), f"broker {kind} {broker}"),
        Statement(repair(broker), f"broker {word} {broker}"),
    )


def _of_link(
    kind: Kind, draw: Random, brokers: list[int]
) -> tuple[tuple[int, ...], Statement, Statement]:
    first, second = sorted(draw.sample(brokers, 2))
    heal = HealLinks(source=first, destination=second)
    repair = Statement(heal, f"network heal {first} {second}")
    if kind == "cut":
        harm: AnyInput = CutLink(source=first, destination=second)
        return (first, second), Statement(harm, f"network cut {first} {second}"), repair
    delay_ms = draw.choice(DELAYS_MS)
    harm = DelayLink(source=first, destination=second, delay_us=delay_ms * MS)
    return (first, second), Statement(harm, f"network delay {first} {second} {delay_ms}ms"), repair


def _put_in(steps: Sequence[Statement], faults: list[Fault]) -> list[Statement]:
    """Return the statements with those of the faults inserted."""
    added: dict[int, list[tuple[int, Statement]]] = {}
    for fault in faults:
        for place, statement in ((fault.begin, fault.harm), (fault.end, fault.repair)):
            added.setdefault(place.at, []).append((place.into_ms, statement))
    merged: list[Statement] = []
    for index, step in enumerate(steps):
        merged.extend(_divided(step, sorted(added.get(index, []), key=lambda entry: entry[0])))
    merged.extend(statement for _, statement in added.get(len(steps), []))
    return [
        Statement(statement.input, statement.text, line, statement.expected_error)
        for line, statement in enumerate(merged, start=2)
    ]


def _divided(step: Statement, inserted: list[tuple[int, Statement]]) -> list[Statement]:
    """Return a statement with others before it, or within it if it waits."""
    parts: list[Statement] = []
    spent_ms = 0
    for into_ms, statement in inserted:
        if into_ms > spent_ms:
            parts.append(_wait(into_ms - spent_ms))
            spent_ms = into_ms
        parts.append(statement)
    if not spent_ms:
        return [*parts, step]
    assert isinstance(step.input, Wait)
    return [*parts, _wait(step.input.duration_us // MS - spent_ms)]


def _wait(duration_ms: int) -> Statement:
    return Statement(Wait(duration_us=duration_ms * MS), f"wait {duration_ms}ms")
