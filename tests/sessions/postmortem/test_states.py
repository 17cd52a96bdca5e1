"""The metadata at every moment that a real cluster was asked about is what it was.

``recordings/RELEASE/states.json`` has what the cluster said of itself before each broker was
killed, and once nothing changed any more after that.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from emulator.metadata_log.image import MetadataImage
from sessions.model.metadata_log import broker_fields, partition_fields
from sessions.postmortem.events import HistoryEvents
from sessions.postmortem.incident import begin_of, read_paths

RECORDED = sorted((Path(__file__).parent / "recordings").glob("kraft-*"))


def state_of(image: MetadataImage) -> dict[str, Any]:
    partitions = [
        {
            "topic": topic.name,
            "partition": number,
            "state": "online" if partition.leader >= 0 else "offline",
            **partition_fields(partition),
        }
        for topic, number, partition in image.partitions()
    ]
    brokers = {}
    for number, broker in image.brokers.items():
        fields = broker_fields(broker)
        brokers[str(number)] = [
            fields["fenced"],
            fields["in_controlled_shutdown"],
            broker.registrations,
        ]
    return {
        "partitions": sorted(partitions, key=lambda each: (each["topic"], each["partition"])),
        "brokers": brokers,
    }


@pytest.mark.parametrize("folder", RECORDED, ids=lambda folder: folder.name)
def test_each_recorded_state_is_reached_in_order(folder: Path) -> None:
    expected = json.loads((folder / "states.json").read_text())
    log = read_paths([str(folder)])
    history = HistoryEvents([], begin_of(log), "4.1")
    reached: list[str] = []
    waiting = iter(expected)
    wanted = next(waiting)
    for batch in log.batches():
        history.take(batch)
        while wanted is not None and state_of(history.image) == {
            name: wanted[name] for name in ("partitions", "brokers")
        }:
            assert (history.controller, history.metadata.epoch) == (
                wanted["leader"],
                wanted["epoch"],
            )
            reached.append(wanted["name"])
            wanted = next(waiting, None)
    assert reached == [each["name"] for each in expected]
