from pathlib import Path

import pytest

from commands.analysing import tables
from commands.main import run_program
from sessions.analysis.analyze import AnalysisReport, ReportTable


def test_results_are_tables_with_their_size() -> None:
    table = ReportTable("t", "Commit latency", ("TP", "P99"), (("t-0", 1.5),), 1200, Path("o/t"))
    found = tables(AnalysisReport(Path("d"), Path("o"), 2, 500, (table,)))
    assert found[0].rows == [(2, 500, "o")]
    assert found[1].title == "Commit latency (1 of 1,200 rows)"
    assert found[1].rows == [("t-0", "1.500")]


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
