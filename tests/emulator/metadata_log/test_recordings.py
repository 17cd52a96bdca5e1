"""What real controllers wrote adds up to what the real clusters were in."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec import ValidationError

from emulator.metadata_log.changes import MetadataDelta
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import ClearElrRecord, RemoveTopicRecord
from emulator.metadata_log.shown import LogNames, read_back, show
from tests.golden_kraft.recorded import IDS, RECORDINGS, load, read_log


def replayed(recording: dict[str, Any]) -> "tuple[MetadataImage, LogNames]":
    image, names = MetadataImage(), LogNames()
    for offset, entry in enumerate(read_log(recording["boot_log"])):
        image.replay(entry.record, offset)
        show(entry.record, names)
    return image, names


@pytest.mark.parametrize("path", RECORDINGS, ids=IDS)
def test_a_recorded_log_adds_up_to_the_recorded_marks(path: Path) -> None:
    recording = load(path)
    image, _ = replayed(recording)
    emptied: Counter[str] = Counter()
    deleted: set[str] = set()
    for mark in recording["marks"].values():
        for entry in read_log(mark["metadata_log"]):
            delta = MetadataDelta()
            if isinstance(entry.record, RemoveTopicRecord):
                deleted.add(f"topic:{image.topics[entry.record.topic_id].name}")
            image.replay(entry.record, image.offset + 1, delta=delta)
            for key, change in delta.partitions.items():
                if isinstance(entry.record, ClearElrRecord):
                    emptied[f"{change.topic}-{key.partition}"] += 1
                elif change.before is None:
                    emptied[f"{change.topic}-{key.partition}"] = 0
        expected = [recorded_partition(each) for each in mark["partitions"]]
        for each in expected:
            # The recordings count the records about a partition, and this one is about a topic.
            each["partition_epoch"] += emptied[each["partition"]]
        assert partitions(image) == expected
        assert brokers(image) == recorded_brokers(mark)
        # The recordings keep what was set for a topic that is deleted; Kafka does not.
        assert image.configs == {
            name: values for name, values in mark["configs"].items() if name not in deleted
        }
    assert image.features == recording["features"]


@pytest.mark.parametrize("path", RECORDINGS, ids=IDS)
def test_records_are_shown_as_recorded(path: Path) -> None:
    recording = load(path)
    names = LogNames()
    logs = [recording["boot_log"], *(mark["metadata_log"] for mark in recording["marks"].values())]
    for log in logs:
        for entry in read_log(log):
            shown = show(entry.record, names)
            assert {
                "type": shown.type,
                "version": shown.version,
                "data": shown.data,
            } == entry.shown


@pytest.mark.parametrize("path", RECORDINGS[::7], ids=IDS[::7])
def test_an_image_of_shown_records_is_that_of_the_log(path: Path) -> None:
    recording = load(path)
    names, image, logged = LogNames(), MetadataImage(), MetadataImage()
    logs = [recording["boot_log"], *(each["metadata_log"] for each in recording["marks"].values())]
    for offset, entry in enumerate(entry for log in logs for entry in read_log(log)):
        shown = show(entry.record, names)
        image.replay(read_back(shown.type, shown.data), offset)
        logged.replay(entry.record, offset)
    assert described(image) == described(logged)
    assert (image.features, image.configs) == (logged.features, logged.configs)


def described(image: MetadataImage) -> tuple[object, ...]:
    """Partitions by name, and the states of brokers."""
    partitions = {(topic.name, number): each for topic, number, each in image.partitions()}
    return partitions, {each.id: (each.fenced, each.is_active) for each in image.brokers.values()}


@pytest.mark.parametrize(
    ("kind", "data"),
    [("Nothing", {}), ("Topic", {"name": "t"}), ("Topic", {"name": 1, "topicId": "t"})],
)
def test_what_is_no_shown_record_is_refused(kind: str, data: dict[str, Any]) -> None:
    with pytest.raises((ValueError, ValidationError)):
        read_back(kind, data)


def partitions(image: MetadataImage) -> list[dict[str, Any]]:
    found = [
        {
            "partition": f"{topic.name}-{number}",
            "replicas": list(each.replicas),
            "isr": list(each.isr),
            "leader": each.leader,
            "leader_epoch": each.leader_epoch,
            "partition_epoch": each.partition_epoch,
            "adding": list(each.adding_replicas),
            "removing": list(each.removing_replicas),
            "recovery": each.leader_recovery_state,
            "elr": list(each.elr),
            "last_known_elr": list(each.last_known_elr),
        }
        for topic, number, each in image.partitions()
    ]
    return sorted(found, key=lambda each: str(each["partition"]))


def recorded_partition(each: dict[str, Any]) -> dict[str, Any]:
    named = {"partition": f"{each['topic']}-{each['partition']}"}
    kept = {
        "replicas",
        "isr",
        "leader",
        "leader_epoch",
        "partition_epoch",
        "adding",
        "removing",
        "recovery",
        "elr",
        "last_known_elr",
    }
    return named | {name: value for name, value in each.items() if name in kept}


def brokers(image: MetadataImage) -> dict[int, tuple[bool, bool, int]]:
    return {
        each.id: (each.fenced, each.in_controlled_shutdown, each.registrations)
        for each in image.brokers.values()
    }


def recorded_brokers(mark: dict[str, Any]) -> dict[int, tuple[bool, bool, int]]:
    return {
        each["id"]: (each["fenced"], each["in_controlled_shutdown"], each["registrations"])
        for each in mark["brokers"]
        if each["registered"]
    }
