"""What tests of recordings share."""

from pathlib import Path

import pytest

from tests.sessions.examples import record_story, small_chunks


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The story as a session file of many chunks, ``story.tide.db``; not to be changed."""
    path = tmp_path_factory.mktemp("recording") / "story.tide.db"
    with small_chunks():
        record_story(path)
    return path
