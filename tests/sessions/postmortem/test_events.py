"""What the records say is told as an emulated cluster tells it; what nobody knows is not."""

from pathlib import Path

import msgspec

from emulator import events
from emulator.events import Event
from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.codec import RECORD_TYPES, encode_value
from emulator.wire.metadata.control_records import CONTROL_RECORDS
from emulator.wire.metadata.translation import translate
from sessions.model.cluster_view import ClusterView
from sessions.model.metadata_image import MetadataReader
from sessions.model.metadata_log import UNINTERPRETED, image_of
from sessions.postmortem.incident import Incident, examine, read_paths
from tests.sessions.postmortem.logs import TOPIC, Log, cluster, fence, unfence

TOLD = (events.BrokerStateChanged, events.LeaderElected, events.PartitionStateChanged)


def told(log: Log, folder: Path) -> tuple[Incident, list[Event]]:
    log.write(folder)
    found: list[Event] = []
    return examine(read_paths([str(folder)]), [found.append]), found


def test_a_fenced_broker_leads_nothing_and_nobody_says_that_it_crashed(tmp_path: Path) -> None:
    log = cluster()
    log.add(wire.PartitionChangeRecord(0, TOPIC, [2, 3], 2), version=0)
    log.add(fence(1, 2), version=1)
    _, found = told(log, tmp_path)
    assert [event.state for event in found if isinstance(event, events.BrokerStateChanged)] == [
        *("starting", "running") * 3,
        "fenced",
    ]
    elected = [event for event in found if isinstance(event, events.LeaderElected)]
    assert [(event.leader, event.strategy) for event in elected] == [(1, "New"), (2, "Offline")]
    by_seq = {event.seq: event for event in found}
    cause = by_seq[elected[-1].cause]
    assert isinstance(cause, events.MetadataRecordCommitted)
    assert cause.kind == "PartitionChange"


def test_a_controlled_shutdown_ends_stopped(tmp_path: Path) -> None:
    log = cluster().add(wire.BrokerRegistrationChangeRecord(2, 4, 0, 1), version=1)
    log.add(fence(2, 4), version=1)
    _, found = told(log, tmp_path)
    states = [event.state for event in found if isinstance(event, events.BrokerStateChanged)]
    assert states[-2:] == ["controlled_shutdown", "stopped"]


def test_the_view_has_racks_and_the_quorums_leader_and_knows_no_offset(tmp_path: Path) -> None:
    log = cluster().leader(101, [100, 101, 102], epoch=2).add(unfence(1, 2), version=1)
    _, found = told(log, tmp_path)
    view = ClusterView()
    view.apply_all(found)
    state = view.state
    assert {broker.id: broker.rack for broker in state.brokers.values()} == {
        1: "r1",
        2: "r2",
        3: "r3",
    }
    assert state.quorum is not None
    assert (state.quorum.leader, state.quorum.epoch) == (101, 2)
    assert state.controller.broker == 101
    assert state.partitions["t-0"].replica_states == {}
    assert view.status(state.partitions["t-0"]) == "healthy"


def test_the_image_of_the_session_is_that_of_the_log(tmp_path: Path) -> None:
    log = cluster().add(wire.PartitionChangeRecord(0, TOPIC, [2, 3], 2), version=0)
    incident, found = told(log, tmp_path)
    view = ClusterView()
    view.apply_all(found)
    assert view.state.quorum is not None
    image = image_of(view.state.quorum.log)
    partition, same = image.partition("t", 0), incident.image.partition("t", 0)
    assert partition is not None
    assert same is not None
    assert (partition.leader, partition.isr, partition.leader_epoch) == (2, (2, 3), 1)
    assert (partition.leader, partition.isr, partition.leader_epoch) == (
        same.leader,
        same.isr,
        same.leader_epoch,
    )


