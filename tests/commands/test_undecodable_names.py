"""A file's name may have bytes that are no UTF-8: every command says so with escapes, or works."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names are bytes there")
NAME = os.fsdecode(b"n\xff<b>")
SHOWN = r"n\udcff<b>"
DESCRIBED = """\
Topic: t\tPartitionCount: 1\tReplicationFactor: 2\tConfigs:
\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2
"""


@pytest.fixture
def session(tmp_path: Path) -> Path:
    recorded, path = tmp_path / "n.tide.db", tmp_path / f"{NAME}.tide.db"
    assert run_program(["run", "-c", "cluster --brokers 1", "--record", str(recorded)]) == 0
    shutil.move(recorded, path)
    return path


def test_json_has_surrogates_for_the_bytes(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run_program(["sessions", "show", str(session), "--json"]) == ExitCode.OK
    output, error = capsys.readouterr()
    assert error == ""
    assert json.loads(output)["path"] == str(session)


def test_its_session_can_be_exported(session: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow.parquet import read_table

    dataset = tmp_path / "dataset"
    assert run_program(["sessions", "export", str(session), "--out", str(dataset)]) == ExitCode.OK
    (row,) = read_table(dataset / "sessions").to_pylist()
    assert row["path"] == str(tmp_path / f"{SHOWN}.tide.db")


def test_a_page_has_escapes_for_the_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    described, page = tmp_path / f"{NAME}.txt", tmp_path / "page.html"
    described.write_text(DESCRIBED)
    status = run_program(["rehearse", str(described), "--lose", "broker=1", "--html", str(page)])
    assert status in (ExitCode.OK, ExitCode.FAILED), capsys.readouterr().err
    text = page.read_text("utf-8")
    assert SHOWN.replace("<b>", "&lt;b&gt;") in text


def test_a_dataset_cannot_have_such_a_name(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    arguments = ["sessions", "export", str(session), "--out", str(tmp_path / NAME)]
    assert run_program(arguments) == ExitCode.UNREACHABLE
    assert f"{SHOWN} has bytes that are no UTF-8; choose another name" in capsys.readouterr().err


def test_the_session_of_a_postmortem_names_its_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node, path = tmp_path / NAME, tmp_path / "history.tide.db"
    node.mkdir()
    (node / "server.log").write_text(
        "[2026-11-23 19:05:08,079] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
        "[2026-11-23 19:05:09,079] INFO [KafkaServer id=1] shutting down"
        " (kafka.server.KafkaServer)\n"
    )
    assert run_program(["postmortem", str(node), "--tz", "UTC", "--record", str(path)]) == 0
    capsys.readouterr()
    assert run_program(["sessions", "show", str(path), "--json"]) == ExitCode.OK
    (source,) = json.loads(capsys.readouterr().out)["origin"]["sources"]
    assert Path(source).name == SHOWN
