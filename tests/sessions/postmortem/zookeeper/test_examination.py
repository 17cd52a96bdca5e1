"""The history of a cluster with ZooKeeper as a timeline, a session and a document."""

import gzip
import json
import random
import shutil
from functools import partial
from pathlib import Path

import pytest

from emulator import events
from emulator.zookeeper import data as formats
from sessions.format.chunks import Chunks
from sessions.format.file import SessionFile
from sessions.own_cluster.formats.zookeeper_log import CREATE_SESSION
from sessions.own_cluster.places import Place
from sessions.own_cluster.reading import SourceError
from sessions.own_cluster.zookeeper_history.log_copies import find_transaction_logs
from sessions.own_cluster.zookeeper_history.reading import image_before
from sessions.own_cluster.zookeeper_history.znode_tree import ZnodeTree
from sessions.playback.cursor import Cursor
from sessions.postmortem.document import as_plain
from sessions.postmortem.processes import ConfiguredValue
from sessions.postmortem.text_logs import facts
from sessions.postmortem.text_logs.merging import find_text_logs
from sessions.postmortem.what_if import Setting, what_if
from sessions.postmortem.words import timeout_of
from sessions.postmortem.zookeeper.examination import examine, record
from tests.sessions.postmortem.text_logs.recorded import RECORDINGS as TEXT_LOGS
from tests.sessions.postmortem.text_logs.recorded import entries
from tests.sessions.postmortem.zookeeper.recorded import (
    LOG,
    RECORDINGS,
    RELEASES,
    history,
    raw,
    znodes,
)


