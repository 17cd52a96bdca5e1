"""The program killed while it records or exports, and on a disk that fills up."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commands.cli.main import run_program
from sessions.dataset.layout import STAGING, Dataset
from sessions.format.chunks import Chunks
from sessions.format.file import SessionFile
from sessions.playback.replay import Replay
from sessions.playback.verify import verify
from tests.sessions.dataset.reading import rows

ROOT = Path(__file__).parent.parent.parent
START = "from commands.cli.main import main; main()"
CONFINED = """
from resource import RLIMIT_FSIZE, setrlimit
from signal import SIG_IGN, SIGXFSZ, signal
signal(SIGXFSZ, SIG_IGN)
setrlimit(RLIMIT_FSIZE, ({0}, {0}))
"""
ENDLESS = "cluster --brokers 3; topic create t --partitions 3 --replication-factor 3; wait 1s; " + (
    "produce t --count 2000 --batch 10 --value v --acks all; " * 50
)
FILE_BYTES_MAX = 100_000


def started(*arguments: str, file_bytes_max: int | None = None) -> "subprocess.Popen[str]":
    """The program, with no file longer than the disk has room for."""
    begin = "" if file_bytes_max is None else CONFINED.format(file_bytes_max)
    return subprocess.Popen(
        [sys.executable, "-c", begin + START, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process: "subprocess.Popen[str]", path: Path, size: int) -> None:
    """Let the process go on until a file has so many bytes."""
    while process.poll() is None and not (path.exists() and path.stat().st_size >= size):
        try:
            process.wait(0.01)
        except subprocess.TimeoutExpired:
            continue


def killed(process: "subprocess.Popen[str]", milliseconds: int) -> int:
    """Kill the process after a while, if it has not ended; gives its status."""
    try:
        process.wait(milliseconds / 1_000)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()
    return process.returncode


@pytest.mark.parametrize("milliseconds", random.Random(3).sample(range(1, 2_000), 3))
def test_a_run_killed_at_any_moment_leaves_a_session_that_opens_and_verifies(
    tmp_path: Path, milliseconds: int
) -> None:
    path = tmp_path / "a.tide.db"
    process = started("run", "-c", ENDLESS, "--record", str(path), "--keep", "64MB")
    wait_for(process, path.with_name("a.tide.db-wal"), 50_000)
    assert killed(process, milliseconds) == -signal.SIGKILL
    with SessionFile(path) as session:
        assert session.damage == ""
        assert not session.complete
        numbers = [event.seq for event in session.all_events()]
        assert numbers == list(range(session.first_seq, session.last_seq + 1))
        replay = Replay(Chunks(session))
        replay.seek_seq(session.last_seq)
        assert replay.seq == session.last_seq
    assert verify(path).same


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three sessions of some thousand events."""
    folder = tmp_path_factory.mktemp("recordings")
    text = "cluster; topic create t --partitions 3 --replication-factor 3; wait 1s; "
    text += "produce t --count 300 --value v --acks all"
    paths = [folder / f"{name}.tide.db" for name in "abc"]
    for path in paths:
        assert run_program(["run", "-c", text, "--record", str(path)]) == 0
    return paths


@pytest.mark.parametrize("seed", [1, 2])
def test_an_export_killed_again_and_again_ends_with_every_session_whole(
    recordings: list[Path], tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    dataset = tmp_path / "dataset"
    arguments = ["sessions", "export", *map(str, recordings), "--out", str(dataset)]
    for _ in range(4):
        process = started(*arguments)
        wait_for(process, dataset, 0)
        killed(process, chance.randrange(1_500))
        if Dataset(dataset).exists:
            require_whole(dataset)
    assert run_program(arguments) == 0
    assert Dataset(dataset).sessions() == ["a", "b", "c"]
    require_whole(dataset)
    assert list(dataset.glob(f"{STAGING}/*")) == []


def require_whole(dataset: Path) -> None:
    """What readers see is whole sessions, each with the events that it says."""
    left = Dataset(dataset)
    left.recover()
    left.require_whole()
    for session in left.sessions():
        (row,) = rows(dataset, "sessions", session)
        assert len(rows(dataset, "events", session)) == row["events"] > 1_000


def test_a_disk_that_fills_up_ends_the_recording_and_not_the_run(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    text = ENDLESS.partition("; produce")[0] + "; produce t --count 3000 --value v"
    process = started("run", "-c", text, "--record", str(path), file_bytes_max=FILE_BYTES_MAX)
    data, narration = process.communicate()
    assert process.returncode == 3
    assert "ACKED" in data
    last = narration.splitlines()[-1]
    assert last.startswith(f"{path} could not be written: ")
    assert "Traceback" not in narration
    with SessionFile(path) as session:
        assert session.last_seq > 100
    assert verify(path).same


def test_a_disk_that_is_full_from_the_beginning_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    process = started("run", "-c", "cluster", "--record", str(path), file_bytes_max=3_000)
    data, narration = process.communicate()
    assert (process.returncode, data) == (3, "")
    assert narration.startswith(f"{path} cannot be written: ")
    assert narration.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["export", "trim"])
def test_a_disk_that_fills_up_leaves_nothing_half_written(
    recordings: list[Path], tmp_path: Path, command: str
) -> None:
    target = tmp_path / ("dataset" if command == "export" else "b.tide.db")
    arguments = ["sessions", command, str(recordings[0]), "--out", str(target)]
    process = started(*arguments, file_bytes_max=8_000)
    data, narration = process.communicate()
    assert (process.returncode, data) == (3, "")
    assert narration.count("\n") == 1
    assert str(target) in narration
    assert list(tmp_path.iterdir()) == []
