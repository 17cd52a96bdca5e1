"""The search itself, on models small enough to be counted by hand."""

from collections.abc import Callable, Iterator

import pytest

from emulator.explorer.encoding import Encoding, Widened
from emulator.explorer.model import Action, Model, Property, Rule, Step, Symmetry
from emulator.explorer.search import CHUNK, Progress, Search
from emulator.explorer.successors import successors


def jugs() -> Model:
    """A jug of 3 and a jug of 5 litres, which are filled, emptied and poured into each other."""
    sizes = (3, 5)

    def alone(jug: int, holds: int) -> Iterator[Step]:
        for name, then in (("fill", sizes[jug]), ("empty", 0)):
            yield Step(Action(name, (("jug", sizes[jug]),)), {jug: (holds, then)})

    def pour(source: int, target: int, holds: int) -> Iterator[Rule]:
        if holds:  # what the other holds matters only then
            yield Rule((target,), poured, (source, target, holds))

    def poured(source: int, target: int, holds: int, other: int) -> Iterator[Step]:
        moved = min(holds, sizes[target] - other)
        changes = {source: (holds, holds - moved), target: (other, other + moved)}
        yield Step(Action("pour", (("from", sizes[source]),)), changes)

    rules = [
        *(Rule((jug,), alone, (jug,)) for jug in (0, 1)),
        Rule((0,), pour, (0, 1)),
        Rule((1,), pour, (1, 0)),
    ]
    four = Property("no 4 litres", (1,), lambda holds: holds != 4)
    never = Property("no 9 litres", (0, 1), lambda small, large: small + large != 9)
    return Model(("3 litres", "5 litres"), (0, 0), rules, [four, never])


def walk(cost: Callable[[int], bool], steps: int = 6) -> Model:
    """From 0 to ``steps``, by ones without a fault or by threes with one."""

    def by_one(at: int) -> Iterator[Step]:
        if at < steps:
            yield Step(Action("one"), {0: (at, at + 1)})

    def by_three(at: int, used: int) -> Iterator[Step]:
        if at + 3 <= steps:
            yield Step(Action("three"), {0: (at, at + 3), 1: (used, used + 1)})

    def only_by_three(at: int) -> Iterator[Step]:
        if cost(at):
            yield from by_one(at)

    found = Property("not there", (0,), lambda at: at != steps)
    rules = [Rule((0,), only_by_three)]
    return Model(("at", "faults"), (0, 0), rules, [found], faults=[Rule((0, 1), by_three)])


def test_every_state_is_found_once_and_the_shortest_path_to_one() -> None:
    result = Search(jugs(), ["no 4 litres"]).run(keep_going=True)
    assert (result.states, result.depth, result.complete) == (16, 8, True)
    (violation,) = result.violations
    poured = [(action.name, dict(action.details)) for action in violation.path]
    assert poured == [
        ("fill", {"jug": 5}),
        ("pour", {"from": 5}),
        ("empty", {"jug": 3}),
        ("pour", {"from": 5}),
        ("fill", {"jug": 5}),
        ("pour", {"from": 5}),
    ]
    assert violation.states == [(0, 0), (0, 5), (3, 2), (0, 2), (2, 0), (2, 5), (3, 4)]


def test_it_ends_when_each_property_asked_for_has_been_violated() -> None:
    ended = Search(jugs(), ["no 4 litres"]).run()
    assert not ended.complete
    assert ended.states < 16
    both = Search(jugs(), ["no 4 litres", "no 9 litres"]).run()
    assert [(each.name, each.steps) for each in both.violations] == [("no 4 litres", 6)]
    assert both.complete


def test_without_properties_everything_is_looked_at() -> None:
    result = Search(jugs()).run()
    assert result.complete
    assert result.violations == []


def test_fewer_faults_go_before_fewer_steps() -> None:
    (violation,) = Search(walk(lambda _at: True), ["not there"]).run().violations
    assert (violation.faults, violation.steps) == (0, 6)
    (violation,) = Search(walk(lambda at: at != 1), ["not there"]).run().violations
    assert (violation.faults, violation.steps) == (1, 4)
    (violation,) = Search(walk(lambda at: at not in {1, 4}), ["not there"]).run().violations
    assert [action.name for action in violation.path] == ["three", "three"]


