"""``tidegauge postmortem``: what it prints and writes, and its exit status."""

import json
from base64 import urlsafe_b64decode
from pathlib import Path

import pytest

from commands.cli.main import run_program
from emulator.wire.metadata import messages as wire
from sessions.postmortem.incident import examine, read_paths
from tests.sessions.postmortem.logs import BEGIN_MS, Log, cluster, fence

RECORDED = str(Path(__file__).parents[1] / "sessions/postmortem/recordings/kraft-4.1.2")
KEYS = ("schema", "release", "mode", "nodes", "records", "batches", "unexplained", "partitions")


def test_the_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["postmortem", RECORDED, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert tuple(told) == (*KEYS, "brokers", "timeline")
    assert (told["schema"], told["release"], told["mode"]) == (1, "4.1", "kraft")
    assert told["nodes"] == [1, 2, 3, 4, 5, 100]
    assert (told["records"], told["batches"]) == (976, 632)
    assert told["unexplained"] == []
    assert told["brokers"][0] == {"id": 1, "fenced": False, "rack": "r0"}
    assert set(told["partitions"][0]) == {
        *("topic", "partition", "state", "leader", "isr", "elr", "leader_epoch"),
        "partition_epoch",
    }
    assert set(told["timeline"][0]) == {"time", "what", "because", "source"}


def test_a_session_and_both_reports_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session, page = tmp_path / "incident.tide.db", tmp_path / "report.html"
    given = ["postmortem", RECORDED, "--record", str(session), "--report", str(page)]
    assert run_program(given) == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert run_program(given) == 3
    assert "exists" in capsys.readouterr().err
    assert run_program(["sessions", "show", str(session)]) == 0
    text = tmp_path / "report.md"
    assert run_program(["postmortem", RECORDED, "--report", str(text)]) == 0
    assert "## Partitions without a leader" in text.read_text()


def test_the_state_at_a_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = cluster()
    before = log.offset - 1
    folder = log.add(fence(2, 4), version=1).write(tmp_path)
    asked = ["postmortem", str(folder), "--no-check", "--json", "--at"]
    assert run_program([*asked, str(before)]) == 0
    assert not json.loads(capsys.readouterr().out)["brokers"][1]["fenced"]
    assert run_program([*asked, str(before + 1)]) == 0
    assert json.loads(capsys.readouterr().out)["brokers"][1]["fenced"]


def test_a_log_of_times_that_no_calendar_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = cluster()
    log.second = 9_000_000_000_000_000 - BEGIN_MS // 1_000  # the largest of 64 bits are 9.2e18 ms
    folder = str(log.add(fence(2, 4), version=1).write(tmp_path / "log"))
    session = str(tmp_path / "incident.tide.db")
    assert run_program(["import", folder, "--at", "1000", "--out", "-"]) == 0
    assert "9999-12-31T23:59:59.999Z" in capsys.readouterr().err
    assert run_program(["postmortem", folder, "--no-check", "--record", session]) == 0
    assert "9999-12-31T23:59:59.999Z  broker 2 is fenced" in capsys.readouterr().out
    assert run_program(["sessions", "show", session]) == 0


def test_what_no_rule_explains_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = cluster()
    offset = log.offset
    folder = log.add(fence(2, 4), version=1).write(tmp_path)
    assert run_program(["postmortem", str(folder), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    last = told["unexplained"][-1]
    assert (last["offset"], last["record"]["type"]) == (offset, "BrokerRegistrationChange")
    assert "the fencing of broker 2 also changes t-0 to leader 1, ISR [1,3]" in last["why"]
    assert any(each["because"] == last["why"] for each in told["timeline"])


def test_a_record_that_no_rule_explains_is_listed_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = (Path(RECORDED) / f"{0:020}.log").read_bytes()
    image = examine(read_paths([RECORDED])).image
    topic = image.topic("t0")
    assert topic is not None
    offset = image.offset + 1
    topic_id = urlsafe_b64decode(f"{topic.id}==")
    stranger = wire.PartitionChangeRecord(0, topic_id, [4, 5], 3)  # led from outside the ISR
    log = Log(offset, second=8_000_000)
    log.batches = [data]
    log.add(stranger, version=2).write(tmp_path)
    assert run_program(["postmortem", str(tmp_path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    (unexplained,) = told["unexplained"]
    assert unexplained["offset"] == offset
    assert unexplained["record"]["type"] == "PartitionChange"
    assert unexplained["record"]["data"]["leader"] == 3
    assert unexplained["why"]
    assert told["timeline"][-1]["because"] == unexplained["why"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--what-if", "min.insync.replicas"],
            "--what-if: 'min.insync.replicas' is not CONFIG=VAL",
        ),
        (["--what-if", "min.isr=2"], "--what-if: "),
        (["--at", "yesterday"], "--at: 'yesterday' is neither an offset nor a time such as 2026-"),
        (["--report", "report.pdf"], "--report: 'report.pdf' ends neither with .md nor .html"),
    ],
)
def test_wrong_words_are_named(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["postmortem", RECORDED, *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_text_logs_alone_are_not_run_again(capsys: pytest.CaptureFixture[str]) -> None:
    logs = str(Path(RECORDED).parent / "text_logs" / "2.8.2")
    assert run_program(["postmortem", logs, "--what-if", "min.insync.replicas=2"]) == 3
    said = capsys.readouterr().err
    assert said.startswith("--what-if: text logs do not always say which replicas")
    assert said.count("\n") == 1


def test_a_long_history_is_written_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.postmortem.beside.WORTH_BYTES", 0)
    monkeypatch.setattr("sessions.postmortem.beside.NICENESS", 0)
    session = tmp_path / "incident.tide.db"
    given = ["postmortem", RECORDED, "--record", str(session)]
    assert run_program(given) == 0
    assert "every record is explained" in capsys.readouterr().out
    assert run_program(["sessions", "show", str(session)]) == 0
    capsys.readouterr()
    assert run_program(given) == 3
    assert "exists" in capsys.readouterr().err
