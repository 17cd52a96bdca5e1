"""A search in one process, kept in a folder: killed, damaged, and gone on with."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode
from emulator.explorer.bounds import Bounds
from emulator.explorer.question import Question, Release
from emulator.explorer.search import Progress, Result, Search
from sessions.child_process import environment, python_command
from sessions.exploration.folder import ExplorationError, WorkFolder
from sessions.exploration.local_search import LEVELS, kept_search

SMALL = Question(Release(Bounds("0.10.2", records=1, elections=1, crashes=1)), ("IsrHasCommitted",))
LARGE = ["explore", "--version", "3.9", "--replicas", "3", "--crashes", "2"]


def alone(question: Question) -> Result:
    return Search(question.of.model(), question.properties).run(keep_going=True)


def kept(question: Question, folder: Path, *, resume: bool = False) -> Result:
    with kept_search(question, str(folder), resume=resume) as (search, keep):
        return search.run(keep_going=True, keep=keep)


def test_it_finds_what_a_search_finds_that_is_not_kept(tmp_path: Path) -> None:
    assert kept(SMALL, tmp_path / "work") == alone(SMALL)
    assert kept(SMALL, tmp_path / "work", resume=True) == alone(SMALL)


def test_cut_off_anywhere_it_goes_on_and_ends_alike(tmp_path: Path) -> None:
    expected = kept(SMALL, tmp_path / "work")
    path = tmp_path / "work" / LEVELS
    whole = path.read_bytes()
    for length in range(0, len(whole), len(whole) // 12):
        path.write_bytes(whole[:length])
        assert kept(SMALL, tmp_path / "work", resume=True) == expected
        assert path.read_bytes() == whole


def test_a_level_whose_bytes_are_damaged_is_made_again(tmp_path: Path) -> None:
    expected = kept(SMALL, tmp_path / "work")
    path = tmp_path / "work" / LEVELS
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert kept(SMALL, tmp_path / "work", resume=True) == expected


def test_killed_it_goes_on_and_counts_what_there_was(tmp_path: Path) -> None:
    """The search has a few levels when it is killed, and needs no more than the rest after that."""
    work = tmp_path / "work"
    command = python_command("-m", "tidegauge", *LARGE, "--out", str(work))
    process = subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 300
        while not (work / LEVELS).exists() or (work / LEVELS).stat().st_size < 100_000:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    question = Question(Release(Bounds("3.9", replicas=3, crashes=2)), tuple(_properties(work)))
    with kept_search(question, str(work), resume=True) as (search, _keep):
        seen: list[Progress] = []

        def one_look(progress: Progress) -> str:
            seen.append(progress)
            return "enough"

        resumed = search.run(one_look)
    assert seen[0].depth > 3

    def as_far(progress: Progress) -> str:
        return "enough" if progress == seen[0] else ""

    assert Search(question.of.model(), question.properties).run(as_far) == resumed


def _properties(work: Path) -> list[str]:
    found: list[str] = json.loads((work / "search.json").read_text())["question"]["properties"]
    return found


def test_another_search_is_told_from_this_one(tmp_path: Path) -> None:
    work = tmp_path / "work"
    kept(SMALL, work)
    with pytest.raises(ExplorationError, match="already contains this search; --resume continues"):
        kept(SMALL, work)
    other = Question(Release(Bounds("0.10.2", records=2, crashes=1)), SMALL.properties)
    with pytest.raises(ExplorationError, match="another search: records 1, not 2"):
        kept(other, work, resume=True)
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "file").touch()
    with pytest.raises(ExplorationError, match="something other than a search"):
        kept(SMALL, tmp_path / "else", resume=True)
    (work / "search.json").write_text("{")
    with pytest.raises(ExplorationError, match="is damaged"):
        kept(SMALL, work, resume=True)


def test_one_process_at_a_time_searches_in_a_folder(tmp_path: Path) -> None:
    with (
        kept_search(SMALL, str(tmp_path / "work"), resume=False),
        pytest.raises(ExplorationError, match="another process is searching"),
        kept_search(SMALL, str(tmp_path / "work"), resume=True),
    ):
        pass


def test_what_cannot_be_a_folder_is_refused() -> None:
    with pytest.raises(ExplorationError, match="is not on this machine"):
        _open("s3a://bucket/work")
    with pytest.raises(ExplorationError, match="is not a URI"):
        WorkFolder("s3a:work")


def _open(place: str) -> None:
    with kept_search(SMALL, place, resume=False):
        pass


def test_the_program_goes_on_after_a_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explore", "--version", "3.9", "--elections", "1", "--json"]
    work = ["--out", str(tmp_path / "work")]
    assert run_program(words) == ExitCode.OK
    expected = json.loads(capsys.readouterr().out)
    assert run_program([*words, *work, "--time", "1ms"]) == ExitCode.TIME_LIMIT
    assert not json.loads(capsys.readouterr().out)["complete"]
    assert run_program([*words, *work]) == ExitCode.UNREACHABLE
    assert "--resume continues it" in capsys.readouterr().err
    assert run_program([*words, *work, "--resume"]) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    del found["seconds"], expected["seconds"]
    assert found == expected