@pytest.mark.parametrize("release", RELEASES)
def test_the_partitions_after_each_transaction_are_those_in_the_znodes(release: str) -> None:
    tree = ZnodeTree()
    places = []
    for transaction in history(release).transactions(0):
        if any("/state" in change.path for change in tree.apply(transaction)):
            places.append((transaction.zxid, dict(tree.znodes)))
    for zxid, at_that_time in places[:: max(1, len(places) // 12)]:
        image = examine(history(release), until=Place(offset=zxid)).image
        for path, znode in at_that_time.items():
            tp = formats.partition_of(path)
            state = formats.state_in(znode.text)
            if tp is None or state is None:
                continue
            topic, _, number = tp.rpartition("-")
            partition = image.partition(topic, int(number))
            assert partition is not None
            assert partition.leader == state.leader
            assert list(partition.isr) == state.isr
            assert partition.leader_epoch == state.leader_epoch
            assert partition.partition_epoch == znode.version


@pytest.mark.parametrize("release", RELEASES)
def test_the_timeline_tells_the_unclean_election_and_its_cause(release: str) -> None:
    timeline = examine(history(release)).timeline.entries
    unclean = [entry for entry in timeline if entry.kind == "unclean" and "t-0" in entry.what]
    assert [entry.what for entry in unclean] == ["t-0: 0 is elected although it was not in sync"]
    assert unclean[0].because == "the registration of broker 1 is gone"
    expired = [entry for entry in timeline if entry.because == "its ZooKeeper session expired"]
    killed = [entry.what for entry in expired][-3:]
    assert sorted(killed) == [
        f"the registration of broker {broker} is gone" for broker in (0, 1, 2)
    ]


@pytest.mark.parametrize("release", ["2.4.1", "2.8.2", "3.5.2"])
def test_what_leaders_say_in_their_text_logs_is_in_the_history(release: str) -> None:
    """ISRs and versions that text logs name, against the znodes of the same cluster."""
    states = {}
    tree = ZnodeTree()
    for transaction in history(release).transactions(0):
        for change in tree.apply(transaction):
            tp = formats.partition_of(change.path)
            state = None if change.after is None else formats.state_in(change.after.text)
            if tp is not None and state is not None and change.after is not None:
                states[tp, change.after.version] = state
    stored = [entry.fact for entry in entries(release) if isinstance(entry.fact, facts.IsrStored)]
    assert len(stored) > 5
    for fact in stored:
        assert states[fact.tp, fact.version].isr == list(fact.isr)
    changed = [
        entry.fact
        for entry in entries(release)
        if isinstance(entry.fact, facts.PartitionChanged) and entry.fact.version is not None
    ]
    assert len(changed) > 5
    for change_told in changed:
        state = states[change_told.tp, change_told.version]  # type: ignore[index]
        assert (state.leader, state.leader_epoch) == (change_told.leader, change_told.epoch)
        assert tuple(state.isr) == change_told.isr


def test_the_session_has_the_znodes_partitions_and_brokers_of_any_moment(tmp_path: Path) -> None:
    release = "3.5.2"
    path = tmp_path / "incident.tide.db"
    incident = record(history(release), path, ["version-2"])
    assert incident.mode == "zk"
    with SessionFile(path) as session:
        cursor = Cursor(Chunks(session))
        cursor.seek_seq(session.last_seq)
        view = cursor.replay.view
        expected = znodes(release)
        assert {path: view.state.znodes[path].data for path in expected} == {
            path: each["data"] for path, each in expected.items()
        }
        assert {path: view.state.znodes[path].version for path in expected} == {
            path: each["version"] for path, each in expected.items()
        }


def test_lines_of_text_logs_are_causes_of_what_znodes_say(tmp_path: Path) -> None:
    """From a partition without a leader to the session that ended, and the line that says so."""
    release = "3.5.2"
    lines = find_text_logs([TEXT_LOGS / release])
    path = tmp_path / "incident.tide.db"
    incident = record(history(release), path, ["inc"], lines=lines)
    timeline = incident.timeline.entries
    gone = [entry for entry in timeline if entry.what == "the registration of broker 2 is gone"]
    file, _, number = gone[1].source.rpartition(":")
    text = gzip.decompress(Path(file).read_bytes()).split(b"\n")[int(number) - 1]
    assert b"Expiring session" in text
    assert any("no time zone" in note for note in incident.notes)
    with SessionFile(path) as session:
        told = {event.seq: event for event in session.all_events()}
    lost = next(
        event
        for event in told.values()
        if isinstance(event, events.PartitionStateChanged)
        and (event.tp, event.leader) == ("u-2", -1)
    )
    causes = []
    cause = lost.cause
    while cause:
        causes.append(told[cause])
        cause = told[cause].cause
    kinds = [type(event) for event in causes]
    assert kinds == [events.SessionEnded, events.LineLogged]
    assert isinstance(causes[-1], events.LineLogged)
    assert causes[-1].source == gone[1].source


def test_losses_and_shutdowns_are_told_apart_and_end(tmp_path: Path) -> None:
    path = tmp_path / "incident.tide.db"
    incident = record(history("3.5.2"), path, ["version-2"])
    losses = [(loss.broker, loss.is_controlled) for loss in incident.impact.losses]
    assert losses[:5] == [(0, False), (2, True), (0, False), (2, False), (1, False)]
    assert all(loss.unfenced_us is not None for loss in incident.impact.losses[:5])
    with SessionFile(path) as session:
        states = [
            (event.broker, event.state)
            for event in session.all_events()
            if isinstance(event, events.BrokerStateChanged)
        ]
    assert [each for each in states if each[1] != "running"][:2] == [(0, "fenced"), (2, "stopped")]


def test_a_snapshot_and_what_follows_it_give_the_same_state(tmp_path: Path) -> None:
    """A log that begins later needs a snapshot; without one its beginning is unknown, and told."""
    folder = tmp_path / "version-2"
    folder.mkdir()
    data = raw("2.4.1")
    (folder / "log.1").write_bytes(data)
    whole = as_plain(examine(history("2.4.1")))
    found = find_transaction_logs([tmp_path])
    assert found is not None
    assert as_plain(examine(found))["partitions"] == whole["partitions"]
    half = len(data.rstrip(b"\0")) // 2
    start = data.index(b"B", half) + 1
    while True:  # the next entry that is whole
        later = data[:16] + data[start:]
        (folder / "log.1").write_bytes(later)
        found = find_transaction_logs([tmp_path])
        assert found is not None
        first = next(iter(found.transactions(0)), None)
        if first is not None:
            break
        start = data.index(b"B", start) + 1
    notes = examine(found).notes
    assert any("is unknown: no snapshot" in note for note in notes)


def test_copies_of_an_ensemble_complete_each_other(tmp_path: Path) -> None:
    data = raw("3.5.2").rstrip(b"\0")
    for server, copy in (("one", data), ("two", data[: len(data) // 3])):
        folder = tmp_path / server / "version-2"
        folder.mkdir(parents=True)
        (folder / "log.1").write_bytes(copy)
    found = find_transaction_logs([tmp_path])
    assert found is not None
    incident = examine(found)
    assert incident.batches == examine(history("3.5.2")).batches
    assert any("is torn" in note for note in incident.notes)


def test_a_chroot_is_found(tmp_path: Path) -> None:
    data = raw("3.5.2")
    assert b"/brokers/ids" in data
    folder = tmp_path / "version-2"
    folder.mkdir()
    shutil.copy(RECORDINGS / "3.5.2" / LOG, folder / "log.1.gz")
    found = find_transaction_logs([folder])
    assert found is not None
    document = as_plain(examine(found))
    assert json.dumps(document)
    assert [each["topic"] for each in document["partitions"]] == ["t"]
    assert document["mode"] == "zk"


def test_a_log_without_kafka_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.1").write_bytes(raw("3.5.2")[:16] + bytes(64))
    found = find_transaction_logs([tmp_path])
    assert found is not None
    with pytest.raises(SourceError, match="there is no Kafka in it"):
        examine(found)


def test_random_mutations_are_told_and_nothing_else(tmp_path: Path) -> None:
    drawn = random.Random("history")
    for number in range(60):
        mutated = bytearray(raw(drawn.choice(RELEASES)).rstrip(b"\0"))
        for _ in range(drawn.randint(1, 4)):
            at = drawn.randrange(16, len(mutated))
            mutated[at : at + drawn.randint(0, 9)] = drawn.randbytes(drawn.randint(0, 9))
        path = tmp_path / f"log.{number + 1:x}.gz"
        path.write_bytes(gzip.compress(bytes(mutated), 1))
        found = find_transaction_logs([path])
        assert found is not None
        try:
            sentences = examine(found).notes
        except SourceError as error:
            sentences = [str(error)]
        assert all(len(sentence) < 500 and sentence.isprintable() for sentence in sentences)


def test_brokers_are_silent_for_the_timeout_that_zookeeper_granted() -> None:
    """Sessions of these clusters have 9 s, which no text log says."""
    incident = examine(history("2.8.2"))
    value = incident.processes.value("zookeeper.session.timeout.ms")
    assert value == ConfiguredValue("9000", (), is_negotiated=True)
    created = [
        operation.timeout_ms
        for transaction in history("2.8.2").transactions(0)
        for operation in transaction.operations
        if operation.type == CREATE_SESSION
    ]
    assert 9_000 in created
    assert timeout_of(incident) == (
        "zookeeper.session.timeout.ms (9 s, by ZooKeeper's transaction log)"
    )


def test_an_incident_is_run_again_from_the_znodes_before_it() -> None:
    log = history("2.8.2")
    incident = examine(log)
    before = partial(image_before, history("2.8.2"))
    *_, worst = what_if(before, incident, Setting("unclean.leader.election.enable", "false"))
    assert [fault.what for fault in worst.faults] == [
        *("broker 0 dies", "broker 2 dies", "broker 1 dies"),
        *("broker 0 starts", "broker 1 starts", "broker 2 starts"),
    ]
    assert worst.is_timeout_known
    assert (Setting("zookeeper.session.timeout.ms", "9000"), "ZooKeeper's transaction log") in (
        worst.configured
    )
    assert worst.without.unclean == ["t-0"]
    assert worst.changed.unclean == []
    assert worst.changed.lost == 0 < worst.without.lost
    assert worst.changed.offline["t-0"] > worst.without.offline.get("t-0", 0)
