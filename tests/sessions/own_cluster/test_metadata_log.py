"""Metadata logs, snapshots and their folder: everything that the metadata image has, exactly."""

import io
import json
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from emulator.cluster_image.document import encode
from emulator.cluster_image.image import (
    DEFAULT,
    AclEntry,
    ClientQuota,
    ClusterImage,
    Group,
    ScramUser,
)
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import NoOpRecord
from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.batches import MetadataBatch, read_batches
from emulator.wire.metadata.codec import encode_value
from emulator.wire.metadata.control_records import (
    KRaftVersionRecord,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
    VotersRecordVoter,
    encode_control_record,
)
from emulator.wire.metadata.translation import translate
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import build
from emulator.wire.types import Message
from sessions.own_cluster.comparison import compare
from sessions.own_cluster.content import Content
from sessions.own_cluster.importing import import_sources, read_source
from sessions.own_cluster.places import Place
from sessions.own_cluster.reading import Reading, SourceError
from sessions.own_cluster.recognition import read
from tests.sessions.own_cluster.recorded import CASES, IDS, imported, partitions_of, state_of

KRAFT = [case for case in CASES if (case / "metadata").is_dir()]
KRAFT_IDS = [name for case, name in zip(CASES, IDS, strict=True) if case in KRAFT]
NAME = "00000000000000000000.log"
FIELDS = (
    "replicas",
    "leader",
    "isr",
    "elr",
    "last_known_elr",
    "leader_epoch",
    "partition_epoch",
    "adding",
    "removing",
)


def read_bytes(data: bytes) -> Reading:
    return read(Content("metadata.log", io.BytesIO(data)))


def batch_of(*records: Message, base_offset: int = 0, version: int = 0) -> bytes:
    values = [Record(None, encode_value(record, version), 1) for record in records]
    return build(values, base_offset=base_offset, leader_epoch=1)


def control(*records: Message, base_offset: int = 0) -> bytes:
    pairs = [encode_control_record(record) for record in records]
    made = [Record(key, value, 1) for key, value in pairs]
    return build(made, base_offset=base_offset, leader_epoch=1, is_control=True)


@pytest.mark.parametrize("case", KRAFT, ids=KRAFT_IDS)
def test_a_recorded_folder_is_exactly_what_was_so(case: Path) -> None:
    image = read_source(str(case / "metadata")).image
    state = state_of(case)
    assert imported(image, *FIELDS) == partitions_of(case, *FIELDS)
    assert {broker.id: broker.fenced for broker in image.brokers} == {
        broker["id"]: broker["fenced"] for broker in state["brokers"]
    }
    assert image.release == case.parent.name.removeprefix("kraft-").rpartition(".")[0]
    assert image.quorum is not None
    assert image.quorum.leader == state["quorum"]["leader"]
    assert image.quorum.epoch == state["quorum"]["epoch"]
    assert [str(each.id) for each in image.quorum.controllers] == list(state["quorum"]["voters"])


@pytest.mark.parametrize("case", KRAFT, ids=KRAFT_IDS)
def test_a_log_alone_says_the_same(case: Path) -> None:
    alone = read_source(str(case / "metadata" / NAME)).image
    assert alone == read_source(str(case / "metadata")).image


def test_a_torn_log_is_read_up_to_there_and_this_is_said() -> None:
    data = (KRAFT[-1] / "metadata" / NAME).read_bytes()
    reading = read_bytes(data[:-10])
    assert reading.image.partition_count == 23
    assert "is torn" in reading.notes[0]


def snapshot_of(path: Path, offset: int) -> bytes:
    """A snapshot of the log's first records, with all of them in place of their sum."""
    records: list[bytes] = [control(SnapshotHeaderRecord())]
    for batch in read_batches(io.BytesIO(path.read_bytes()).read):
        assert isinstance(batch, MetadataBatch)
        if not batch.is_control and batch.base_offset < offset:
            versions = zip(batch.records, batch.versions, strict=True)
            values = [Record(None, encode_value(*each), 1) for each in versions]
            records.append(build(values, base_offset=batch.base_offset, leader_epoch=1))
    return b"".join([*records, control(SnapshotFooterRecord())])


