"""What differs between two looks at a running cluster, as events."""

from typing import Any

import pytest
from msgspec.structs import replace

from emulator import events
from emulator.cluster_image.image import (
    Broker,
    ClusterImage,
    CommittedOffset,
    Controller,
    Group,
    Member,
    Partition,
    Quorum,
    ReplicaLog,
    Topic,
    ZooKeeperController,
)
from emulator.events import Event
from sessions.attached.changes import Changes
from sessions.model.authority import authority
from sessions.model.cluster_view import ClusterView
from sessions.model.verdict import HEALTHY, verdict

VERSION = "4.1.2"
T0 = Partition(0, (1, 2), 1, (1, 2), leader_epoch=3, log_start=2, log_end=9, high_watermark=9)
BROKERS = (Broker(1, rack="a", up=True, fenced=False), Broker(2, rack="", up=True, fenced=False))
IMAGE = ClusterImage(
    mode="kraft",
    quorum=Quorum(100, 4, controllers=(Controller(100, up=True, voter=True),)),
    brokers=BROKERS,
    topics=(Topic("t", id="AAAAAAAAAAAAAAAAAAAAAQ", configs={}, partitions=(T0,)),),
)


class Looks:
    """Images one after another, with the view that their events are folded into."""

    def __init__(self, *images: ClusterImage) -> None:
        self.changes = Changes()
        self.view = ClusterView()
        self.told: list[Event] = []
        for image in images:
            self.look(image)

    def look(self, image: ClusterImage, **log_ends: int) -> list[Any]:
        ends = {int(node.removeprefix("n")): end for node, end in log_ends.items()}
        time_us = self.view.time_us + 2_000_000
        self.told = self.changes.look(image, ends, VERSION, time_us)
        self.view.apply_all(self.told)
        return self.told


def of(kind: type[Event], told: list[Any]) -> list[Any]:
    return [event for event in told if type(event) is kind]


def with_partition(partition: Partition, image: ClusterImage = IMAGE, **more: Any) -> ClusterImage:
    topic = replace(image.topics[0], partitions=(partition,))
    return replace(image, topics=(topic,), **more)


def test_the_first_look_tells_everything_that_is_known() -> None:
    view = Looks(IMAGE).view
    partition = view.partitions["t-0"]
    assert (partition.leader, partition.leader_epoch, partition.isr) == (1, 3, [1, 2])
    assert view.status(partition) == "healthy"
    leader = partition.replica_states[1]
    assert (leader.role, leader.log_start) == ("leader", 2)
    assert (leader.log_end_offset, leader.high_watermark) == (9, 9)
    assert view.state.quorum is not None
    assert (view.state.quorum.leader, view.state.quorum.epoch) == (100, 4)
    assert view.counts().brokers_up == 2
    assert [view.state.brokers[number].rack for number in (1, 2)] == ["a", None]


def test_what_no_client_is_told_is_unknown_and_not_zero() -> None:
    view = Looks(IMAGE).view
    follower = view.partitions["t-0"].replica_states[2]
    assert (follower.high_watermark, follower.log_end_offset, follower.epochs) == (-1, -1, None)
    assert view.partitions["t-0"].zk_version == -1
    assert view.state.is_observed
    lagging = replace(T0, logs=(ReplicaLog(1, lag=0), ReplicaLog(2, lag=4)))
    behind = Looks(with_partition(lagging)).view.partitions["t-0"].replica_states[2]
    assert (behind.log_end_offset, behind.high_watermark) == (5, -1)


def test_nothing_new_is_no_event() -> None:
    looks = Looks(IMAGE)
    assert looks.look(IMAGE) == []
    assert looks.look(replace(IMAGE)) == []


@pytest.mark.parametrize(("fenced", "word"), [(True, "fenced"), (None, "stopped")])
def test_a_broker_that_is_gone_is_the_cause_of_what_it_led(fenced: bool | None, word: str) -> None:
    looks = Looks(IMAGE)
    lost = (replace(BROKERS[0], up=False, fenced=fenced), BROKERS[1])
    after = with_partition(replace(T0, leader=2, isr=(2,), leader_epoch=4), brokers=lost)
    told = looks.look(after)
    (gone,) = of(events.BrokerStateChanged, told)
    assert (gone.broker, gone.state, gone.level) == (1, word, 2)
    (state,) = of(events.PartitionStateChanged, told)
    assert (state.leader, state.isr, state.cause) == (2, [2], gone.seq)
    partition = looks.view.partitions["t-0"]
    assert partition.replica_states[2].role == "leader"
    assert looks.view.role(partition.replica_states[1]) == "offline"
    assert looks.view.status(partition) == "at_min_isr"
    back = looks.look(with_partition(replace(T0, leader=2, isr=(2, 1), leader_epoch=4)))
    assert [(e.broker, e.role) for e in of(events.ReplicaRoleChanged, back)] == [(1, "follower")]
    assert [e.isr for e in of(events.IsrChanged, back)] == [[2, 1]]


def test_the_elr_is_what_clients_are_told() -> None:
    looks = Looks(with_partition(replace(T0, elr=(), last_known_elr=())))
    assert of(events.EligibleReplicasChanged, looks.told) == []
    told = looks.look(with_partition(replace(T0, isr=(1,), elr=(2,), last_known_elr=())))
    (elr,) = of(events.EligibleReplicasChanged, told)
    assert (elr.elr, elr.last_known_elr) == ([2], [])
    partition = looks.view.partitions["t-0"]
    assert (partition.elr, partition.last_known_elr) == ([2], [])


