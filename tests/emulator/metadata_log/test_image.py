"""The image, and what a broker learns from a change of it."""

from collections.abc import Iterable
from contextlib import nullcontext

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.metadata_log.changes import MetadataDelta, TopicIdPartition
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.metadata_version import level_of
from emulator.metadata_log.records import (
    AnyRecord,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ConfigRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnregisterBrokerRecord,
    version_of,
)
from emulator.metadata_log.shown import LogNames, show, text_of
from emulator.simulation.snapshot import copier

TOPIC: list[AnyRecord] = [
    TopicRecord("t", "id-t"),
    PartitionRecord(0, "id-t", (0, 1, 2), (0, 1, 2), leader=0),
    PartitionRecord(1, "id-t", (1, 2), (1, 2), leader=1),
]


def image_of(records: Iterable[AnyRecord]) -> MetadataImage:
    image = MetadataImage()
    replay(image, records)
    return image


def replay(image: MetadataImage, records: Iterable[AnyRecord]) -> MetadataDelta:
    delta = MetadataDelta()
    for record in records:
        image.replay(record, image.offset + 1, 1, delta)
    return delta


def local(delta: MetadataDelta, broker: int) -> tuple[list[int], list[int], list[int], list[int]]:
    changes = delta.local_changes(broker)
    kinds = (changes.deletes, changes.elected_leaders, changes.leaders, changes.followers)
    deletes, elected, leaders, followers = ([key.partition for key in kind] for kind in kinds)
    return deletes, elected, leaders, followers


def test_a_new_topic_makes_leaders_and_followers() -> None:
    delta = replay(MetadataImage(), TOPIC)
    assert local(delta, 0) == ([], [0], [0], [])
    assert local(delta, 1) == ([], [1], [1], [0])
    assert local(delta, 3) == ([], [], [], [])


def test_an_isr_change_elects_nobody_but_concerns_all_replicas() -> None:
    image = image_of(TOPIC)
    delta = replay(image, [PartitionChangeRecord(0, "id-t", isr=(0, 1))])
    assert local(delta, 0) == ([], [], [0], [])
    assert local(delta, 2) == ([], [], [], [0])
    partition = image.partition("t", 0)
    assert partition is not None
    assert (partition.leader_epoch, partition.partition_epoch) == (0, 1)


def test_naming_the_same_leader_is_an_election_too() -> None:
    image = image_of(TOPIC)
    delta = replay(image, [PartitionChangeRecord(0, "id-t", leader=0)])
    assert local(delta, 0) == ([], [0], [0], [])


def test_a_removed_replica_is_deleted_and_a_deleted_topic_deletes_all() -> None:
    image = image_of(TOPIC)
    delta = replay(image, [PartitionChangeRecord(0, "id-t", isr=(0, 1), replicas=(0, 1))])
    assert local(delta, 2) == ([0], [], [], [])
    delta = replay(image, [ConfigRecord(2, "t", "retention.ms", "1"), RemoveTopicRecord("id-t")])
    assert local(delta, 1) == ([0, 1], [], [], [])
    assert local(delta, 2) == ([1], [], [], [])
    assert (image.topics, image.topic_ids, image.configs) == ({}, {}, {})


def test_several_changes_count_from_the_first_before() -> None:
    image = image_of(TOPIC)
    there = PartitionChangeRecord(0, "id-t", leader=1)
    back = PartitionChangeRecord(0, "id-t", leader=0)
    change = replay(image, [there, back]).partitions[TopicIdPartition("id-t", 0)]
    assert change.before is not None
    assert change.after is not None
    assert (change.before.leader_epoch, change.after.leader_epoch) == (0, 2)
    made_and_removed = replay(MetadataImage(), [*TOPIC, RemoveTopicRecord("id-t")])
    assert local(made_and_removed, 0) == ([], [], [], [])


def test_emptying_the_elr_touches_only_partitions_that_have_one() -> None:
    image = image_of(TOPIC)
    shrunk = PartitionChangeRecord(1, "id-t", isr=(1,), eligible_leader_replicas=(2,))
    replay(image, [shrunk])
    delta = replay(image, [ClearElrRecord("t")])
    assert list(delta.partitions) == [TopicIdPartition("id-t", 1)]
    assert replay(image, [ClearElrRecord()]).partitions == {}


