"""A session that other processes write is the one that this process would write."""

from datetime import UTC
from pathlib import Path

import pytest

from emulator.events import Event
from sessions.format.errors import SessionError
from sessions.format.file import SessionFile
from sessions.own_cluster.places import Place
from sessions.postmortem import beside
from sessions.postmortem.incident import read_sources
from sessions.postmortem.session import record
from sessions.sources.replay import ReplaySource
from tests.sessions.postmortem.logs import cluster

RECORDINGS = Path(__file__).parent / "recordings"


@pytest.fixture(autouse=True)
def _at_the_same_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "NICENESS", 0)


def events_in(path: Path) -> list[Event]:
    with SessionFile(path) as session:
        return [event for chunk in session.chunks for event in session.events(chunk)]


@pytest.mark.parametrize("until", [None, Place(offset=300)])
def test_the_events_and_the_state_are_the_same(tmp_path: Path, until: Place | None) -> None:
    paths = [str(RECORDINGS / "kraft-4.1.2")]
    alone, together = tmp_path / "alone.tide.db", tmp_path / "together.tide.db"
    log, lines = read_sources(paths)
    record(log, alone, paths, lines=lines, until=until)
    with beside.writing_beside(paths, together, UTC, until) as writing:
        writing.finish()
        assert writing.is_complete
    assert events_in(together) == events_in(alone)
    states = []
    for path in (alone, together):
        source = ReplaySource(path)
        source.to_tail()
        states.append(source.view.encode())
        source.close()
    assert states[0] == states[1]


def test_a_file_that_exists_is_refused_at_once(tmp_path: Path) -> None:
    folder = cluster().write(tmp_path / "log")
    session = tmp_path / "incident.tide.db"
    session.write_bytes(b"mine")
    with (
        pytest.raises(SessionError, match="exists"),
        beside.writing_beside([str(folder)], session, UTC, None),
    ):
        raise AssertionError("it is not refused")
    assert session.read_bytes() == b"mine"


def test_a_history_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    nothing = str(tmp_path / "nothing")
    with (
        pytest.raises(SessionError, match="nothing cannot be read"),
        beside.writing_beside([nothing], tmp_path / "x.tide.db", UTC, None),
    ):
        raise AssertionError("it is not refused")