def test_offsets_that_grow_are_records_of_unknown_content() -> None:
    looks = Looks(IMAGE)
    told = looks.look(with_partition(replace(T0, log_end=15, high_watermark=15)))
    (appended,) = of(events.RecordsAppended, told)
    assert (appended.base_offset, appended.count, appended.broker) == (9, 6, 1)
    (moved,) = of(events.HighWatermarkChanged, told)
    assert (moved.previous, moved.high_watermark) == (9, 15)
    assert looks.view.values("t-0", 1) == []
    gone = looks.look(with_partition(replace(T0, log_end=12, high_watermark=12)))
    (back,) = of(events.HighWatermarkChanged, gone)
    assert (back.previous, back.high_watermark) == (15, 12)
    assert of(events.RecordsAppended, gone) == []


def test_a_topic_with_fewer_partitions_was_made_again_where_topics_have_no_ids() -> None:
    topic = replace(IMAGE.topics[0], id=None)
    second = replace(T0, partition=1)
    looks = Looks(replace(IMAGE, topics=(replace(topic, partitions=(T0, second)),)))
    looks.look(replace(IMAGE, topics=(topic,)))
    assert [*looks.view.partitions] == ["t-0"]


def test_a_topic_that_was_made_again_is_another_one() -> None:
    looks = Looks(IMAGE)
    again = replace(IMAGE.topics[0], id="AAAAAAAAAAAAAAAAAAAAAg")
    told = looks.look(replace(IMAGE, topics=(again,)))
    assert [e.topic for e in of(events.TopicDeleted, told)] == ["t"]
    assert [e.topic for e in of(events.TopicCreated, told)] == ["t"]
    told = looks.look(replace(IMAGE, topics=()))
    assert [type(e) for e in told] == [events.TopicDeleted, events.LogDeleted, events.LogDeleted]
    assert not looks.view.partitions


def test_partitions_replicas_and_settings_change() -> None:
    looks = Looks(IMAGE)
    topic = IMAGE.topics[0]
    grown = replace(topic, partitions=(T0, Partition(1, (2, 1), 2, (2, 1), leader_epoch=0)))
    (added,) = of(events.PartitionsAdded, looks.look(replace(IMAGE, topics=(grown,))))
    assert (added.first, added.assignment) == (1, [[2, 1]])
    moving = replace(T0, replicas=(1, 2, 3), adding=(3,), removing=(2,))
    (moved,) = of(events.ReplicasAssigned, looks.look(with_partition(moving)))
    assert (moved.replicas, moved.adding, moved.removing) == ([1, 2, 3], [3], [2])
    strict = replace(topic, configs={"min.insync.replicas": "2"})
    (config,) = of(events.ConfigChanged, looks.look(replace(IMAGE, topics=(strict,))))
    assert (config.entity, config.name, config.value) == ("topic", "t", "2")
    assert looks.view.partitions["t-0"].min_isr == 2
    own = (replace(BROKERS[0], configs={"log.retention.ms": "5"}), BROKERS[1])
    told = looks.look(replace(IMAGE, topics=(strict,), brokers=own))
    assert [(e.name, e.key, e.value) for e in told] == [("1", "log.retention.ms", "5")]


def test_what_every_broker_is_started_with_is_the_clusters() -> None:
    static = {"min.insync.replicas": "2", "process.roles": "broker"}
    brokers = tuple(replace(broker, static_configs=static) for broker in BROKERS)
    view = Looks(replace(IMAGE, brokers=brokers)).view
    assert view.state.config == {"min.insync.replicas": "2"}
    assert view.partitions["t-0"].min_isr == 2


def test_groups_and_their_offsets_come_and_go() -> None:
    group = Group(
        "g",
        state="Stable",
        coordinator=2,
        members=(Member("c-1", client_id="c"),),
        offsets=(CommittedOffset("t", 0, 4),),
    )
    looks = Looks(replace(IMAGE, groups=(group,)))
    known = looks.view.state.groups["g"]
    assert (known.state, known.broker, known.members) == ("Stable", 2, {"c-1": "c"})
    assert known.offsets == {"t-0": 4}
    later = replace(group, members=(), state="Empty", offsets=(CommittedOffset("t", 0, 7),))
    told = looks.look(replace(IMAGE, groups=(later,)))
    assert [e.offset for e in of(events.OffsetCommitted, told)] == [7]
    assert [e.member for e in of(events.MemberLeft, told)] == ["c-1"]
    told = looks.look(replace(IMAGE, groups=(replace(later, offsets=()),)))
    assert [e.offset for e in of(events.OffsetExpired, told)] == [7]
    assert [e.state for e in of(events.GroupStateChanged, looks.look(IMAGE))] == ["Dead"]


def test_the_quorum_and_the_controller_change() -> None:
    looks = Looks(IMAGE)
    told = looks.look(IMAGE, n100=50, n1=48)
    assert [(e.replica, e.end_offset) for e in told] == [(1, 48), (100, 50)]
    assert looks.look(IMAGE, n100=50, n1=48) == []
    voters = (Controller(100, up=False, voter=True), Controller(101, up=True, voter=True))
    looks.look(replace(IMAGE, quorum=Quorum(101, 5, controllers=voters)))
    quorum = looks.view.state.quorum
    assert quorum is not None
    assert (quorum.leader, quorum.epoch) == (101, 5)
    assert quorum.controllers == {100: "stopped", 101: "running"}
    older = replace(IMAGE, mode="zk", quorum=None, controller=ZooKeeperController(2))
    view = Looks(older).view
    assert (view.state.controller.broker, view.state.quorum) == (2, None)
    assert not view.state.znodes
    assert authority(view.state).trouble == ""
    assert verdict(view.counts()).kind == HEALTHY
