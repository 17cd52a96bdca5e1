"""Text logs beside the metadata log: their lines are events, and causes of records."""

from datetime import UTC, datetime
from pathlib import Path

from emulator import events
from emulator.events import Event
from emulator.wire.metadata import messages as wire
from sessions.postmortem.incident import Incident, examine, read_sources
from sessions.postmortem.report import report_of, verdict
from sessions.postmortem.timeline import ISR_SHRINK
from tests.sessions.postmortem.logs import BEGIN_MS, TOPIC, Log, cluster, fence


def line(second: float, text: str) -> str:
    moment = datetime.fromtimestamp(BEGIN_MS / 1000 + second, UTC)
    return f"[{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03}] {text}\n"


def read(log: Log, folder: Path, texts: dict[str, str]) -> tuple[Incident, list[Event]]:
    log.write(folder / "node100" / "__cluster_metadata-0")
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    merged, lines = read_sources([str(folder)])
    assert merged is not None
    found: list[Event] = []
    return examine(merged, [found.append], lines=lines), found


def test_a_fencing_is_caused_by_the_controllers_line_and_that_by_the_brokers_last(
    tmp_path: Path,
) -> None:
    log = cluster()
    second = log.second
    log.second += 10
    log.add(fence(2, 4), version=1)
    broker = line(
        second,
        "INFO Terminating process due to signal SIGTERM"
        " (org.apache.kafka.common.utils.LoggingSignalHandler)",
    )
    controller = line(
        second + 9.5,
        "INFO [QuorumController id=100] Fencing broker 2 at epoch 4 because its session has timed"
        " out. (org.apache.kafka.controller.ReplicationControlManager)",
    )
    texts = {"node2/server.log": broker, "node100/controller.log": controller}
    incident, found = read(log, tmp_path, texts)
    by_seq = {event.seq: event for event in found}
    fenced = next(
        event
        for event in found
        if isinstance(event, events.BrokerStateChanged) and event.state == "fenced"
    )
    record = by_seq[fenced.cause]
    told = by_seq[record.cause]
    assert isinstance(record, events.MetadataRecordCommitted)
    assert isinstance(told, events.LineLogged)
    assert told.source.endswith("node100/controller.log:1")
    last = by_seq[told.cause]
    assert isinstance(last, events.LineLogged)
    assert (last.host, last.source.rpartition("/")[2]) == (2, "server.log:1")
    entry = next(each for each in incident.timeline.entries if each.what == "broker 2 is fenced")
    assert entry.source == told.source


def how_lost(incident: Incident) -> str:
    sections = report_of(incident, ["x"]).sections
    (row,) = next(each.rows for each in sections if each.title == "Brokers that were lost")
    return row[2]


def test_a_broker_that_led_nothing_shut_down_if_a_line_says_so(tmp_path: Path) -> None:
    log = cluster()
    second = log.second
    log.add(fence(2, 4), version=1)
    shutdown = line(
        second - 0.1,
        "INFO [QuorumController id=100] Unfenced broker 2 has requested and been granted an"
        " immediate shutdown. (org.apache.kafka.controller.BrokerHeartbeatManager)",
    )
    incident, _ = read(log, tmp_path / "a", {"node100/controller.log": shutdown})
    (loss,) = incident.impact.losses
    assert loss.is_controlled
    assert how_lost(incident) == "controlled shutdown"
    assert "without a shutdown" not in verdict(incident)
    silent, _ = read(log, tmp_path / "b", {})
    assert how_lost(silent) == "no heartbeat, or a shutdown while it led nothing"
    started = line(
        0,
        "INFO [BrokerServer id=2] Transition from STARTING to STARTED (kafka.server.BrokerServer)",
    )
    died, _ = read(log, tmp_path / "c", {"node2/server.log": started})
    assert how_lost(died) == "no heartbeat"
    missed = line(
        second - 3,
        "WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error in response for fetch"
        " request (kafka.server.ReplicaFetcherThread)",
    )
    texts = {"node2/server.log": started, "node1/server.log": missed}
    missing, _ = read(log, tmp_path / "d", texts)
    assert how_lost(missing) == "no heartbeat, unreachable for 3.000 s before"


def test_a_shrink_has_the_leaders_line_with_its_offsets(tmp_path: Path) -> None:
    log = cluster()
    second = log.second
    log.add(wire.PartitionChangeRecord(0, TOPIC, [1, 2]), version=2)
    text = line(
        second - 0.1,
        "INFO [Partition t-0 broker=1] Shrinking ISR from 1,2,3 to 1,2. Leader: (highWatermark: 7,"
        " endOffset: 9). Out of sync replicas: (brokerId: 3, endOffset: 7, lastCaughtUpTimeMs:"
        " 1790000000000). (kafka.cluster.Partition)",
    )
    incident, _ = read(log, tmp_path, {"node1/server.log": text})
    entry = incident.timeline.entries[-1]
    assert entry.kind == ISR_SHRINK
    assert "HW 7, the leader's end at 9; broker 3 was at 7" in entry.because
    assert entry.what == "t-0: [3] left the ISR, which is [1,2]"
    assert entry.source.endswith("node1/server.log:1")


def test_a_text_log_without_a_zone_is_told(tmp_path: Path) -> None:
    text = line(
        1,
        "INFO [BrokerServer id=1] Transition from STARTING to STARTED (kafka.server.BrokerServer)",
    )
    incident, _ = read(cluster(), tmp_path, {"node1/server.log": text})
    assert any("say no time zone" in note for note in incident.notes)


def test_lines_between_no_ops_have_their_own_times(tmp_path: Path) -> None:
    log = cluster()
    second = log.second
    for _ in range(9):
        log.add(wire.NoOpRecord())
    text = line(
        second + 3,
        "INFO [BrokerServer id=1] Transition from STARTING to STARTED (kafka.server.BrokerServer)",
    )
    incident, found = read(log, tmp_path, {"node1/server.log": text})
    assert not any("clock" in note for note in incident.notes)
    (told,) = [event for event in found if isinstance(event, events.LineLogged)]
    assert told.time_us % 60_000_000 == (BEGIN_MS + 1000 * (second + 3)) * 1000 % 60_000_000
