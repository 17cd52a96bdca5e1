"""Partitions: configuration decides what is under min ISR, and old leaders are not listened to."""

import pytest

from emulator.events import (
    AuditChanged,
    ClusterCreated,
    ConfigChanged,
    Event,
    IsrChanged,
    LogCreated,
    PartitionsAdded,
    PartitionStateChanged,
    PartitionStateRemoved,
    ReplicaRoleChanged,
    ReplicasAssigned,
    TopicCreated,
    TopicDeleted,
)
from sessions.model.cluster_view import ClusterView
from sessions.model.handlers import partitions
from tests.sessions.examples import folded

TP = "t-0"


def view_with(config: dict[str, str], topic_config: dict[str, str]) -> ClusterView:
    return folded(
        [
            ClusterCreated(1, 0, 0, "3.9", 1, [1, 2, 3], [], config, False),
            TopicCreated(2, 5, 0, "t", [[1, 2, 3]], topic_config),
            PartitionStateChanged(3, 6, 0, TP, 1, 0, [1, 2], 1, 0),
        ]
    )


@pytest.mark.parametrize(
    ("config", "topic_config", "min_isr"),
    [
        ({}, {}, 1),
        ({"min.insync.replicas": "2"}, {}, 2),
        ({"min.insync.replicas": "2"}, {"min.insync.replicas": "3"}, 3),
        ({"min.insync.replicas": "2"}, {"min.insync.replicas": "x"}, 2),
    ],
)
def test_min_isr_is_the_topics_or_the_clusters_or_one(
    config: dict[str, str], topic_config: dict[str, str], min_isr: int
) -> None:
    view = view_with(config, topic_config)
    assert view.partitions[TP].min_isr == min_isr
    assert view.counts().under_min_isr == (min_isr == 3)


@pytest.mark.parametrize("entity", [("topic", "t"), ("broker", "1"), ("broker", "")])
def test_a_changed_min_isr_counts_at_once_and_its_removal_too(entity: tuple[str, str]) -> None:
    view = view_with({}, {})
    view.apply(ConfigChanged(4, 9, 0, *entity, "min.insync.replicas", "3"))
    assert view.counts().under_min_isr == 1
    assert view.changed_partitions_since(3) == [TP]
    view.apply(ConfigChanged(5, 9, 0, *entity, "min.insync.replicas", ""))
    assert view.counts().under_min_isr == 0


def test_the_configuration_of_a_group_is_not_that_of_a_broker() -> None:
    view = view_with({}, {})
    before = dict(view.state.config), dict(view.state.broker_configs)
    for group in ("g", "1"):
        view.apply(ConfigChanged(4, 9, 0, "group", group, "consumer.session.timeout.ms", "50000"))
    assert (view.state.config, view.state.broker_configs) == before


def test_a_brokers_min_isr_counts_where_that_broker_leads() -> None:
    view = view_with({}, {})
    view.apply(ConfigChanged(4, 9, 0, "broker", "2", "min.insync.replicas", "3"))
    assert view.counts().under_min_isr == 0
    view.apply(PartitionStateChanged(5, 10, 0, TP, 2, 1, [1, 2], 1, 1))
    assert view.counts().under_min_isr == 1


def test_without_a_state_znode_a_partition_does_not_exist() -> None:
    view = view_with({}, {})
    view.apply(PartitionStateRemoved(4, 9, 0, TP))
    partition = view.partitions[TP]
    assert (partition.state, partition.leader, partition.isr) == ("nonexistent", None, [])
    assert (partition.leader_epoch, partition.zk_version) == (None, None)
    assert view.counts().under_replicated == 0


def test_added_partitions_get_the_numbers_after_the_old_ones() -> None:
    view = view_with({}, {})
    view.apply(PartitionsAdded(4, 9, 0, "t", 1, [[2, 3], [3, 1]]))
    assert [view.partitions[f"t-{n}"].replicas for n in range(3)] == [[1, 2, 3], [2, 3], [3, 1]]
    assert view.partitions["t-2"].created_us == 9


def test_a_moving_partition_is_reassigning() -> None:
    view = view_with({}, {})
    view.apply(ReplicasAssigned(4, 9, 0, TP, [4, 1, 2], [4], [3]))
    assert "reassigning" in list(view.statuses(view.partitions[TP]))
    view.apply(ReplicasAssigned(5, 9, 0, TP, [4, 1], [], []))
    assert "reassigning" not in list(view.statuses(view.partitions[TP]))


def test_only_the_present_leaders_own_isr_is_kept() -> None:
    view = view_with({}, {})
    view.apply(IsrChanged(4, 9, 0, TP, 1, [1], 1))
    view.apply(IsrChanged(5, 9, 0, TP, 2, [2], 1))
    assert view.partitions[TP].leader_isr == [1]


def test_ground_truth_is_taken_as_it_is() -> None:
    view = view_with({}, {})
    view.apply(AuditChanged(4, 9, 0, TP, [(3, 1)], [(4, 2)], [(5, 3)], [(6, 4)]))
    partition = view.partitions[TP]
    assert (partition.lost, partition.duplicated) == ([(3, 1)], [(4, 2)])
    assert (partition.diverged, partition.consumed_lost) == ([(5, 3)], [(6, 4)])
    assert view.counts().diverged == 1


def test_every_handler_is_for_a_type_of_event() -> None:
    assert all(issubclass(kind, Event) for kind in partitions.HANDLERS)


def test_a_leader_is_elected_uncleanly_if_the_isr_was_empty_but_not_as_the_first_one() -> None:
    view = view_with({}, {})
    assert not view.counts().unclean
    view.apply(PartitionStateChanged(4, 9, 0, TP, -1, 1, [], 1, 1))
    view.apply(PartitionStateChanged(5, 12, 0, TP, 2, 2, [2], 1, 2))
    assert view.counts().unclean == 1


def test_a_topic_that_is_created_again_has_not_been_led() -> None:
    view = view_with({}, {})
    view.apply(LogCreated(4, 7, 0, TP, 1))
    view.apply(ReplicaRoleChanged(5, 7, 0, TP, 1, "leader", 1, 0))
    assert view.partitions[TP].led
    view.apply(TopicDeleted(6, 8, 0, "t"))
    view.apply(ReplicaRoleChanged(7, 9, 0, TP, 1, "offline", -1, -1))
    view.apply(TopicCreated(8, 9, 0, "t", [[1, 2, 3]], {}))
    view.apply(PartitionStateChanged(9, 9, 0, TP, 1, 0, [1, 2, 3], 1, 0))
    assert not view.partitions[TP].led
