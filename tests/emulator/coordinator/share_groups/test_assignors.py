"""The simple assignor compared with Kafka's own classes.

``Assignments.java`` in the folder above computed the targets in ``assignments.json`` with the
assignor of 4.1.2, and with that of 4.4.0, which is that of 4.2.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from emulator.common.java_collections import hash_map_order, ids_in_order, uuid_hash
from emulator.coordinator.modern_groups.specification import GroupSpec, MemberSpec
from emulator.coordinator.share_groups.assignors import balanced, by_hash

CASES = json.loads(Path(__file__).with_name("assignments.json").read_text("utf-8"))
ASSIGNORS = {"4.1": by_hash.assign, "4.2": balanced.assign}


def spec_of(case: dict[str, Any]) -> GroupSpec:
    members = {
        row["id"]: MemberSpec("", hash_map_order(row["topics"], uuid_hash), row["assigned"])
        for row in case["members"]
    }
    in_order = {name: members[name] for name in ids_in_order(members)}
    return GroupSpec(in_order, case["partitions"], case["homogeneous"], {})


@pytest.mark.parametrize("release", ASSIGNORS)
@pytest.mark.parametrize("homogeneous", [True, False])
def test_members_get_what_kafka_gives_them(release: str, homogeneous: bool) -> None:
    cases = [case for case in CASES if case["homogeneous"] == homogeneous]
    assert len(cases) == 30
    for case in cases:
        found = ASSIGNORS[release](spec_of(case))
        assert {name: each for name, each in found.items() if each} == {
            name: given
            for name, each in case["target"][release].items()
            if (given := {topic: numbers for topic, numbers in each.items() if numbers})
        }


@pytest.mark.parametrize("release", ASSIGNORS)
def test_nobody_gets_nothing(release: str) -> None:
    assert ASSIGNORS[release](GroupSpec({}, {}, is_homogeneous=True, taken={})) == {}