def test_every_type_of_record_can_stand_in_a_session(tmp_path: Path) -> None:
    log = cluster()
    skipped = {wire.UnregisterBrokerRecord, wire.RemoveTopicRecord, wire.PartitionRecord}
    skipped |= {wire.PartitionChangeRecord, wire.BrokerRegistrationChangeRecord}
    skipped |= {wire.FenceBrokerRecord, wire.UnfenceBrokerRecord, wire.ClearElrRecord}
    skipped |= {wire.BeginTransactionRecord, wire.EndTransactionRecord}
    skipped |= {wire.AbortTransactionRecord}
    for kind in RECORD_TYPES.values():
        if kind.message not in skipped:
            log.add(kind.message(), version=kind.newest)
    log.add(wire.ConfigRecord(32, "g", "consumer.session.timeout.ms", "9000"))
    log.add(wire.UserScramCredentialRecord("u", 1, b"salt", b"stored", b"server", 4096))
    for control in CONTROL_RECORDS.values():
        if control.__name__.startswith(("KRaft", "Voters")):
            log.control(control())
    _, found = told(log, tmp_path)
    view = ClusterView()
    view.apply_all(found)
    assert view.state.quorum is not None
    kinds = {record.kind for record in view.state.quorum.log}
    assert {"AccessControlEntry", "ClientQuota", "UserScramCredential", "Voters"} <= kinds
    metadata = MetadataReader().at(view.state)
    assert metadata is not None
    assert "/topics/t/0" in metadata.nodes
    data = next(each.data for each in view.state.quorum.log if "Scram" in each.kind)
    assert "stored" not in data.replace("storedKey", "")
    assert set(msgspec.json.decode(data)) == {"name", "mechanism", "iterations"}


def test_what_has_no_counterpart_is_listed_for_readers_of_sessions() -> None:
    kinds = [kind.message for kind in RECORD_TYPES.values()] + list(CONTROL_RECORDS.values())
    without = {
        kind.__name__.removesuffix("Record").removesuffix("Message")
        for kind in kinds
        if translate(kind()) is None
    }
    assert without - {"Config"} == UNINTERPRETED


def test_unknown_tagged_fields_are_kept(tmp_path: Path) -> None:
    log = cluster()
    value = encode_value(wire.BrokerRegistrationChangeRecord(2, 4, 1), 1)
    assert value.endswith(b"\1\0\1\1")  # one tagged field: fenced
    newer = value[:-4] + b"\2\0\1\1" + b"\x2a\3abc"
    log.add_values(newer)
    incident, found = told(log, tmp_path)
    record = [event for event in found if isinstance(event, events.MetadataRecordCommitted)][-1]
    assert msgspec.json.decode(record.data)["taggedFields"] == {"42": b"abc".hex()}
    assert incident.image.brokers[2].fenced


def test_a_record_about_something_unknown_is_left_out_and_the_rest_is_read(tmp_path: Path) -> None:
    nowhere = bytes(15) + b"\7"
    log = cluster()
    log.add(wire.PartitionChangeRecord(0, nowhere, [2], 2), version=0)
    log.add(wire.RemoveTopicRecord(nowhere))
    log.add(wire.BrokerRegistrationChangeRecord(9, 1, 1))
    log.add(wire.PartitionRecord(0, nowhere, [1], [1], [], [], 1))
    log.add(wire.PartitionChangeRecord(0, TOPIC, [2, 3], 2), version=0)
    incident, found = told(log, tmp_path)
    assert [event.leader for event in found if isinstance(event, events.LeaderElected)] == [1, 2]
    (note,) = (note for note in incident.notes if "left out" in note)
    assert note.startswith("4 records left out, because no record before them created what they")
    assert "is about 'AAAAAAAAAAAAAAAAAAAABw'" in note
    view = ClusterView()
    view.apply_all(found)
    metadata = MetadataReader().at(view.state)
    assert metadata is not None
    assert set(metadata.image.topics) == {"t"}


def test_within_a_batch_the_other_records_of_an_unknown_one_count(tmp_path: Path) -> None:
    nowhere = bytes(15) + b"\7"
    log = cluster()
    log.add(
        wire.PartitionChangeRecord(0, TOPIC, [2, 3], 2),
        wire.PartitionChangeRecord(0, nowhere, [2], 2),
        wire.PartitionChangeRecord(0, TOPIC, [3], 3),
    )
    incident, found = told(log, tmp_path)
    partition = incident.image.partition("t", 0)
    assert partition is not None
    assert (partition.leader, partition.partition_epoch) == (3, 2)
    offsets = [e.offset for e in found if isinstance(e, events.MetadataRecordCommitted)]
    assert offsets[-2:] == [log.offset - 3, log.offset - 1]


def test_without_anybody_who_asks_for_events_the_history_is_the_same(tmp_path: Path) -> None:
    log = cluster().leader(101, [100, 101, 102], epoch=2)
    log.add(wire.PartitionChangeRecord(0, TOPIC, [2, 3], 2), version=0)
    log.add(fence(1, 2), version=1)
    incident, _ = told(log, tmp_path)
    alone = examine(read_paths([str(tmp_path)]))
    assert alone.image == incident.image
    assert alone.nodes == incident.nodes
    assert alone.timeline.entries == incident.timeline.entries
