"""Metadata transactions: at once at their end, or never."""

from pathlib import Path

from emulator.wire.metadata import messages as wire
from sessions.postmortem.incident import Incident, examine, read_paths
from tests.sessions.postmortem.logs import TOPIC, Log, cluster

OTHER = bytes(reversed(TOPIC))


def read(log: Log, folder: Path) -> Incident:
    return examine(read_paths([str(log.write(folder))]))


def test_a_transaction_takes_effect_at_its_end(tmp_path: Path) -> None:
    log = cluster().add(wire.BeginTransactionRecord("migration"), wire.TopicRecord("u", OTHER))
    assert read(log, tmp_path / "open").image.topic("u") is None
    log.add(wire.EndTransactionRecord())
    incident = read(log, tmp_path / "ended")
    assert incident.image.topic("u") is not None
    assert incident.records == log.offset


def test_an_open_one_is_told(tmp_path: Path) -> None:
    log = cluster().add(wire.BeginTransactionRecord(None), wire.TopicRecord("u", OTHER))
    assert "2 records has no end yet" in read(log, tmp_path).notes[0]


def test_an_aborted_one_has_no_effect(tmp_path: Path) -> None:
    log = cluster().add(wire.BeginTransactionRecord("x"), wire.TopicRecord("u", OTHER))
    log.leader(101, [100, 101, 102], epoch=2)
    log.add(wire.AbortTransactionRecord("a new leader"), wire.TopicRecord("v", OTHER))
    incident = read(log, tmp_path)
    assert incident.image.topic("u") is None
    assert incident.image.topic("v") is not None
    assert "1 record of aborted" in incident.notes[0]
