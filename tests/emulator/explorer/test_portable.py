"""States as bytes: the same in every process, and expanded as the search itself expands them."""

import pytest

from emulator.explorer.bounds import Bounds
from emulator.explorer.model import Model
from emulator.explorer.partition_model import partition_model
from emulator.explorer.plain import Plain
from emulator.explorer.portable import FINGERPRINT_BYTES, Portable, fingerprint
from emulator.explorer.question import Question, Release, Specification
from emulator.explorer.search import Search
from emulator.explorer.specifications import GENERATIONS, Constants, Quorum, Record, specification

SMALL = Constants(2, 2, 2, 1)
MODELS = {
    "two replicas": specification(GENERATIONS["Kip279"], SMALL, symmetric=False),
    "symmetric": specification(GENERATIONS["Kip279"], Constants(3, 2, 1, 1), symmetric=True),
    "3.9": partition_model(Bounds("3.9", records=1, elections=1, crashes=0)),
}


def explored(model: Model) -> tuple[int, int, int]:
    """States, depth and how often one was reached, each state expanded by a reader of its own."""
    first, _broken = Portable(model).first
    seen, level, depth, generated = {first}, [first], 0, 1
    while level:
        depth += 1
        following: set[bytes] = set()
        for start in range(2):  # two processes, each of which numbers values in its own order
            reached, more = Portable(model).after(level[start::2])
            generated += more
            following |= {each.state for each in reached if not each.by_fault}
        level = sorted(following - seen)
        seen |= following
    return len(seen), depth, generated


@pytest.mark.parametrize("name", MODELS)
def test_processes_that_share_nothing_count_the_same_states(name: str) -> None:
    model = MODELS[name]
    result = Search(model).run()
    assert explored(model) == (result.states, result.depth, result.generated)


def test_a_state_is_read_as_it_was() -> None:
    model = MODELS["3.9"]
    portable = Portable(model)
    first, _broken = portable.first
    assert portable.read(first) == model.initial
    reached, _count = portable.after([first])
    assert reached
    for each in reached:
        after = Portable(model).read(each.state)
        assert [type(value) for value in after] == [type(value) for value in model.initial]


def test_faults_are_told_apart_and_parents_named() -> None:
    portable = Portable(partition_model(Bounds("3.9", crashes=1)))
    first, _broken = portable.first
    steps, _count = portable.after([first])
    assert {each.by_fault for each in steps} == {False, True}
    further, _count = portable.after([each.state for each in steps])
    assert {each.parent for each in further} <= set(range(len(steps)))


def test_what_a_state_violates_is_told() -> None:
    model = specification(GENERATIONS["TruncateToHW"], SMALL, symmetric=False)
    portable = Portable(model, ["WeakIsr"])
    level, broken = [portable.first[0]], []
    for _ in range(8):
        reached, _count = portable.after(level)
        broken.append({name for each in reached for name in each.broken})
        level = [each.state for each in reached]
    assert broken == [*([set()] * 7), {"WeakIsr"}]


def test_equal_values_have_equal_bytes_and_only_what_is_known_is_written() -> None:
    plain = Plain([Record, Quorum])
    values = [(), (1, (Record(0, 1), Record(1, 1)), None), Quorum(1, -1, 3), "text", True, -5]
    for value in values:
        read = plain.decoded(plain.encoded(value))
        assert (read, type(read)) == (value, type(value))
    assert len({plain.encoded(value) for value in values}) == len(values)
    with pytest.raises(TypeError, match="Quorum is not among the kinds"):
        Plain([Record]).encoded((Quorum(1, -1, 3),))
    with pytest.raises(TypeError, match="cannot be kept: list"):
        plain.encoded([])  # type: ignore[arg-type]


def test_a_question_makes_the_model_that_it_names() -> None:
    asked = Question(Release(Bounds("3.9", replicas=3)), ("HwMonotonic",))
    assert asked.of.model().parts[:3] == ("replica 1", "replica 2", "replica 3")
    named = Specification("Kip320", SMALL, symmetric=True)
    assert named.model().symmetry is not None


def test_fingerprints_are_of_one_length() -> None:
    assert len(fingerprint(b"")) == len(fingerprint(b"a" * 999)) == FINGERPRINT_BYTES
