"""Where real controllers placed replicas in clusters with racks, with brokers fenced and back.

They draw from an unseeded random number generator, so a placement is compared with all that the
emulator can draw: it has to be one of them. ``Topic`` and ``Partition`` records tell it.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import pytest

from emulator.quorum_controller.replica_placer import UsableBroker, place
from tests.golden_kraft.recorded import load

RECORDINGS = sorted((Path(__file__).parent / "racks").glob("*/*.json"))
SEEDS = 50_000
"""How many placements are drawn at most: the largest of these topics has a few thousand."""


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_real_placements_are_among_those_that_are_drawn(path: Path) -> None:
    recording = load(path)
    racks = recording["script"].partition("--racks ")[2].split()[0].split(",")
    created = list(created_together(recording, dict(enumerate(racks))))
    assert len(created) == recording["script"].count("\ntopic ")
    for brokers, partitions in created:
        replicas = [tuple(each["replicas"]) for each in partitions]
        assert is_drawn(brokers, replicas), (brokers, replicas)
        fenced = {broker.id for broker in brokers if broker.fenced}
        for each in partitions:
            assert each["isr"] == [b for b in each["replicas"] if b not in fenced]
            assert each["leader"] == each["isr"][0]


def is_drawn(brokers: list[UsableBroker], replicas: list[tuple[int, ...]]) -> bool:
    count, factor = len(replicas), len(replicas[0])
    return any(
        place(brokers, count, factor, Random(seed).randrange) == replicas for seed in range(SEEDS)
    )


def created_together(
    recording: dict[str, Any], racks: dict[int, str]
) -> Iterator[tuple[list[UsableBroker], list[dict[str, Any]]]]:
    """Yield the partitions of each batch that creates some, and the brokers as they were then."""
    fenced = dict.fromkeys(racks, False)
    for mark in recording["marks"].values():
        for _, batch in groupby(mark["metadata_log"], key=lambda entry: entry["batch"]):
            records = list(batch)
            made = [each["data"] for each in records if each["type"] == "Partition"]
            if made:
                yield [UsableBroker(b, racks[b], fenced=fenced[b]) for b in racks], made
            for each in records:
                if each["type"] == "RegisterBroker":
                    fenced[each["data"]["brokerId"]] = each["data"]["fenced"]
                elif each["type"] == "BrokerRegistrationChange" and each["data"]["fenced"]:
                    fenced[each["data"]["brokerId"]] = each["data"]["fenced"] == 1