def test_a_folder_begins_with_its_newest_complete_snapshot(tmp_path: Path) -> None:
    log = KRAFT[-1] / "metadata" / NAME
    whole = read_source(str(log)).image
    data, at, cut = log.read_bytes(), 0, 0
    for batch in read_batches(io.BytesIO(data).read):
        assert isinstance(batch, MetadataBatch)
        if batch.base_offset >= 300:
            cut = batch.base_offset
            break
        at += int.from_bytes(data[at + 8 : at + 12], "big") + 12
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    (folder / f"{cut:020}.log").write_bytes(data[at:])
    with pytest.raises(SourceError, match="in the middle of a log: offsets 0 to"):
        read_source(str(folder))
    snapshot = snapshot_of(log, cut)
    (folder / f"{cut:020}-0000000001.checkpoint").write_bytes(snapshot)
    (folder / f"{cut + 1:020}-0000000001.checkpoint").write_bytes(snapshot[:-20])
    shutil.copy(log.with_name("quorum-state"), folder)
    image = read_source(str(tmp_path)).image
    assert image.topics == whole.topics
    assert image.brokers == whole.brokers
    assert image.quorum is not None
    assert whole.quorum is not None
    assert (image.quorum.leader, image.quorum.offset) == (100, whole.quorum.offset)


def small() -> list[Message]:
    topic = bytes(15) + b"\1"
    return [
        wire.FeatureLevelRecord("metadata.version", 7),
        wire.RegisterBrokerRecord(1, rack=None, fenced=False),
        wire.TopicRecord("t", topic),
        wire.PartitionRecord(0, topic, [1], [1], leader=1, leader_epoch=0, partition_epoch=0),
        wire.ConfigRecord(32, "g", "consumer.session.timeout.ms", "1"),
        wire.ConfigRecord(16, "m", "interval.ms", "1"),
        wire.UserScramCredentialRecord("u", 1, b"salt"),
    ]


def image_of(*records: Message) -> ClusterImage:
    return read_bytes(batch_of(*records)).image


def test_what_is_not_about_replication_is_left_out_and_configs_of_groups_are_kept() -> None:
    image = image_of(*small())
    assert image.configs == {}
    assert [(group.id, group.configs) for group in image.groups] == [
        ("g", {"consumer.session.timeout.ms": "1"})
    ]
    assert image.brokers[0].rack == ""
    assert image.topics[0].partitions[0].elr is None  # metadata.version 3.3-IV3 has none


def test_users_and_quotas_are_what_their_last_records_say() -> None:
    user = [wire.EntityData("user", "alice"), wire.EntityData("client-id", None)]
    address = [wire.EntityData("ip", "::1")]
    image = image_of(
        *small(),
        wire.UserScramCredentialRecord("alice", 1, b"salt", b"stored", b"server", 4_096),
        wire.UserScramCredentialRecord("alice", 2, b"salt", b"stored", b"server", 8_192),
        wire.RemoveUserScramCredentialRecord("alice", 1),
        wire.RemoveUserScramCredentialRecord("u", 1),
        wire.RemoveUserScramCredentialRecord("nobody", 1),
        wire.ClientQuotaRecord(user, "producer_byte_rate", 1.0),
        wire.ClientQuotaRecord(user, "producer_byte_rate", 2.0),
        wire.ClientQuotaRecord(address, "connection_creation_rate", 3.0),
        wire.ClientQuotaRecord(address, "connection_creation_rate", 0.0, remove=True),
    )
    assert image.users == (ScramUser("alice", {"SCRAM-SHA-512": 8_192}),)
    assert image.quotas == (ClientQuota("alice", DEFAULT, values={"producer_byte_rate": 2.0}),)
    assert b"stored" not in encode(image)


