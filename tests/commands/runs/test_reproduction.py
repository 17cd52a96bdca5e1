"""The command line that comes back to where the console stands, tried out."""

import json
import shlex
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.runs.live import live_source, replay_source
from commands.runs.reproduction import command_line
from sessions.sources.twin import TwinSource
from tests.console.fakes import ListSource, failover

SCRIPT = """cluster --brokers 2 --seed 3
topic create t --partitions 1 --replication-factor 2
wait until t-0.leader == 0
produce t --value "a; b" --acks all
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "run.tide"
    path.write_text(SCRIPT)
    return path


def test_what_is_not_recorded_is_given_again_to_the_same_state(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, recorder = live_source(script, None, {}, ())
    with recorder:
        source.submit("broker crash 1")
        source.advance(0.5, 1.0, 1_000)
        words = shlex.split(command_line(source))
        wanted = source.runner.state_hash
        source.close()
    assert words[:3] == ["tidegauge", "run", "-c"]
    assert "broker crash 1" in words[3]
    assert run_program([*words[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state_hash"] == wanted


def test_a_recording_is_opened_at_the_time(script: Path, tmp_path: Path) -> None:
    path = tmp_path / "it is.tide.db"
    source, recorder = live_source(script, path, {}, ())
    with recorder:
        source.seek_seq(20)
        line = command_line(source)
        source.close()
    words = shlex.split(line)
    assert words[:3] == ["tidegauge", "replay", str(path)]
    assert words[3:] == ["--at", f"{source.time_us / 1_000_000:.6f}s", "--paused"]
    replayed = replay_source(path)
    replayed.seek_seq(20)
    assert command_line(replayed) == line
    replayed.close()


def test_of_what_nobody_knows_there_is_none() -> None:
    assert command_line(ListSource(failover())) == ""


def test_of_two_runs_the_front_one_counts(script: Path) -> None:
    (front, one), (behind, two) = (live_source(script, None, {}, ()) for _ in range(2))
    with one, two:
        twin = TwinSource(front, behind)
        assert command_line(twin) == command_line(front) != ""
        front.close()
        behind.close()