def test_a_state_that_a_fault_reaches_late_may_be_reached_earlier_without_another() -> None:
    """With one fault 4 is reached from 1 at once, but only after 3 from 0 by one step fewer."""
    result = Search(walk(lambda _at: True), ["not there"]).run(keep_going=True)
    assert result.complete
    assert result.states == 7 + 4 + 1
    assert result.depth == 7


def test_an_observer_can_end_it() -> None:
    seen: list[Progress] = []

    def observe(progress: Progress) -> str:
        seen.append(progress)
        return "enough" if progress.depth == 3 else ""

    result = Search(jugs(), ["no 4 litres"]).run(observe)
    assert (result.stopped, result.complete, result.violations) == ("enough", False, [])
    assert [progress.depth for progress in seen] == [1, 2, 3]
    assert seen[-1].states == result.states


def test_what_was_found_before_an_interruption_is_known() -> None:
    def observe(progress: Progress) -> str:
        if progress.depth == 3:
            raise KeyboardInterrupt
        return ""

    search = Search(jugs(), ["no 4 litres"])
    with pytest.raises(KeyboardInterrupt):
        search.run(observe)
    assert search.so_far("interrupted").states > 3


def test_a_rule_is_asked_once_for_the_same_values() -> None:
    asked: list[int] = []

    def count(at: int) -> Iterator[Step]:
        asked.append(at)
        if at < 3:
            yield Step(Action("up"), {0: (at, at + 1)})

    rules = [Rule((0,), count), Rule((1,), count_other := lambda at: iter(other_steps(at)))]
    assert count_other is rules[1].outcomes
    result = Search(Model(("a", "b"), (0, 0), rules, [])).run()
    assert result.states == 16
    assert len(asked) < 16


def other_steps(at: int) -> list[Step]:
    return [Step(Action("other"), {1: (at, at + 1)})] if at < 3 else []


def test_replicas_that_are_alike_are_one_state() -> None:
    def up(part: int, at: int) -> Iterator[Step]:
        if at < 3:
            yield Step(Action("up", (("part", part),)), {part: (at, at + 1)})

    symmetry = Symmetry([(0, 1), (1, 0)], lambda _number, _part, value: value)
    rules = [Rule((part,), up, (part,)) for part in (0, 1)]
    uneven = Property("not uneven", (0, 1), lambda one, other: (one, other) != (3, 1))
    mirrored = Property("not uneven", (0, 1), lambda one, other: (one, other) != (1, 3))
    model = Model(("one", "other"), (0, 0), rules, [uneven, mirrored])
    assert Search(model).run().states == 16
    alike = Model(("one", "other"), (0, 0), rules, [uneven, mirrored], symmetry=symmetry)
    result = Search(alike, ["not uneven"]).run(keep_going=True)
    assert (result.states, result.complete) == (10, True)
    (violation,) = result.violations
    # The path keeps to one naming of the replicas from its beginning to its end.
    assert violation.steps == 4
    for action, before, after in zip(
        violation.path, violation.states, violation.states[1:], strict=False
    ):
        assert (action, after) in list(successors(alike.rules, before))


def test_more_states_than_one_look_at_the_observer() -> None:
    """A part that takes many values gets bits as it needs them, in the middle of the search."""

    def up(part: int, at: int) -> Iterator[Step]:
        if at < 99:
            yield Step(Action("up"), {part: (at, at + 1)})

    rules = [Rule((part,), up, (part,)) for part in (0, 1)]
    result = Search(Model(("a", "b"), (0, 0), rules, [])).run()
    assert result.states == 100 * 100 > CHUNK
    assert (result.depth, result.generated) == (199, 1 + 2 * 99 * 100)


def test_packed_states_are_the_states() -> None:
    encoding = Encoding(3)
    states = [(a, b, c) for a in "abcde" for b in range(9) for c in ((), (1,))]
    packed = [encoding.pack(state) for state in states]
    assert len(set(packed)) == len(states)
    assert [encoding.unpack(each) for each in packed] == states
    assert encoding.distinct() == [5, 9, 2]
    assert encoding.bits == 3 + 4 + 1


def test_a_step_is_an_addition() -> None:
    encoding = Encoding(2)
    before, after = encoding.pack(("a", 1)), encoding.pack(("b", 2))
    assert before + encoding.difference({0: ("a", "b"), 1: (1, 2)}) == after
    with pytest.raises(Widened):
        encoding.difference({0: ("a", "c")})
    assert encoding.unpack(before) == ("a", 1)