def test_an_old_fencing_record_fences() -> None:
    assert image_of(*small(), wire.FenceBrokerRecord(1)).brokers[0].up is False
    assert image_of(*small(), wire.FenceBrokerRecord(1), wire.UnfenceBrokerRecord(1)).brokers[0].up


def test_an_aborted_transaction_leaves_nothing_and_an_open_one_is_noted() -> None:
    other = wire.TopicRecord("other", bytes(15) + b"\2")
    begin, end, abort = (
        wire.BeginTransactionRecord(),
        wire.EndTransactionRecord(),
        wire.AbortTransactionRecord(),
    )
    assert [t.name for t in image_of(*small(), begin, other, abort).topics] == ["t"]
    assert [t.name for t in image_of(*small(), begin, other, end).topics] == ["t", "other"]
    reading = read_bytes(batch_of(*small(), begin, other))
    assert [topic.name for topic in reading.image.topics] == ["t"]
    assert "a metadata transaction of 1 record has no end yet" in reading.notes[0]


def test_a_dynamic_quorum_names_its_voters_and_their_disks() -> None:
    voter = VotersRecordVoter(3000, bytes(15) + b"\5")
    data = control(KRaftVersionRecord(0, 1), VotersRecord(0, [voter]))
    image = read_bytes(data + batch_of(*small(), base_offset=2)).image
    assert image.features == {"metadata.version": 7, "kraft.version": 1}
    assert image.quorum is not None
    (controller,) = image.quorum.controllers
    assert (controller.id, controller.directory_id) == (3000, "AAAAAAAAAAAAAAAAAAAABQ")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (build([Record(b"k", b"v", 1)]), "the log of another partition"),
        (control(SnapshotHeaderRecord(), SnapshotFooterRecord()), "the empty snapshot"),
        (control(SnapshotHeaderRecord()) + batch_of(*small()), "a truncated snapshot"),
        (batch_of(*small(), base_offset=7), "starts in the middle of a log"),
        (batch_of(wire.RemoveTopicRecord(bytes(16))), "which no record before it created"),
        (batch_of(wire.NoOpRecord()), "a cluster without brokers"),
        (
            build([Record(None, b"\x01\x3f\x00", 1)]),
            "written by a release that is not known here",
        ),
        (batch_of(*small())[:30] + b"\0" * 31 + batch_of(*small()), "is damaged"),
    ],
    ids=["other", "empty", "truncated", "middle", "dangling", "young", "newer", "damaged"],
)
def test_other_files_are_refused_in_one_sentence(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason) as refused:
        read_bytes(data)
    assert "metadata.log" in str(refused.value)
    assert len(str(refused.value)) < 300


# ---- a place in the history


@pytest.mark.parametrize("by_time", [False, True], ids=["offset", "time"])
def test_a_log_up_to_a_place_is_the_cluster_as_it_was_there(by_time: bool) -> None:
    log = KRAFT[-1] / "metadata" / NAME
    batches = [
        batch
        for batch in read_batches(io.BytesIO(log.read_bytes()).read)
        if isinstance(batch, MetadataBatch)
    ]
    image, seen = MetadataImage(), 0
    for batch, following in pairwise(batches):
        for offset, record in enumerate(batch.records, batch.base_offset):
            image.replay(translate(record) or NoOpRecord(), offset, batch.leader_epoch)
        if not image.topics or following.timestamp == batch.timestamp or batch.base_offset % 3:
            continue
        place = Place(offset=image.offset)
        if by_time:
            place = Place(time_us=following.timestamp * 1_000 - 1)
        reading = read_source(str(log.parent), until=place)
        assert {
            (topic.name, partition.partition): (
                partition.leader,
                partition.isr,
                partition.partition_epoch,
            )
            for topic in reading.image.topics
            for partition in topic.partitions
        } == {
            (topic.name, number): (now.leader, now.isr, now.partition_epoch)
            for topic, number, now in image.partitions()
        }
        fenced = {broker.id: broker.fenced for broker in image.brokers.values()}
        assert {broker.id: broker.fenced for broker in reading.image.brokers} == fenced
        assert reading.image.quorum is not None
        assert reading.image.quorum.offset == image.offset
        assert f"the cluster as of offset {image.offset:,}, 20" in reading.notes[-1]
        seen += 1
    assert seen > 10


