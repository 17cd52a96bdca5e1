"""A search that was broken off goes on from the levels that it kept, as if it had not been."""

import pytest

from emulator.explorer.bounds import Bounds
from emulator.explorer.model import Model
from emulator.explorer.partition_model import partition_model
from emulator.explorer.search import Progress, Result, Search, SearchLevel
from emulator.explorer.specifications import GENERATIONS, Constants, specification

MODELS = {
    "two replicas": specification(GENERATIONS["Kip101"], Constants(2, 2, 2, 1), symmetric=False),
    "symmetric": specification(GENERATIONS["Kip279"], Constants(3, 2, 1, 1), symmetric=True),
    "0.10.2": partition_model(Bounds("0.10.2", records=1, crashes=1)),
    "3.9": partition_model(Bounds("3.9", records=1, elections=0, crashes=2)),
}


def told(result: Result) -> tuple[object, ...]:
    violations = [(each.name, each.faults, each.path) for each in result.violations]
    return (result.states, result.depth, result.generated, result.faults, violations)


def whole(model: Model) -> tuple[Result, list[SearchLevel]]:
    names = [each.name for each in model.properties]
    levels: list[SearchLevel] = []
    return Search(model, names).run(keep_going=True, keep=levels.append), levels


@pytest.mark.parametrize("name", MODELS)
def test_it_ends_as_if_it_had_not_been_broken_off(name: str) -> None:
    model = MODELS[name]
    names = [each.name for each in model.properties]
    result, levels = whole(model)
    assert result.complete
    for broken_off in range(0, len(levels) + 1, 3):
        search = Search(model, names)
        search.go_on_from(levels[:broken_off])
        further: list[SearchLevel] = []
        assert told(search.run(keep_going=True, keep=further.append)) == told(result)
        assert levels[:broken_off] + further == levels


def test_what_was_looked_at_already_is_not_looked_at_again() -> None:
    model = MODELS["3.9"]
    _result, levels = whole(model)
    seen: list[Progress] = []

    def observe(progress: Progress) -> str:
        seen.append(progress)
        return ""

    search = Search(model, [])
    search.go_on_from(levels[:-1])
    assert search.run(observe).complete
    assert len(seen) == 1
    assert seen[0].states > 0.9 * _result.states
