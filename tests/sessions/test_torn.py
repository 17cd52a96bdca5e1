"""A small session cut at every byte, and the log of one that was being written."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import AnyInput, CreateCluster, CreateTopic, Mark, Wait
from emulator.scenario.runner import Runner
from sessions.format.errors import NotASessionError, SessionDamagedError, SessionError
from sessions.format.file import SessionFile
from sessions.recording.recorder import Recorder
from tests.sessions.examples import execute, origin, small_chunks, statement, story_events

SPEC = CreateCluster(brokers=1, seed=1)
BEGUN_BYTES = 4_000
"""Before so much of the log is written, a file does not even say what it is of."""
STORY: tuple[AnyInput, ...] = (
    CreateTopic(topic="t", partitions=1, replication_factor=1),
    Wait(duration_us=300_000),
    Mark(name="m"),
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "small.tide.db"
    with (
        pytest.MonkeyPatch.context() as patch,
        small_chunks(events=16, keyframes=60),
    ):
        patch.setattr("sessions.format.writer.PAGE_BYTES", 512)
        record(path)
    return path


def record(path: Path) -> None:
    with Recorder(path, origin("x", SPEC)) as recorder:
        runner = Runner(Cluster(SPEC, (recorder,)))
        recorder.follow(runner)
        for line, given in enumerate(STORY, start=2):
            recorder.announce(statement(given, line))
            execute(runner, given, line)


def events_of(path: Path) -> tuple[tuple[Event, ...], SessionError | str]:
    """What can be read, and what is said of the rest."""
    try:
        with SessionFile(path) as session:
            return tuple(session.all_events()), session.damage
    except SessionError as error:
        return (), error


def test_a_session_cut_at_any_byte_opens_up_to_the_cut_or_says_why_not(
    small: Path, tmp_path: Path
) -> None:
    path = tmp_path / "cut.tide.db"
    shutil.copy(small, path)
    whole, nothing = events_of(small)
    assert nothing == ""
    found: set[int] = set()
    for length in range(small.stat().st_size - 1, -1, -1):
        os.truncate(path, length)
        events, said = events_of(path)
        assert events == whole[: len(events)]
        assert str(path) in str(said)
        assert not isinstance(said, NotASessionError) or length == 0
        assert isinstance(said, str | NotASessionError | SessionDamagedError)
        found.add(len(events))
    assert len(whole) in found
    assert len(found) > 3


def killed_while_writing(folder: Path) -> Iterator[tuple[Path, Path]]:
    """What is on the disk, file and log, as a recorder goes on; copied as it is written."""
    path = folder / "a.tide.db"
    with small_chunks(), Recorder(path, origin()) as recorder:
        for event in story_events()[:600]:
            recorder(event)
            if event.seq % 150 == 0:
                recorder.flush()
                copy = folder / f"at-{event.seq}.tide.db"
                shutil.copy(path, copy)
                yield copy, path.with_name(f"{path.name}-wal")


def test_a_log_torn_at_any_place_leaves_a_session_of_what_was_flushed_before(
    tmp_path: Path,
) -> None:
    for copy, log in killed_while_writing(tmp_path):
        content = log.read_bytes()
        seen: list[int] = []
        for length in range(0, len(content) + 1, 997):
            torn = copy.with_name(f"{copy.name}-wal")
            torn.write_bytes(content[:length])
            work = copy.with_name("work.tide.db")
            shutil.copy(copy, work)
            torn.rename(work.with_name("work.tide.db-wal"))
            events, said = events_of(work)
            for each in tmp_path.glob("work.tide.db*"):
                each.unlink()
            assert said == "" or length < BEGUN_BYTES, said
            assert events == story_events()[: len(events)]
            seen.append(len(events))
        assert seen == sorted(seen)
        assert seen[-1] >= 100