def test_a_place_before_the_newest_snapshot_needs_an_older_one(tmp_path: Path) -> None:
    log = KRAFT[-1] / "metadata" / NAME
    data, at, cut = log.read_bytes(), 0, 0
    for batch in read_batches(io.BytesIO(data).read):
        assert isinstance(batch, MetadataBatch)
        if batch.base_offset >= 300:
            cut = batch.base_offset
            break
        at += int.from_bytes(data[at + 8 : at + 12], "big") + 12
    (tmp_path / f"{cut:020}.log").write_bytes(data[at:])
    for offset in (cut, cut + 20):
        path = tmp_path / f"{offset:020}-0000000001.checkpoint"
        path.write_bytes(snapshot_of(log, offset))
    expected = read_source(str(log), until=Place(offset=cut + 5)).image
    older = read_source(str(tmp_path), until=Place(offset=cut + 5)).image
    assert older.topics == expected.topics
    with pytest.raises(SourceError, match="no record up to that place"):
        read_source(str(tmp_path), until=Place(offset=200))
    with pytest.raises(SourceError, match="no record up to that place: it begins at 2026-"):
        read_source(str(log), until=Place(time_us=1))


def test_a_place_is_asked_of_a_history(tmp_path: Path) -> None:
    racks = tmp_path / "brokers.json"
    racks.write_text('[{"id": 1, "rack": "a"}]')
    with pytest.raises(SourceError, match=r"no history.*wanted is a metadata log"):
        import_sources([str(racks)], until=Place(offset=3))
    log = str(KRAFT[-1] / "metadata")
    imported_now = import_sources([str(racks), log], until=Place(offset=200)).image
    assert imported_now.quorum is not None
    assert imported_now.quorum.offset in range(100, 300)


# ---- access control and groups


def test_access_control_entries_and_configurations_of_groups_are_read() -> None:
    first, second = (
        wire.AccessControlEntryRecord(
            id=bytes([number]) * 16,
            resource_type=2,
            resource_name="orders",
            pattern_type=3,
            principal="User:alice",
            host="*",
            operation=operation,
            permission_type=3,
        )
        for number, operation in ((1, 3), (2, 4))
    )
    gone = wire.RemoveAccessControlEntryRecord(id=first.id)
    limit = wire.ConfigRecord(
        resource_type=32, resource_name="slow", name="consumer.session.timeout.ms", value="50000"
    )
    topic = wire.TopicRecord(name="orders", topic_id=bytes([7]) * 16)
    image = read_bytes(batch_of(topic, first, second, gone, limit)).image
    assert image.acls == (AclEntry("ALLOW", "User:alice", "WRITE", "TOPIC", "orders"),)
    assert image.groups == (Group("slow", configs={"consumer.session.timeout.ms": "50000"}),)
    without = replace(image, acls=())
    entry = "ALLOW User:alice WRITE TOPIC orders LITERAL *"
    assert compare(without, image) == [f"access control entry {entry}: new"]


def test_access_control_entries_are_read_from_znodes() -> None:
    entry = '{"principal":"User:bob","permissionType":"Deny","operation":"All","host":"*"}'
    dump = {
        "/brokers/ids/1": {"data": '{"host":"h","port":1}', "version": 0},
        "/kafka-acl-extended/prefixed/Group/g": {
            "data": f'{{"version":1,"acls":[{entry}]}}',
            "version": 0,
        },
    }
    image = read(Content("dump.json", io.BytesIO(json.dumps(dump).encode()))).image
    assert image.acls == (AclEntry("DENY", "User:bob", "ALL", "GROUP", "g", "PREFIXED"),)
