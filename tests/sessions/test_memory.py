"""The memory of the process: what it takes, what it may take, and when that is looked at."""

import math
import subprocess
import sys
from pathlib import Path

import pytest

from sessions import memory
from sessions.child_process import environment, python_command
from sessions.memory import INPUT_FACTOR, LOOK_BYTES, MemoryWatch

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux tells what is in use")
MAPS = """
import mmap, resource
from sessions.memory import memory_left
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
print(memory_left())
mapped = mmap.mmap(-1, 500 << 20)
print(memory_left())
"""
"""Maps memory without using it."""


@needs_linux
def test_the_memory_of_a_process_is_known() -> None:
    """A process has some megabytes, and a machine more than that."""
    assert 1_000_000 < memory.memory_left() < memory.memory_limit() - 1_000_000 < math.inf


@needs_linux
def test_the_address_space_limits_the_memory() -> None:
    """A process that may map 1 GiB has at most four fifths of it, less what it has mapped."""
    done = subprocess.run(
        python_command("-c", MAPS),
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    before, after = map(float, done.stdout.split())
    assert 0 < before < memory.MEMORY_SHARE * (1 << 30)
    assert after < before - (499 << 20)


@pytest.mark.parametrize(
    ("said", "limit"), [("1000000\n", 800_000), ("max\n", None), ("", None), (None, None)]
)
def test_a_control_group_limits_the_memory(
    said: str | None, limit: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.max"
    if said is not None:
        path.write_text(said)
    monkeypatch.setattr(memory, "CGROUP", path)
    found = memory.memory_limit.__wrapped__()
    assert found == limit if limit else found > 1_000_000


def test_memory_is_looked_at_before_the_first_input_and_after_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[int] = []

    def looked() -> float:
        looks.append(0)
        return math.inf

    monkeypatch.setattr(memory, "memory_left", looked)
    watch = MemoryWatch()
    assert all(watch.has_room(100) for _ in range(LOOK_BYTES // memory.INPUT_BYTES_MIN))
    assert len(looks) == 1
    assert watch.has_room(LOOK_BYTES)
    assert len(looks) == 2


def test_what_does_not_fit_is_not_taken_until_there_is_memory_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = INPUT_FACTOR * 100
    monkeypatch.setattr(memory, "memory_left", lambda: left)
    watch = MemoryWatch()
    assert watch.has_room(100)
    left -= 1
    assert watch.has_room(100)  # looked at a moment ago
    assert not watch.has_room(LOOK_BYTES)
    assert not watch.has_room(100)
    left += 1
    assert watch.has_room(100)