def test_brokers_configurations_and_features_come_and_go() -> None:
    image = image_of([RegisterBrokerRecord(0, "first", 5)])
    assert not image.is_active(0)
    delta = replay(
        image,
        [
            BrokerRegistrationChangeRecord(0, 5, fenced=-1),
            ConfigRecord(4, "", "min.insync.replicas", "2"),
            ConfigRecord(4, "0", "min.insync.replicas", "1"),
            FeatureLevelRecord("eligible.leader.replicas.version", 1),
        ],
    )
    assert image.is_active(0)
    assert image.elr_enabled
    assert image.broker_config(None, "min.insync.replicas") == "2"
    assert image.broker_config(0, "min.insync.replicas") == "1"
    assert [list(each) for each in (delta.brokers, delta.configs, delta.features)] == [
        [0],
        ["broker:", "broker:0"],
        ["eligible.leader.replicas.version"],
    ]
    replay(image, [BrokerRegistrationChangeRecord(0, 5, in_controlled_shutdown=1)])
    assert (image.brokers[0].fenced, image.is_active(0)) == (False, False)
    replay(image, [RegisterBrokerRecord(0, "second", 30)])
    assert (image.brokers[0].registrations, image.brokers[0].in_controlled_shutdown) == (2, False)
    removals: list[AnyRecord] = [
        ConfigRecord(4, "0", "min.insync.replicas", None),
        FeatureLevelRecord("eligible.leader.replicas.version", 0),
        UnregisterBrokerRecord(0, 30),
    ]
    replay(image, removals)
    assert (image.brokers, image.elr_enabled, list(image.configs)) == ({}, False, ["broker:"])


def test_a_record_about_nothing_is_an_error() -> None:
    with pytest.raises(KeyError):
        replay(MetadataImage(), [PartitionChangeRecord(0, "id-t", leader=0)])


def test_nodes_that_read_the_same_batch_share_the_partitions() -> None:
    first = MetadataImage()
    first.read_batch(TOPIC, 0, 1)
    copied = copier(MetadataImage)
    assert copied is not None
    second, own = copied(first), image_of(TOPIC)
    changes = [PartitionChangeRecord(0, "id-t", leader=number % 2) for number in range(1_000)]
    for image in (first, second, own):
        image.read_batch(changes, image.offset + 1, 1)
    assert second == own == first
    assert second.topics["id-t"].partitions is first.topics["id-t"].partitions
    assert own.topics["id-t"].partitions is not first.topics["id-t"].partitions
    before = copied(first)
    replay(second, [PartitionChangeRecord(0, "id-t", leader=1)])
    assert (first, before) == (own, own)
    assert second != first


NUMBERS = st.integers(0, 2)
REPLICAS = st.lists(NUMBERS, max_size=3, unique=True).map(tuple)
RECORDS = st.one_of(
    st.builds(PartitionChangeRecord, NUMBERS, st.just("id-t"), REPLICAS, NUMBERS, REPLICAS),
    st.builds(PartitionRecord, NUMBERS, st.just("id-t"), REPLICAS, REPLICAS, leader=NUMBERS),
    st.just(RemoveTopicRecord("id-t")),
    st.just(ClearElrRecord("t")),
    st.just(TopicRecord("t", "id-t")),
)


@given(batches=st.lists(st.lists(RECORDS, max_size=6), max_size=4))
def test_a_batch_changes_what_its_records_change_one_by_one(batches: list[list[AnyRecord]]) -> None:
    """Whether a single node reads it or several, which share the partitions then."""
    alone, single, images = image_of(TOPIC), image_of(TOPIC), [MetadataImage() for _ in range(3)]
    for image in images:
        image.read_batch(TOPIC, 0, 1)
    for records in batches:
        expected = [MetadataDelta(broker) for broker in (None, 0, 1)]
        is_known = True
        for delta in expected:
            one_by_one = image_of(alone.records())
            one_by_one.offset = alone.offset
            is_known = replays(one_by_one, records, delta)
        alone = one_by_one
        with nullcontext() if is_known else pytest.raises(KeyError):
            single.replay_batch(records, single.offset + 1, 1)
        assert single.topics == alone.topics
        for image, delta in zip(images, expected, strict=True):
            changed = MetadataDelta(delta.broker)
            base = image.offset + 1
            with nullcontext() if is_known else pytest.raises(KeyError):
                image.read_batch(records, base, 1, changed)
            assert (image.topics, image.topic_ids) == (alone.topics, alone.topic_ids)
            assert list(changed.partitions.items()) == list(delta.partitions.items())
            assert list(changed.topics) == list(delta.topics)
            assert image.offset == alone.offset


