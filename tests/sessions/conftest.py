"""What tests of recordings share."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from emulator.events import Event
from sessions.format.file import SessionFile
from sessions.recording.recorder import Recorder
from tests.sessions.examples import origin, record_story, small_chunks, story_events


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The story as a session file of many chunks, ``story.tide.db``; not to be changed."""
    path = tmp_path_factory.mktemp("recording") / "story.tide.db"
    with small_chunks():
        record_story(path)
    return path


class Growing(NamedTuple):
    """A session whose recording goes on, opened when its only chunk was not full yet."""

    session: SessionFile
    recorder: Recorder
    rest: Iterator[Event]

    def grow(self) -> None:
        """Have more events in the same chunk."""
        for _, event in zip(range(400), self.rest, strict=False):
            self.recorder(event)
        self.recorder.flush()


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Growing]:
    """The story while it is being recorded."""
    path = tmp_path / "growing.tide.db"
    recorder, rest = Recorder(path, origin()), iter(story_events())
    for _, event in zip(range(300), rest, strict=False):
        recorder(event)
    recorder.flush()
    with SessionFile(path) as session:
        assert len(session.chunks) == 1
        yield Growing(session, recorder, rest)
    recorder.close()
