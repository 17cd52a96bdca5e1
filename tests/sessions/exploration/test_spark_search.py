"""A search on Spark counts what one in this process counts, and goes on after a kill."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.spark_servers import standalone_cluster
from commands.exits import ExitCode
from emulator.explorer.bounds import Bounds
from emulator.explorer.question import Question, Release, Specification
from emulator.explorer.search import Progress, Result, Search
from emulator.explorer.specifications import Constants
from emulator.explorer.successors import successors
from sessions.analysis.session import WORKERS_PYTHON
from sessions.child_process import environment, python_command
from sessions.exploration.folder import ExplorationError, StoredQuestion, WorkFolder
from sessions.exploration.spark_search import (
    CHECKPOINT,
    UNKNOWN,
    Checkpoint,
    Level,
    following_level,
    search_on_spark,
)

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("hasty_java")]

FAULTY = Question(
    Release(Bounds("0.10.2", records=1, elections=0, crashes=1, acks=1)), ("AcknowledgedKept",)
)
"""What the leader alone had acknowledged is lost with it: one fault, three steps."""
CELL = ["explore", "--spec", "Kip279", "--constants", "2,2,2,1", "--json"]


def here(question: Question, *, keep_going: bool = True) -> Result:
    return Search(question.of.model(), question.properties).run(keep_going=keep_going)


def quiet(_progress: Progress) -> str:
    return ""


def compared(result: Result) -> tuple[object, ...]:
    """What has to be the same; which of several shortest paths is found is not."""
    violations = [(each.name, each.faults, each.steps) for each in result.violations]
    return (result.states, result.depth, result.generated, result.faults, violations)


def break_off(patch: pytest.MonkeyPatch, work: str, checkpoints: tuple[int, ...]) -> None:
    """Go on with a search as often, and let it fail when it writes that checkpoint."""
    left = 0
    write = WorkFolder.write

    def fails(folder: WorkFolder, name: str, content: msgspec.Struct) -> None:
        nonlocal left
        if name == CHECKPOINT:
            left -= 1
            if not left:
                raise MemoryError
        write(folder, name, content)

    with patch.context() as patched:
        patched.setattr(WorkFolder, "write", fails)
        for number in checkpoints:
            left = number
            with pytest.raises(MemoryError):
                search_on_spark(FAULTY, work, quiet, resume=True, keep_going=True)


@pytest.mark.usefixtures("spark")
class TestHere:
    def test_faults_and_a_violation_are_those_of_the_search_in_one_process(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Also if it is broken off in any level: what comes before a checkpoint is done again."""
        work = str(tmp_path / "w[o]rk")
        found = search_on_spark(FAULTY, work, quiet)
        assert not found.complete
        (violation,) = found.violations
        assert (violation.faults, violation.steps) == (1, 3)
        model = FAULTY.of.model()
        for action, before, after in zip(
            violation.path, violation.states, violation.states[1:], strict=False
        ):
            following = [*successors(model.rules, before), *successors(model.faults, before)]
            assert (action, after) in following
        break_off(monkeypatch, work, (1, 3, 4))
        whole = search_on_spark(FAULTY, work, quiet, resume=True, keep_going=True)
        assert (whole.complete, whole.stopped) == (True, "")
        assert compared(whole) == compared(here(FAULTY))
        # What was found is told again without any search.
        assert search_on_spark(FAULTY, work, quiet, resume=True) == whole

    def test_states_that_differ_in_names_are_one_wherever_they_are_met(
        self, tmp_path: Path
    ) -> None:
        asked = Question(Specification("Kip101", Constants(3, 1, 0, 0), symmetric=True))
        found = search_on_spark(asked, str(tmp_path / "work"), quiet)
        assert compared(found) == compared(here(asked))

    def test_an_observer_ends_it_and_what_is_known_by_then_is_told(self, tmp_path: Path) -> None:
        def enough(progress: Progress) -> str:
            return "enough" if progress.depth == 3 else ""

        found = search_on_spark(FAULTY, str(tmp_path / "work"), enough)
        assert (found.stopped, found.complete, found.depth) == ("enough", False, 3)


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    folder = WorkFolder(str(tmp_path / "work"))
    with folder.opened(StoredQuestion(FAULTY, on_spark=True), resume=False):
        (tmp_path / "work" / CHECKPOINT).write_text("{}}")
    with pytest.raises(ExplorationError, match=r"checkpoint\.json is damaged"):
        search_on_spark(FAULTY, str(tmp_path / "work"), quiet, resume=True)


@pytest.mark.servers
def test_a_killed_driver_and_a_killed_worker_lose_no_state(tmp_path: Path) -> None:
    """On a cluster, by the program: the driver is killed first, then a worker of the next one."""
    work = tmp_path / "work"
    with standalone_cluster(tmp_path / "spark", workers=2) as cluster:
        words = [*CELL, "--out", str(work), "--resume", "--master", cluster.url]
        command = python_command("-m", "tidegauge", *words)
        python = {**environment(), WORKERS_PYTHON: sys.executable}
        driver = subprocess.Popen(command, env=python, stdout=subprocess.DEVNULL)
        wait_until(lambda: len(levels(work)) > 3, driver)
        driver.kill()
        driver.wait()
        known = len(levels(work))
        second = subprocess.Popen(command, env=python, stdout=subprocess.PIPE, text=True)
        wait_until(lambda: len(levels(work)) > known, second)
        cluster.kill_worker(0)
        out, _ = second.communicate(timeout=600)
    assert second.returncode == ExitCode.OK
    told: dict[str, Any] = json.loads(out)
    assert (told["states"], told["depth"], told["complete"]) == (1_177, 15, True)


def levels(work: Path) -> list[Level]:
    path = work / CHECKPOINT
    if not path.exists():
        return []
    return msgspec.json.decode(path.read_bytes(), type=Checkpoint).levels


def wait_until(holds: Callable[[], bool], process: "subprocess.Popen[Any]") -> None:
    deadline = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.returncode
        time.sleep(0.05)


def test_levels_follow_each_other_by_faults_then_by_depth() -> None:
    levels: list[Level] = []
    seen = []
    # (faults, depth): how many states, and whether a fault leads on.
    made = {(0, 0): (1, 0), (0, 1): (2, 1), (1, 2): (1, 0), (1, 4): (3, 1), (0, 3): (1, 1)}
    while (level := following_level(levels)) is not None:
        assert level.states == UNKNOWN
        level.states, level.by_fault = made.get((level.faults, level.depth), (0, 0))
        if (level.faults, level.depth) == (0, 2):
            level.states = 1
        levels.append(level)
        seen.append((level.faults, level.depth))
    assert seen == [
        (0, 0), (0, 1), (0, 2), (0, 3), (0, 4),
        (1, 2), (1, 3), (1, 4), (1, 5),
        (2, 5),
    ]  # fmt: skip
