"""What is assumed of an image that does not say everything, and that it is named."""

import pytest

from emulator.cluster_image.assumptions import Assumption, complete, spread
from emulator.cluster_image.image import (
    Broker,
    ClusterImage,
    CommittedOffset,
    Group,
    Mode,
    Partition,
    Quorum,
    ReplicaLog,
    Topic,
    ZooKeeperController,
)
from emulator.releases.config import ConfigError


def placed(*replicas: tuple[int, ...], **known: object) -> ClusterImage:
    partitions = tuple(Partition(number, each) for number, each in enumerate(replicas))
    return ClusterImage(topics=(Topic("t", partitions=partitions),), **known)  # type: ignore[arg-type]


def test_a_placement_alone_gives_a_healthy_cluster() -> None:
    image, assumed = complete(placed((2, 1), (1, 3))), complete(placed((2, 1), (1, 3))).assumed
    first, second = image.image.topics[0].partitions
    assert (first.leader, first.isr, second.leader, second.isr) == (2, (2, 1), 1, (1, 3))
    assert [(each.id, each.up, each.rack) for each in image.image.brokers] == [
        (1, True, ""),
        (2, True, ""),
        (3, True, ""),
    ]
    assert [str(each) for each in assumed] == [
        "release: 3.9, the last release with ZooKeeper",
        "mode: zk: nothing says that there is a controller quorum",
        "racks of brokers 1, 2, 3: none",
        "state of brokers 1, 2, 3: up",
        "configurations of topic t: the brokers' defaults",
        "ISR of partitions t-0, t-1: all replicas that are up",
        "leader of partitions t-0, t-1: the first replica that is up and in sync",
        "controller: broker 1",
    ]


def test_a_broker_in_no_isr_is_down_and_one_without_replicas_is_up() -> None:
    image = ClusterImage(
        brokers=(Broker(9),),
        topics=(
            Topic("t", partitions=(Partition(0, (1, 2), 1, (1,)), Partition(1, (2, 3), -1, (3,)))),
        ),
    )
    completed = complete(image).image
    assert {each.id: each.up for each in completed.brokers} == {
        1: True,
        2: False,
        3: False,
        9: True,
    }


def test_a_leader_is_chosen_among_those_up_and_in_sync() -> None:
    image = placed((2, 1), brokers=(Broker(2, up=False), Broker(1, up=True)))
    (partition,) = complete(image).image.topics[0].partitions
    assert (partition.leader, partition.isr) == (1, (1,))
    image = placed((2,), brokers=(Broker(2, up=False),))
    (partition,) = complete(image).image.topics[0].partitions
    assert (partition.leader, partition.isr) == (-1, (2,))


@pytest.mark.parametrize(
    ("image", "release", "mode"),
    [
        (ClusterImage(release="4.0"), "4.0", "kraft"),
        (ClusterImage(features={"metadata.version": 27}), "4.1", "kraft"),
        (ClusterImage(quorum=Quorum(leader=1)), "3.9", "kraft"),
        (ClusterImage(controller=ZooKeeperController(1)), "3.9", "zk"),
        (ClusterImage(release="2.0"), "2.0", "zk"),
        (ClusterImage(topics=(Topic("t", partitions=(Partition(0, elr=()),)),)), "4.4", "kraft"),
    ],
)
def test_the_release_and_mode_follow_from_what_is_known(
    image: ClusterImage, release: str, mode: Mode
) -> None:
    completed = complete(image)
    assert (completed.image.release, completed.image.mode) == (release, mode)
    assert any(each.what == "release" for each in completed.assumed) == (image.release is None)


@pytest.mark.parametrize(("elr", "has_elr"), [((), False), ((1,), True), (None, True)])
def test_a_small_isr_without_any_elr_tells_that_the_feature_is_off(
    elr: tuple[int, ...] | None, *, has_elr: bool
) -> None:
    partition = Partition(0, (1, 2, 3), 2, (2,), elr=elr)
    topic = Topic("t", configs={"min.insync.replicas": "2"}, partitions=(partition,))
    features = complete(ClusterImage("4.1", "kraft", topics=(topic,))).image.features
    assert features is not None
    assert ("eligible.leader.replicas.version" in features) == has_elr


def test_a_release_without_the_mode_is_refused() -> None:
    with pytest.raises(ConfigError, match="no ZooKeeper"):
        complete(ClusterImage(release="4.1", mode="zk"))
    with pytest.raises(ConfigError, match="KRaft mode exists since"):
        complete(ClusterImage(release="2.8", mode="kraft"))


def test_committed_offsets_tell_how_long_a_log_is_at_least() -> None:
    group = Group("g", offsets=(CommittedOffset("t", 0, 12),))
    partition = complete(placed((1,), groups=(group,))).image.partition("t", 0)
    assert partition is not None
    assert (partition.log_end, partition.high_watermark) == (12, 12)


def test_committed_offsets_need_their_topic() -> None:
    group = Group("g", offsets=(CommittedOffset("t", 0, 12),))
    static = {"offsets.topic.num.partitions": "5"}
    completed = complete(placed((1, 2), groups=(group,), static_configs=static))
    topic = completed.image.topic("__consumer_offsets")
    assert topic is not None
    assert [each.replicas for each in topic.partitions[:2]] == [(1, 2), (2, 1)]
    told = "topic __consumer_offsets: 5 partitions with 2 replicas, for the committed offsets"
    assert told in map(str, completed.assumed)
    old = complete(placed((1,), groups=(group,), release="0.8.2"))
    assert old.image.topic("__consumer_offsets") is None


def test_without_placement_those_who_have_a_log_are_the_replicas() -> None:
    logs = (ReplicaLog(1, size=9), ReplicaLog(2, future=True), ReplicaLog(3, size=9))
    partitions = (Partition(0, logs=logs), Partition(1))
    completed = complete(ClusterImage(topics=(Topic("t", partitions=partitions),)))
    first, second = completed.image.topics[0].partitions
    assert (first.replicas, first.leader, first.isr) == ((1, 3), 1, (1, 3))
    assert (second.replicas, second.leader) == ((), -1)
    told = [str(each) for each in completed.assumed if each.what.startswith("placement")]
    assert told == [
        "placement of partition t-0: the brokers that have their logs",
        "placement of partition t-1: unknown, so they cannot start",
    ]


def test_intended_partitions_are_spread_as_kafka_spreads_them() -> None:
    """AdminUtils' own example, of which only the first broker and the first shift are random."""
    placed = [spread(number, 3, [0, 1, 2, 3, 4]) for number in range(10)]
    assert placed == [
        *((0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 0), (4, 0, 1)),
        *((0, 2, 3), (1, 3, 4), (2, 4, 0), (3, 0, 1), (4, 1, 2)),
    ]
    assert spread(3, 1, [7]) == (7,)
    topic = Topic("t", replication_factor=2, partitions=(Partition(0), Partition(1)))
    image = complete(ClusterImage(brokers=(Broker(5), Broker(6)), topics=(topic,))).image
    assert [each.replicas for each in image.topics[0].partitions] == [(5, 6), (6, 5)]


def test_nothing_is_assumed_of_a_complete_image() -> None:
    completed = complete(placed((2, 1), (1, 3))).image
    again = complete(completed)
    assert again.image == completed
    assert again.assumed == ()


def test_a_long_list_of_objects_is_counted() -> None:
    names = tuple(str(number) for number in range(1_000))
    text = str(Assumption("racks of brokers", names, "none"))
    assert text == "racks of brokers 0, 1, 2, 3, 4, 5, 6, 7 and 992 more: none"
