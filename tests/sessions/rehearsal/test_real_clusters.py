"""What real clusters did when brokers and whole racks were killed, and what is rehearsed."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import (
    Broker,
    ClusterImage,
    Controller,
    Partition,
    Quorum,
    Topic,
    ZooKeeperController,
)
from emulator.inputs.statements import CreateCluster
from sessions.own_cluster.importing import import_sources
from sessions.rehearsal import cases
from sessions.rehearsal.outcome import PartitionOutcome
from sessions.rehearsal.processes import in_processes
from sessions.rehearsal.runs import Rehearsal, run_cases
from tests.sessions.own_cluster.recorded import RECORDINGS

RECORDED = {
    path.stem: json.loads(path.read_text())
    for path in sorted((Path(__file__).parent / "recordings").glob("*.json"))
}
AS_RECORDED = {
    "auto.leader.rebalance.enable": "false",
    "broker.session.timeout.ms": "4000",
    "broker.heartbeat.interval.ms": "500",
    "zookeeper.session.timeout.ms": "6000",
    "replica.lag.time.max.ms": "4000",
}


def image_of(recording: dict[str, Any], case: dict[str, Any]) -> ClusterImage:
    partitions = defaultdict(list)
    for topic, number, replicas, leader, epoch, version, isr, elr, last in case["before"]:
        partitions[topic].append(
            Partition(
                number,
                tuple(replicas),
                leader,
                tuple(isr),
                tuple(elr),
                tuple(last),
                epoch,
                version,
            )
        )
    in_kraft_mode = recording["mode"] == "kraft"
    controller, epoch = case["controller"]
    controllers = tuple(map(Controller, recording.get("controllers", [100])))
    return ClusterImage(
        recording["release"],
        recording["mode"],
        quorum=Quorum(controller, epoch, 300, controllers) if in_kraft_mode else None,
        controller=None if in_kraft_mode else ZooKeeperController(controller, epoch),
        configs=recording["default"],
        brokers=tuple(
            Broker(int(broker), rack, up=int(broker) not in recording.get("down", []))
            for broker, rack in recording["racks"].items()
        ),
        topics=tuple(
            Topic(name, configs=recording["configs"][name], partitions=tuple(found))
            for name, found in sorted(partitions.items())
        ),
    )


def rehearsed(image: ClusterImage, lose: list[int]) -> list[dict[str, PartitionOutcome]]:
    """The partitions afterwards, in each order in which the nodes may be missed."""
    made = complete(image).image
    spec = CreateCluster(
        version=made.release or "", mode=made.mode or "", image=image, config=AS_RECORDED
    )
    rehearsal = Rehearsal(spec, made)
    [run] = run_cases([cases.named(made, lose)], made, in_processes(rehearsal, spec, 1)).cases
    return [{**rehearsal.settled, **order.outcome.changed} for order in run.orders]


def facts(partition: PartitionOutcome) -> tuple[Any, ...]:
    return (
        partition.leader,
        partition.leader_epoch,
        partition.partition_epoch,
        list(partition.isr),
        list(partition.elr),
    )


@pytest.mark.parametrize(
    ("name", "number"),
    [(name, number) for name, found in RECORDED.items() for number in range(len(found["cases"]))],
)
def test_every_partition_is_what_the_real_cluster_made_of_it(name: str, number: int) -> None:
    """Where a rack dies, the cluster misses its brokers in an order that is chance."""
    recording = RECORDED[name]
    case = recording["cases"][number]
    orders = rehearsed(image_of(recording, case), case["lose"])
    for topic, partition, *expected in case["after"]:
        seen = [facts(partitions[f"{topic}-{partition}"]) for partitions in orders]
        assert tuple(expected) in seen, (topic, partition)
        if len(case["lose"]) == 1:
            assert len(orders) == 1


@pytest.mark.parametrize(
    ("name", "case", "sources"),
    [
        ("kraft-4.1.2", "00", ["topics.txt", "brokers.json"]),
        ("kraft-4.1.2", "06", ["topics.txt", "brokers.json", "configs.txt"]),
        ("zookeeper-3.9.1", "00", ["topics.txt", "brokers.json"]),
        ("zookeeper-3.9.1", "06", ["topics.txt", "brokers.json"]),
    ],
)
def test_what_operators_paste_leads_to_the_same_leaders_and_isrs(
    name: str, case: str, sources: list[str]
) -> None:
    recording = RECORDED[name]
    found = recording["cases"][int(case)]
    folder = RECORDINGS / name / case
    by_hand = ClusterImage(recording["release"], recording["mode"])
    imported = import_sources([str(folder / source) for source in sources], by_hand)
    orders = rehearsed(imported.image, found["lose"])
    for topic, partition, leader, _epoch, _version, isr, elr in found["after"]:
        outcomes = [partitions[f"{topic}-{partition}"] for partitions in orders]
        seen = [(each.leader, list(each.isr), list(each.elr)) for each in outcomes]
        assert (leader, isr, elr) in seen, (topic, partition)
