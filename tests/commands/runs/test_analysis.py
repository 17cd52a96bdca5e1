import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.runs import analysis
from commands.runs.analysis import findings, plain, tables
from console.model.library import Finding
from sessions.analysis.run import AnalysisReport, ReportTable
from sessions.dataset.layout import MARKER
from sessions.dataset.location import Location
from tests.sessions.dataset.reading import exported
from tests.sessions.dataset.streams import committed_story

ROOT = Path(__file__).parents[3]
LOOK_EVERY_S = 0.02
PROGRAM = "from commands.cli.main import main; main()"


def report() -> AnalysisReport:
    headers, rows = ("TP", "P99 ms"), (("t-0", 1.5),)
    shown = ReportTable("latency", "t", "Commit latency", headers, rows, 1200, Location("o/t"))
    written = ReportTable("latency", "u", "Over time", (), (), 77, Location("o/u"))
    return AnalysisReport(Location("d"), Location("o"), 2, 500, (shown, written))


def test_results_are_tables_with_their_size() -> None:
    found = tables(report())
    assert found[0].rows == [(2, 500, "o")]
    assert found[1].title == "Commit latency (1 of 1,200 rows)"
    assert found[1].rows == [("t-0", "1.500")]
    assert len(found) == 2  # what is only written has no table


def test_results_are_one_object_by_table() -> None:
    found = plain(report())
    assert (found["sessions"], found["events"], found["out"]) == (2, 500, "o")
    assert found["results"]["t"]["worst"] == [{"tp": "t-0", "p99_ms": 1.5}]
    assert found["results"]["u"] == {
        "job": "latency", "title": "Over time", "path": "o/u", "rows": 77, "worst": [],
    }  # fmt: skip


def test_a_line_knows_the_recording_and_the_event_that_it_is_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = Path("s1.tide.db")
    monkeypatch.setattr(analysis, "_recordings", lambda _: {"s1": there})
    headers, rows = ("TP", "AT EVENT"), (("t-0", 7), ("t-1", 8), ("t-2", None))
    happened = (("s1", 7), ("s2", 8), None)
    shown = ReportTable("isr", "t", "ISRs", headers, rows, 3, Location("o/t"), happened)
    found = findings(AnalysisReport(Location("d"), Location("o"), 2, 500, (shown,)))
    assert found[-4:] == [
        Finding("TP   AT EVENT"),
        Finding("t-0         7", there, 7),
        Finding("t-1         8", None, 8),
        Finding("t-2         -"),
    ]
    assert found[0] == Finding("analysis of d")


def test_a_job_that_does_not_exist_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["analyze", "d", "--out", "o", "--job", "failovers"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "there is no job 'failovers'; the nearest is 'failover'" in error


def test_two_sparks_at_once_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["analyze", "d", "--out", "o", "--master", "local", "--remote", "sc://x"]
    assert run_program(arguments) == 2
    assert capsys.readouterr().err.endswith("takes --master or --remote, not both\n")


def test_a_dataset_that_is_missing_cannot_be_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run_program(["analyze", str(tmp_path / "none"), "--out", str(out)]) == 3
    assert capsys.readouterr().err.count("\n") == 1
    assert not out.exists()


def test_without_java_one_sentence_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    path, dataset = tmp_path / "one.tide.db", str(tmp_path / "dataset")
    assert run_program(["run", "-c", "cluster", "--record", str(path)]) == 0
    assert run_program(["sessions", "export", str(path), "--out", dataset]) == 0
    capsys.readouterr()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert run_program(["analyze", dataset, "--out", str(tmp_path / "out")]) == 3
    assert "Java" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_dataset_of_another_version_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / MARKER).write_text('{"dataset": "tidegauge", "layout": 99}')
    assert run_program(["analyze", str(tmp_path), "--out", str(tmp_path / "out")]) == 5
    assert "of newer tidegauge than this one" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.spark
@pytest.mark.usefixtures("hasty_java")
def test_an_analysis_interrupted_while_spark_starts_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a traceback, nor a JVM that nobody would ever end, nor what it has on the disk."""
    dataset, out, scratch = tmp_path / "dataset", tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    exported(committed_story().events, dataset)
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "analyze", str(dataset), "--out", str(out)],
        cwd=ROOT, stderr=subprocess.PIPE,
    ) as program:  # fmt: skip
        assert program.stderr is not None
        assert program.stderr.readline() == b"starting Spark\n"
        while not naming(scratch):
            with pytest.raises(subprocess.TimeoutExpired):
                program.wait(LOOK_EVERY_S)
        program.send_signal(signal.SIGINT)
        assert program.stderr.read() == b"interrupted\n"
    assert not out.exists()
    assert list(scratch.glob("tidegauge-*")) == []
    assert naming(scratch) == []


def naming(folder: Path) -> list[str]:
    """The processes whose command names a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if str(folder).encode() in path.read_bytes():
                found.append(path.parent.name)
    return found
