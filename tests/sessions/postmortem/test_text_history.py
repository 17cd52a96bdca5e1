"""A timeline from text logs alone, against the exact history of the same cluster."""

from pathlib import Path

import pytest

from emulator import events
from sessions.format.chunks import Chunks
from sessions.format.file import SessionFile
from sessions.own_cluster.places import Place
from sessions.own_cluster.reading import SourceError
from sessions.playback.cursor import Cursor
from sessions.postmortem.incident import Incident
from sessions.postmortem.text_history import examine, read_sources, record
from sessions.postmortem.text_logs.merging import find_text_logs
from sessions.postmortem.zookeeper import examination as zookeeper
from tests.sessions.postmortem.text_logs.recorded import KRAFT, NAMED, RECORDINGS, WITH_ZOOKEEPER
from tests.sessions.postmortem.zookeeper.recorded import RELEASES, history


@pytest.mark.parametrize("release", ["2.4.1", "2.8.2", "3.5.2"])
def test_leaders_and_isrs_at_the_end_are_those_of_the_transaction_log(release: str) -> None:
    assert release in RELEASES
    told = examine(find_text_logs([RECORDINGS / release]))
    exact = zookeeper.examine(history(release))
    (topic,) = exact.image.topics.values()
    for number, partition in topic.partitions.items():
        found = told.image.partition(topic.name, number)
        assert found is not None
        assert found.leader == partition.leader
        assert set(partition.isr) <= set(found.isr)  # a shutdown's last changes are not told
    unclean = {entry.what for entry in exact.timeline.entries if entry.kind == "unclean"}
    assert {entry.what for entry in told.timeline.entries if entry.kind == "unclean"} == unclean


@pytest.mark.parametrize("release", RELEASES)
def test_losses_and_partitions_without_a_leader_are_those_of_the_transaction_log(
    release: str,
) -> None:
    told = examine(find_text_logs([RECORDINGS / release]))
    exact = zookeeper.examine(history(release))
    assert losses(told) == losses(exact)
    found = without_leader(told)
    for which, seconds in without_leader(exact).items():
        assert found[which] == pytest.approx(seconds, abs=1)


def losses(incident: Incident) -> list[tuple[int, bool]]:
    return [(loss.broker, loss.is_controlled) for loss in incident.impact.losses]


def without_leader(incident: Incident) -> dict[tuple[str, int, int | None], float]:
    """What had no leader for a second or longer: before, after, and for how many seconds."""
    return {
        (window.tp, window.leader, window.successor): seconds
        for window in incident.impact.offline
        if (seconds := window.lasts_us(incident.end_us) / 1e6) > 1
    }


@pytest.mark.parametrize("release", [*WITH_ZOOKEEPER, *KRAFT])
def test_each_entry_names_its_line_and_what_is_missing_is_said(release: str) -> None:
    incident = examine(find_text_logs([RECORDINGS / release]))
    assert incident.mode == ("kraft" if release in KRAFT else "zk")
    entries = incident.timeline.entries
    assert {entry.kind for entry in entries} >= {"leader", "isr-shrink", "offline", "line"}
    assert all(".log.gz:" in entry.source for entry in entries)
    assert any(note.startswith("there is no metadata log") for note in incident.notes)
    assert any("no line names the release" in note for note in incident.notes) != (release in NAMED)
    assert incident.release == release or release not in NAMED


def test_the_session_has_the_partitions_and_the_lines(tmp_path: Path) -> None:
    lines = find_text_logs([RECORDINGS / "3.5.2"])
    incident = record(lines, tmp_path / "a.tide.db", ["logs"])
    with SessionFile(tmp_path / "a.tide.db") as session:
        cursor = Cursor(Chunks(session))
        cursor.seek_seq(session.last_seq)
        view = cursor.replay.view
        partition = incident.image.partition("t", 0)
        assert partition is not None
        assert view.state.partitions["t-0"].leader == partition.leader
        told = {event.seq: event for event in session.all_events()}
    changed = [event for event in told.values() if isinstance(event, events.PartitionStateChanged)]
    assert changed
    assert all(isinstance(told[event.cause], events.LineLogged) for event in changed)


def test_a_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(
        "[2026-11-26 00:11:38,970] INFO Kafka version: 3.5.2 "
        "(org.apache.kafka.common.utils.AppInfoParser)\n"
    )
    incident = examine(find_text_logs([path]))
    assert incident.release == "3.5.2"
    assert not any("names the release" in note for note in incident.notes)


def test_only_text_logs_are_read_alone(tmp_path: Path) -> None:
    assert read_sources([str(RECORDINGS / "3.5.2")]) is not None
    assert read_sources([str(tmp_path)]) is None
    (tmp_path / "topics.txt").write_text("Topic: t\n")
    with pytest.raises(SourceError, match="is a text of an unknown kind"):
        read_sources([str(tmp_path / "topics.txt")])
    silent = tmp_path / "server.log"
    silent.write_text("[2026-11-26 00:11:38,970] INFO nothing (kafka.x.Y)\n")
    with pytest.raises(SourceError, match="no line in it is one of those"):
        examine(find_text_logs([silent]))


def test_an_offset_is_no_place_in_text_logs() -> None:
    with pytest.raises(SourceError, match="have no offsets: end at a time instead"):
        examine(find_text_logs([RECORDINGS / "3.5.2"]), until=Place(offset=3))
