"""The memory of the process: what it takes, what it may take, and when that is looked at."""

import math
import sys
from pathlib import Path

import pytest

from sessions import memory
from sessions.memory import INPUT_FACTOR, LOOK_BYTES, MemoryWatch


def test_the_memory_of_a_process_is_known() -> None:
    """Linux tells both; a process has some megabytes, and a machine more than that."""
    if sys.platform == "linux":
        assert 1_000_000 < memory.memory_in_use() < memory.memory_limit() < math.inf


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

    def looked() -> int:
        looks.append(0)
        return 0

    monkeypatch.setattr(memory, "memory_in_use", looked)
    watch = MemoryWatch()
    assert all(watch.has_room(100) for _ in range(LOOK_BYTES // memory.INPUT_BYTES_MIN))
    assert len(looks) == 1
    assert watch.has_room(LOOK_BYTES)
    assert len(looks) == 2


def test_what_does_not_fit_is_not_taken_until_there_is_memory_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_use = 1_000
    monkeypatch.setattr(memory, "memory_limit", lambda: 1_000 + INPUT_FACTOR * 100)
    monkeypatch.setattr(memory, "memory_in_use", lambda: in_use)
    watch = MemoryWatch()
    assert watch.has_room(100)
    in_use += 1
    assert watch.has_room(100)  # looked at a moment ago
    assert not watch.has_room(LOOK_BYTES)
    assert not watch.has_room(100)
    in_use -= 1
    assert watch.has_room(100)
