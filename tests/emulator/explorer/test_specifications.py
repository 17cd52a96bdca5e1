"""The published specifications: what TLC counted of the same modules."""

from functools import cache

import pytest

from emulator.explorer.search import Result, Search
from emulator.explorer.specifications import (
    GENERATIONS,
    PROPERTIES,
    Constants,
    specification,
)
from emulator.explorer.successors import successors
from emulator.explorer.symmetry import renamings

COUNTED = {
    (2, 2, 2, 1): {
        "TruncateToHW": (1_251, 16),
        "Kip101": (1_177, 15),
        "Kip279": (1_177, 15),
        "Kip320FirstTry": (1_165, 15),
        "Kip320": (957, 15),
    },
    (2, 2, 2, 2): {
        "TruncateToHW": (10_131, 20),
        "Kip101": (9_045, 18),
        "Kip279": (9_027, 18),
        "Kip320FirstTry": (8_429, 18),
        "Kip320": (5_973, 18),
    },
    (2, 3, 3, 2): {
        "TruncateToHW": (37_667, 25),
        "Kip101": (32_933, 21),
        "Kip279": (32_713, 21),
        "Kip320FirstTry": (30_737, 22),
        "Kip320": (21_493, 22),
    },
    (3, 2, 2, 1): {
        "TruncateToHW": (67_807, 21),
        "Kip101": (59_788, 22),
        "Kip279": (60_106, 22),
        "Kip320FirstTry": (59_092, 22),
        "Kip320": (39_619, 22),
    },
}
"""Distinct states and depth by constants: replicas, log size, records, highest leader epoch."""

SHORTEST = [
    ("TruncateToHW", (2, 2, 2, 1), "WeakIsr", 8),
    ("TruncateToHW", (2, 2, 2, 1), "StrongIsr", 9),
    ("TruncateToHW", (2, 2, 2, 1), "CommittedAgreement", None),
    ("TruncateToHW", (3, 2, 2, 1), "StrongIsr", 8),
    ("TruncateToHW", (2, 2, 2, 2), "CommittedAgreement", 14),
    ("Kip101", (2, 2, 2, 1), "WeakIsr", None),
    ("Kip101", (2, 2, 2, 2), "WeakIsr", 11),
    ("Kip101", (2, 2, 2, 2), "StrongIsr", 11),
    ("Kip101", (3, 2, 2, 1), "WeakIsr", None),
    ("Kip101", (3, 2, 2, 1), "StrongIsr", 11),
    ("Kip279", (2, 2, 2, 2), "WeakIsr", None),
    ("Kip279", (2, 2, 2, 2), "StrongIsr", None),
    ("Kip279", (3, 2, 2, 1), "WeakIsr", None),
    ("Kip279", (3, 2, 2, 1), "StrongIsr", 11),
    ("Kip279", (3, 2, 2, 2), "WeakIsr", 10),
    ("Kip320FirstTry", (2, 2, 2, 2), "StrongIsr", None),
    ("Kip320FirstTry", (3, 2, 2, 1), "WeakIsr", None),
    ("Kip320", (3, 2, 2, 1), "StrongIsr", None),
]
"""The steps of the shortest counterexample; None: the property holds."""

CELLS = [(spec, constants) for constants, row in COUNTED.items() for spec in row]


@cache
def searched(spec: str, constants: tuple[int, int, int, int]) -> Result:
    """All states, and the first violation of each property."""
    model = specification(GENERATIONS[spec], Constants(*constants), symmetric=False)
    return Search(model, PROPERTIES).run(keep_going=True)


@pytest.mark.parametrize(("spec", "constants"), CELLS, ids=str)
def test_states_and_depth_are_those_that_tlc_counted(
    spec: str, constants: tuple[int, int, int, int]
) -> None:
    result = searched(spec, constants)
    assert (result.states, result.depth, result.complete) == (*COUNTED[constants][spec], True)
    violated = {violation.name for violation in result.violations}
    assert not violated & set(GENERATIONS[spec].holds)


@pytest.mark.parametrize(("spec", "constants", "name", "steps"), SHORTEST, ids=str)
def test_the_shortest_counterexample_is_as_long_as_tlcs(
    spec: str, constants: tuple[int, int, int, int], name: str, steps: int | None
) -> None:
    result = searched(spec, constants) if constants in COUNTED else until(spec, constants, name)
    found = [violation.steps for violation in result.violations if violation.name == name]
    assert found == ([] if steps is None else [steps])


def until(
    spec: str, constants: tuple[int, int, int, int], name: str, *, symmetric: bool = False
) -> Result:
    """The states up to the first violation of a property."""
    model = specification(GENERATIONS[spec], Constants(*constants), symmetric=symmetric)
    return Search(model, [name]).run()


def test_a_counterexample_is_a_path_of_the_specification() -> None:
    constants = Constants(2, 2, 2, 2)
    model = specification(GENERATIONS["Kip101"], constants, symmetric=False)
    (violation,) = Search(model, ["WeakIsr"]).run().violations
    assert violation.states[0] == model.initial
    for action, before, after in zip(
        violation.path, violation.states, violation.states[1:], strict=False
    ):
        assert (action, after) in list(successors(model.rules, before))
    broken = [
        each.name
        for each in model.properties
        if not each.holds(*(violation.states[-1][part] for part in each.reads))
    ]
    assert "WeakIsr" in broken


@pytest.mark.parametrize("spec", list(GENERATIONS))
def test_with_symmetry_each_state_stands_for_all_its_renamings(spec: str) -> None:
    """Counted another way: by the renamings of every state, without a canonical form."""
    constants = Constants(3, 1, 1, 1 if spec == "Kip320" else 0)
    plain = specification(GENERATIONS[spec], constants, symmetric=False)
    alike = specification(GENERATIONS[spec], constants, symmetric=True)
    assert alike.symmetry is not None
    seen, frontier = {plain.initial}, [plain.initial]
    while frontier:
        state = frontier.pop()
        for _action, after in successors(plain.rules, state):
            if after not in seen:
                seen.add(after)
                frontier.append(after)
    classes = {frozenset(renamings(alike.symmetry, state)) for state in seen}
    assert Search(plain).run().states == len(seen)
    assert Search(alike).run().states == len(classes)


def test_with_symmetry_the_shortest_counterexample_is_as_long() -> None:
    (violation,) = until("TruncateToHW", (3, 2, 2, 1), "StrongIsr", symmetric=True).violations
    assert violation.steps == 8


def test_what_holds_in_a_generation_is_known() -> None:
    assert GENERATIONS["Kip320"].holds == PROPERTIES
    assert all(set(each.holds) <= set(PROPERTIES) for each in GENERATIONS.values())
