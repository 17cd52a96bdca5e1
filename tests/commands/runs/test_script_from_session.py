"""Sessions as scripts: the same statements at the same moments, and so the same state."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.cli.sessions import script
from commands.exits import CommandError, ExitCode
from commands.language.parser import parse_script
from commands.runs.console_library import script_of_live
from commands.runs.live import live_source
from commands.runs.script_from_session import (
    ESCAPED,
    cluster_text,
    free_name,
    write_script,
)
from emulator.inputs.statements import CreateCluster
from sessions.recording.recorder import Recorder
from sessions.sources.live import LiveSource
from sessions.text import without_controls
from tests.sessions.examples import edited

SCRIPT = """cluster --brokers 3 --seed 9
topic create t --replica-assignment 1:2
wait until t-0.leader == 1
produce t --value a --acks all
show partitions
expect t-0.leo == 1
"""


@pytest.fixture
def live(tmp_path: Path) -> Iterator[tuple[LiveSource, Recorder]]:
    path = tmp_path / "begin.tide"
    path.write_text(SCRIPT)
    source, recorder = live_source(path, None, {}, ["--version", "2.8"])
    yield source, recorder
    source.close()
    recorder.close()


def run_again(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    path = tmp_path / "saved.tide"
    path.write_text(text)
    capsys.readouterr()
    assert run_program(["run", str(path), "--json"]) in (ExitCode.OK, ExitCode.FAILED)
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_saved_session_comes_to_the_same_state(
    live: tuple[LiveSource, Recorder], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, _ = live
    source.advance(1.234567, 1.0, 1_000)
    source.submit("produce t --value b --acks all --count 3")
    source.advance(0.1, 1.0, 1_000)
    source.submit("broker crash 1")
    source.advance(7.7, 4.0, 5_000)
    source.step(17)
    source.submit("broker start 1")
    source.advance(3.0, 1.0, 5_000)
    again = run_again(script_of_live(source), tmp_path, capsys)
    assert again["state_hash"] == source.runner.state_hash
    assert again["events"] == source.last_seq


def test_what_was_given_while_another_statement_went_on_goes_on_with_it_again(
    live: tuple[LiveSource, Recorder], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, _ = live
    source.submit("replica pause t-0@2")
    assert source.submit("produce t --value late --acks all --timeout 2s --retries 0").pending
    source.advance(0.5, 1.0, 1_000)
    assert source.submit("wait until t-0.leader == 2 within 3s").pending
    source.advance(1.0, 1.0, 1_000)
    source.submit("replica resume t-0@2")
    source.advance(4.0, 1.0, 5_000)
    again = run_again(script_of_live(source), tmp_path, capsys)
    assert again["state_hash"] == source.runner.state_hash


def test_a_saved_script_can_be_opened_and_saved_again(
    live: tuple[LiveSource, Recorder], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, _ = live
    source.advance(0.777, 1.0, 1_000)
    source.submit("broker freeze 2")
    source.advance(2.0, 1.0, 1_000)
    path = tmp_path / "first.tide"
    path.write_text(script_of_live(source))
    again, recorder = live_source(path, None, {}, [])
    try:
        again.submit("broker thaw 2")
        again.advance(1.0, 1.0, 1_000)
        state = again.runner.state_hash
        assert run_again(script_of_live(again), tmp_path, capsys)["state_hash"] == state
    finally:
        again.close()
        recorder.close()


def test_statements_of_a_script_need_no_moments(live: tuple[LiveSource, Recorder]) -> None:
    text = script_of_live(live[0])
    assert [line.split()[0] for line in text.splitlines() if not line.startswith("#")] == [
        "cluster",
        "topic",
        "wait",
        "produce",
        "expect",
        "at",
    ]


def test_a_recording_is_a_script_too(
    live: tuple[LiveSource, Recorder], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "begin.tide"
    assert live
    run_program(["run", str(path), "--record", str(tmp_path / "s.tide.db"), "--json"])
    recorded = json.loads(capsys.readouterr().out)
    assert run_program(["sessions", "script", str(tmp_path / "s.tide.db")]) == ExitCode.OK
    text = capsys.readouterr().out
    script(str(tmp_path / "s.tide.db"))
    assert capsys.readouterr().out == text
    assert run_again(text, tmp_path, capsys)["state_hash"] == recorded["state_hash"]


@pytest.mark.parametrize(
    "spec",
    [
        CreateCluster(),
        CreateCluster(
            brokers=2, first_id=3, racks=["a", "b"], hosts=["x", "y"], version="0.10.0", seed=-4
        ),
        CreateCluster(config={"min.insync.replicas": "2"}, stepwise=True),
    ],
)
def test_a_cluster_is_written_as_it_is_read(spec: CreateCluster) -> None:
    assert parse_script(cluster_text(spec), "-").spec == spec


def test_a_moment_that_is_past_fails_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "late.tide"
    path.write_text("cluster\nwait 5s\nexpect time > 0\nat 2s\n")
    assert run_program(["run", str(path)]) == ExitCode.FAILED
    assert "REFUSED TOO_LATE: it is 5.6" in capsys.readouterr().err


def test_a_moment_without_steps_is_a_time(tmp_path: Path) -> None:
    path = tmp_path / "at.tide"
    path.write_text("cluster\nat 4.5s\nexpect time == 4500\nat 5s\nexpect time == 5000\n")
    assert run_program(["run", str(path)]) == ExitCode.OK


def test_a_typed_line_knows_no_at() -> None:
    from commands.runs.live import asked

    with pytest.raises(ValueError, match="'at' works only in scripts"):
        asked("at 4s")


def test_a_script_is_never_written_over_another(tmp_path: Path) -> None:
    written = write_script("cluster\n", tmp_path / "mine")
    assert written == tmp_path / "mine.tide"
    with pytest.raises(CommandError, match=r"already exists; 'mine-2\.tide' is free"):
        write_script("cluster\n", tmp_path / "mine.tide")
    assert free_name(written) == tmp_path / "mine-2.tide"


def test_a_script_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"cannot write .*no such file or directory"):
        write_script("cluster\n", tmp_path / "nowhere" / "mine.tide")


HOSTILE = "wait 1s \x1b]0;owned\x07\nrun evil.tide\u202e\x9b2J\u2028"


def test_a_foreign_sessions_statements_control_no_terminal_and_are_one_line_each(
    live: tuple[LiveSource, Recorder], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.tide.db"
    assert live
    run_program(["run", str(tmp_path / "begin.tide"), "--record", str(path)])
    edited(path, "UPDATE inputs SET text = ? WHERE text LIKE 'wait%'", HOSTILE)
    capsys.readouterr()
    assert run_program(["sessions", "script", str(path)]) == ExitCode.OK
    text = capsys.readouterr().out
    assert ESCAPED in text
    assert [each for each in text if not each.isprintable()] == ["\n"] * text.count("\n")
    assert not any(line.startswith("run ") for line in text.splitlines())
    assert r"\x1b]0;owned\x07\nrun evil.tide\u202e\x9b2J\u2028" in text


def test_what_is_no_control_stays_as_it_was_written() -> None:
    text = "produce\tt --value '\u00e9 \U0001f469\u200d\U0001f680 \u05d0'"
    assert without_controls(text) == text
