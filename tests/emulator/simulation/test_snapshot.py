"""Copies share what never changes, and nothing else."""

import msgspec
import pytest
from msgspec import Struct, field

from emulator.cluster import ClusterState
from emulator.simulation.bytes_by_number import BytesByNumber
from emulator.simulation.packed_list import PackedList
from emulator.simulation.snapshot import copier


class Frozen(Struct, frozen=True):
    number: int


class Part(Struct):
    names: list[str] = field(default_factory=list)
    fixed: Frozen = Frozen(1)


class Whole(Struct):
    part: Part
    parts: dict[str, Part] = field(default_factory=dict)
    maybe: Part | None = None
    numbers: tuple[int, ...] = ()


def _whole() -> Whole:
    return Whole(Part(["a"]), {"x": Part(["b"])}, Part(["c"]), (1, 2))


def _as_plain(kind: type) -> dict[str, str]:
    assert issubclass(kind, PackedList | BytesByNumber)
    return {"type": "array" if issubclass(kind, PackedList) else "object"}


def test_a_copy_is_equal() -> None:
    whole = _whole()
    copied = copier(Whole)
    assert copied is not None
    assert copied(whole) == whole


def test_changing_the_copy_leaves_the_original_alone() -> None:
    whole = _whole()
    copied = copier(Whole)
    assert copied is not None
    made = copied(whole)
    made.part.names.append("new")
    made.parts["x"].names.append("new")
    made.maybe.names.append("new")
    made.parts["y"] = Part()
    assert whole == _whole()


def test_empty_containers_are_not_shared() -> None:
    whole = Whole(Part())
    copied = copier(Whole)
    assert copied is not None
    made = copied(whole)
    made.part.names.append("new")
    made.parts["x"] = Part()
    assert whole == Whole(Part())


def test_frozen_structs_are_shared() -> None:
    whole = _whole()
    copied = copier(Whole)
    assert copied is not None
    assert copied(whole).part.fixed is whole.part.fixed


@pytest.mark.parametrize("kind", [int, str, Frozen, tuple[int, ...], int | None])
def test_what_cannot_change_needs_no_copy(kind: object) -> None:
    assert copier(kind) is None


def test_of_a_union_of_structs_the_one_that_is_there_is_copied() -> None:
    copied = copier(Part | Whole)
    assert copied is not None
    whole = _whole()
    made = copied(whole)
    assert made == whole
    assert isinstance(made, Whole)
    assert made.part is not whole.part


def test_a_union_of_mutable_types_that_cannot_be_told_apart_is_refused() -> None:
    with pytest.raises(TypeError, match="more than one mutable part"):
        copier(list[int] | dict[str, int])


def test_a_clusters_state_can_be_copied_and_encoded() -> None:
    assert copier(ClusterState) is not None
    assert msgspec.json.schema_components([ClusterState], schema_hook=_as_plain)
