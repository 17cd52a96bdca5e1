"""Replicas whose broker has got another log directory (KIP-858)."""

import pytest

from emulator.metadata_log.changes import TopicIdPartition
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.metadata_version import METADATA_VERSION
from emulator.metadata_log.records import (
    NO_LEADER,
    UNFENCE,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from emulator.quorum_controller.quorum_controller import QuorumController
from emulator.quorum_controller.result import ApiException
from emulator.quorum_controller.settings import ControllerSettings

KEY = TopicIdPartition("id", 0)
LEVEL = 21
"""Metadata version 3.9-IV0."""


def controller_of(*records: AnyRecord) -> QuorumController:
    """An active controller: brokers 1 and 2 run, 3 has come back with a second disk."""
    image = MetadataImage()
    brokers = [RegisterBrokerRecord(broker, f"i{broker}", broker) for broker in (1, 2)]
    again = RegisterBrokerRecord(3, "i3", 30, directory=1)
    unfenced = [BrokerRegistrationChangeRecord(b, b, fenced=UNFENCE) for b in (1, 2)]
    log = [FeatureLevelRecord(METADATA_VERSION, LEVEL), *brokers, again, *unfenced, *records]
    for offset, record in enumerate(log):
        image.replay(record, offset, 1)
    return QuorumController.activate(image, ControllerSettings(100), (3, 9, 2), lambda _: 0, 0)


def leaderless(*replicas: int, isr: tuple[int, ...]) -> list[AnyRecord]:
    return [TopicRecord("t", "id"), PartitionRecord(0, "id", replicas, isr)]


def test_a_replica_on_a_former_disk_is_not_elected_by_the_unfencing_of_its_broker() -> None:
    controller = controller_of(*leaderless(3, isr=(3,)))
    unfence = BrokerRegistrationChangeRecord(3, 30, fenced=UNFENCE)
    controller.image.replay(unfence, 10, 1)
    assigned = controller.assign_replicas_to_dirs(3, 30, 1, [KEY])
    assert assigned.response == {KEY: "NONE"}
    assert assigned.records == [PartitionChangeRecord(0, "id", directories=(1,))]
    controller.appended(assigned, 11, 1, 0)
    partition = controller.image.partition("t", 0)
    assert partition is not None
    assert (partition.leader, partition.partition_epoch) == (NO_LEADER, 1)
    assert partition.directory(3) == 1


def test_each_assignment_is_a_change_of_its_own_partition_and_none_without_news() -> None:
    controller = controller_of(*leaderless(1, 3, isr=(1,)))
    first = controller.assign_replicas_to_dirs(3, 30, 1, [KEY])
    assert first.records == [PartitionChangeRecord(0, "id", leader=1, directories=(0, 1))]
    controller.appended(first, 10, 1, 0)
    assert controller.assign_replicas_to_dirs(3, 30, 1, [KEY]).records == []


def test_replicas_that_are_not_there_are_refused_one_by_one() -> None:
    controller = controller_of(*leaderless(1, 2, isr=(1, 2)))
    gone, missing = TopicIdPartition("other", 0), TopicIdPartition("id", 7)
    result = controller.assign_replicas_to_dirs(3, 30, 1, [gone, missing, KEY])
    assert result.records == []
    assert result.response == {
        gone: "UNKNOWN_TOPIC_ID",
        missing: "UNKNOWN_TOPIC_OR_PARTITION",
        KEY: "NOT_LEADER_OR_FOLLOWER",
    }


def test_a_former_incarnation_assigns_nothing() -> None:
    with pytest.raises(ApiException, match="broker epoch 30, not 3"):
        controller_of().assign_replicas_to_dirs(3, 3, 1, [])


def test_new_and_added_replicas_are_in_the_directory_of_their_broker() -> None:
    controller = controller_of(*leaderless(1, 2, isr=(1, 2)))
    added = controller.alter_partition_reassignments({("t", 0): (2, 3)})
    changes = [each for each in added.records if isinstance(each, PartitionChangeRecord)]
    assert [each.directories for each in changes] == [(0, 1, 0)]
    controller.appended(added, 10, 1, 0)
    snapshot = [each for each in controller.image.records() if isinstance(each, PartitionRecord)]
    assert [(each.replicas, each.directories) for each in snapshot] == [((2, 3, 1), (0, 1, 0))]