def replays(image: MetadataImage, records: list[AnyRecord], delta: MetadataDelta) -> bool:
    """Replay one by one; tell whether all refer to something known."""
    try:
        for record in records:
            image.replay(record, image.offset + 1, 1, delta)
    except KeyError:
        return False
    return True


def test_copies_and_encodings_are_equal_and_apart() -> None:
    image = image_of(TOPIC)
    copied = copier(MetadataImage)
    assert copied is not None
    copy = copied(image)
    replay(copy, [PartitionChangeRecord(0, "id-t", leader=1)])
    assert image == image_of(TOPIC)
    assert copy != image
    encoded = msgspec.msgpack.encode(copy)
    assert msgspec.msgpack.decode(encoded, type=MetadataImage) == copy


def test_records_are_read_as_they_were_written() -> None:
    encoded = msgspec.msgpack.encode(TOPIC)
    assert msgspec.msgpack.decode(encoded, type=list[AnyRecord]) == TOPIC


@pytest.mark.parametrize(
    ("name", "partition", "broker"),
    [("3.3-IV3", 0, 1), ("3.4-IV0", 0, 2), ("3.7-IV2", 1, 3), ("4.0-IV0", 1, 3), ("4.0-IV1", 2, 3)],
)
def test_versions_follow_from_the_metadata_version(name: str, partition: int, broker: int) -> None:
    level = level_of(name)
    assert version_of(TOPIC[1], level) == partition
    assert version_of(PartitionChangeRecord(0, "id-t"), level) == partition
    assert version_of(RegisterBrokerRecord(0, "first", 5), level) == broker


def test_a_second_topic_of_a_name_is_shown_with_a_number() -> None:
    names = LogNames()
    log: list[AnyRecord] = [
        *TOPIC,
        RemoveTopicRecord("id-t"),
        TopicRecord("t", "other"),
        RemoveTopicRecord("other"),
    ]
    shown = [show(record, names).data.get("topicId") for record in log]
    assert shown == ["t", "t", "t", "t", "t#2", "t#2"]


def test_a_snapshot_in_place_of_an_image_is_what_differs() -> None:
    before, after = image_of(TOPIC), image_of(TOPIC)
    replay(after, [PartitionChangeRecord(0, "id-t", isr=(0, 1), leader=1)])
    replay(after, [TopicRecord("u", "id-u"), PartitionRecord(0, "id-u", (1,), (1,), leader=1)])
    delta = after.changes_since(before)
    assert {(key.topic_id, key.partition) for key in delta.partitions} == {("id-t", 0), ("id-u", 0)}
    assert delta.topics == {"t": None, "u": None}
    assert after.changes_since(before, 2).partitions.keys() == {("id-t", 0)}
    back = before.changes_since(after)
    gone = back.partitions[TopicIdPartition("id-u", 0)]
    assert (gone.topic, gone.after) == ("u", None)
    assert not after.changes_since(after).topics


def test_the_records_of_an_image_make_it_again() -> None:
    image = image_of(TOPIC)
    replay(image, [PartitionChangeRecord(0, "id-t", isr=(0, 1), leader=1)])
    again = image_of(list(image.records()))
    assert (again.topics, again.topic_ids, again.configs) == (
        *(image.topics, image.topic_ids),
        image.configs,
    )


@pytest.mark.parametrize(
    "record",
    [
        *TOPIC,
        PartitionChangeRecord(0, "id-t"),
        PartitionChangeRecord(1, "id-t", (), -1, leader_recovery_state=0),
        PartitionChangeRecord(1, "unknown", (1, 300), 300, (300, 1), (), (1,), 1, (2,), ()),
    ],
)
def test_the_text_of_a_record_is_that_of_its_data(record: AnyRecord) -> None:
    names = LogNames()
    for earlier in TOPIC:
        names.read(earlier)
    shown = show(record, names)
    names = LogNames()
    for earlier in TOPIC:
        names.read(earlier)
    assert text_of(record, names) == (
        shown.type,
        shown.version,
        msgspec.json.encode(shown.data).decode(),
    )
