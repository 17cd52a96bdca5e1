"""The assignors compared with Kafka's own classes.

``Assignments.java`` in the folder above computed the targets in ``assignments.json`` with the
assignors of 4.1.2; those of 4.0.2 and 4.4.0 compute the same. Those of 3.7.2, 3.8.1 and 3.9.2
computed the targets in ``assignments_3.7.json`` and so on, where they failed for the cases without
a target.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from emulator.common.java_collections import ids_in_order
from emulator.coordinator.consumer_groups.requests import (
    ASSIGNORS,
    EARLY_ASSIGNORS,
    KEEPING_ASSIGNORS,
    PREVIEWED_ASSIGNORS,
    Assignors,
)
from emulator.coordinator.modern_groups.specification import (
    AssignorError,
    GroupSpec,
    MemberSpec,
)

CASES = json.loads(Path(__file__).with_name("assignments.json").read_text("utf-8"))
PREVIEWS = {"3.7": EARLY_ASSIGNORS, "3.8": KEEPING_ASSIGNORS, "3.9": PREVIEWED_ASSIGNORS}


def spec_of(case: dict[str, Any]) -> GroupSpec:
    members = {
        row["id"]: MemberSpec(row["instance"], row["topics"], row["assigned"])
        for row in case["members"]
    }
    taken: dict[str, set[int]] = {}
    for member in members.values():
        for topic, numbers in member.assigned.items():
            taken.setdefault(topic, set()).update(numbers)
    in_order = {name: members[name] for name in ids_in_order(members)}
    return GroupSpec(in_order, case["partitions"], case["homogeneous"], taken)


@pytest.mark.parametrize("assignor", ["range", "uniform"])
@pytest.mark.parametrize("homogeneous", [True, False])
def test_members_get_what_kafka_gives_them(assignor: str, homogeneous: bool) -> None:
    cases = [
        case for case in CASES if (case["assignor"], case["homogeneous"]) == (assignor, homogeneous)
    ]
    assert len(cases) > 15
    for case in cases:
        found = ASSIGNORS[assignor](spec_of(case))
        assert {name: each for name, each in found.items() if each} == {
            name: each for name, each in case["target"].items() if each
        }


@pytest.mark.parametrize(("release", "assignors"), PREVIEWS.items())
@pytest.mark.parametrize("homogeneous", [True, False])
def test_members_of_a_preview_get_what_kafka_gives_them(
    release: str, assignors: Assignors, homogeneous: bool
) -> None:
    path = Path(__file__).with_name(f"assignments_{release}.json")
    cases = json.loads(path.read_text("utf-8"))
    cases = [case for case in cases if case["homogeneous"] == homogeneous]
    assert len(cases) > 15
    for case in cases:
        assign = assignors[case["assignor"]]
        if case["target"] is None:
            with pytest.raises(AssignorError):
                assign(spec_of(case))
            continue
        found = assign(spec_of(case))
        assert {name: each for name, each in found.items() if each} == {
            name: each for name, each in case["target"].items() if each
        }


def test_nobody_gets_nothing() -> None:
    empty = GroupSpec({}, {}, is_homogeneous=True, taken={})
    assert [assign(empty) for assign in ASSIGNORS.values()] == [{}, {}]
