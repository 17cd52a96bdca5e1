"""Recorded metadata logs: what is read of them is what their cluster was."""

import gzip
from pathlib import Path

import pytest

from emulator.quorum_controller.explanation.trace import Explainer
from sessions.format.errors import SessionIncompleteError
from sessions.format.file import SessionFile
from sessions.own_cluster.places import place_of
from sessions.playback.verify import verify
from sessions.postmortem.document import as_plain
from sessions.postmortem.html import page
from sessions.postmortem.incident import Incident, examine, read_paths
from sessions.postmortem.markdown import markdown
from sessions.postmortem.report import Report, Row, Section, report_of
from sessions.postmortem.session import record
from tests.sessions.own_cluster.recorded import CASES, IDS, state_of

RECORDINGS = Path(__file__).parent / "recordings"
KRAFT = [case for case in CASES if (case / "metadata").is_dir()]
KRAFT_IDS = [name for case, name in zip(CASES, IDS, strict=True) if case in KRAFT]
FIELDS = ("leader", "isr", "elr", "leader_epoch", "partition_epoch", "state")


@pytest.mark.parametrize("case", KRAFT, ids=KRAFT_IDS)
def test_the_state_at_the_end_is_the_clusters(case: Path) -> None:
    plain = as_plain(examine(read_paths([str(case / "metadata")])))
    state = state_of(case)
    assert [
        (each["topic"], each["partition"], *(each[name] for name in FIELDS))
        for each in plain["partitions"]
    ] == [
        (each["topic"], each["partition"], *(each[name] for name in FIELDS))
        for each in sorted(state["partitions"], key=lambda e: (e["topic"], e["partition"]))
    ]
    assert {each["id"]: each["fenced"] for each in plain["brokers"]} == {
        each["id"]: each["fenced"] for each in state["brokers"]
    }
    controllers = [int(voter) for voter in state["quorum"]["voters"]]
    assert plain["nodes"] == sorted([*controllers, *(each["id"] for each in state["brokers"])])
    assert plain["release"] == case.parent.name.removeprefix("kraft-").rpartition(".")[0]


def test_the_state_at_an_offset_or_a_time_is_what_led_there() -> None:
    log = str(KRAFT[-1] / "metadata")
    at = as_plain(examine(read_paths([log]), until=place_of("106")))
    entry = at["timeline"][-1]
    same = as_plain(examine(read_paths([log]), until=place_of(entry["time"])))
    assert at["partitions"] == same["partitions"]
    assert at["records"] < as_plain(examine(read_paths([log])))["records"]


def test_compressed_segments_are_read_as_what_is_in_them(tmp_path: Path) -> None:
    folder = KRAFT[-1] / "metadata"
    for file in folder.iterdir():
        with gzip.open(tmp_path / f"{file.name}.gz", "wb") as compressed:
            compressed.write(file.read_bytes())
    assert as_plain(examine(read_paths([str(tmp_path)]))) == as_plain(
        examine(read_paths([str(folder)]))
    )


def test_a_session_has_wall_clock_times_and_no_script(tmp_path: Path) -> None:
    log = str(KRAFT[-1] / "metadata")
    path = tmp_path / "incident.tide.db"
    incident = record(read_paths([log]), path, [log])
    with SessionFile(path) as session:
        assert session.complete
        assert session.origin.sources == [log]
        zero_us = session.origin.wall_clock_us
        assert zero_us is not None
        assert zero_us % 86_400_000_000 == 0
        first = next(session.all_events())
        assert zero_us + first.time_us == incident.begin_us
        assert incident.begin_us < zero_us + session.last_us <= incident.end_us
    with pytest.raises(SessionIncompleteError, match="history of a real cluster"):
        verify(path)


def test_the_report_tells_what_was_unavailable_and_what_may_be_lost() -> None:
    recorded = str(Path(__file__).parent / "recordings" / "kraft-4.1.2")
    incident = examine(read_paths([recorded]))
    impact = incident.impact
    assert [(loss.broker, len(loss.offline)) for loss in impact.losses][:3] == [
        *((1, 1), (2, 1), (3, 0)),
    ]
    assert all(loss.in_sync_us is not None for loss in impact.losses)
    offline = impact.offline[0]
    assert (offline.tp, offline.leader, offline.successor) == ("t5-1", 1, 1)
    assert offline.lasts_us(incident.end_us) == 10_042_000
    assert offline.because == "broker 1 is fenced"
    assert {risk.tp for risk in impact.risks if risk.is_unclean} == {"t5-0", "t5-1"}
    report = report_of(incident, ["node100"])
    assert report.verdict.startswith("12 times a broker was lost without a shutdown; 2 partitions")
    text = markdown(report)
    assert "| t5-1 | 2026-11-23T19:06:04.725Z | 10.042 s | 1 | broker 1 is fenced | 1 |" in text
    html = page(report, "Made now.")
    time = '<td class="time">2026-11-23T19:06:04.725Z</td>'
    assert f"<td>t5-1</td>{time}<td>10.042 s</td>" in html


def test_a_path_in_a_page_breaks_before_a_name() -> None:
    timeline = Section("Timeline", header=("source",), rows=[("logs/node1/server.log.gz:3",)])
    html = page(Report("Postmortem", "Nothing was lost.", is_bad=False, sections=[timeline]), "")
    assert "<td>logs/<wbr>node1/<wbr>server.log.gz:3</td>" in html


@pytest.fixture(scope="module")
def faults() -> Incident:
    """A cluster of 4.4.0 through 20 faults, in which partitions moved and a topic was deleted."""
    return examine(read_paths([str(RECORDINGS / "faults-4.4.0-72")]), rules=Explainer())


def rows_of(incident: Incident, title: str) -> list[Row]:
    report = report_of(incident, ["faults"])
    return next(list(section.rows) for section in report.sections if section.title == title)


def test_a_replica_that_a_reassignment_removes_is_not_said_to_be_behind(faults: Incident) -> None:
    assert faults.impact.lags == []
    (row,) = (row for row in rows_of(faults, "ISRs that shrank") if row[3].endswith("offset 306"))
    assert row[1] == "b-1: [2] left the ISR, which is [1,4]"
    assert row[2] == (
        "broker 1 leads, and broker 4 caught up with it, and that completes the reassignment, "
        "which takes the partition from brokers 2 and 3; broker 4 was unfenced at offset 300"
    )


def test_partitions_of_deleted_topics_are_told_of(faults: Incident) -> None:
    leaders = {row[0]: row[1] for row in rows_of(faults, "Who led when")}
    assert leaders["a-1"].endswith("deleted at 2026-11-26T15:18:40.804Z")
    without = [row for row in rows_of(faults, "Partitions without a leader") if row[0] == "a-1"]
    assert without[-1][-1] == "the topic was deleted"
    in_sync = {row[:2]: row[-1] for row in rows_of(faults, "Brokers that were lost")}
    assert in_sync["4", "2026-11-26T15:18:37.661Z"] == "29.524 s"
    assert in_sync["2", "2026-11-26T15:18:38.693Z"] == "19.807 s"
    assert in_sync["3", "2026-11-26T15:18:08.030Z"] == "34.182 s"  # then it died again


def test_the_current_folder_is_called_by_its_name(
    faults: Incident, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert report_of(faults, ["."]).title == f"Postmortem of {tmp_path.name}"
