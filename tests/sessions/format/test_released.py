"""A recording of each schema that was ever in use goes on opening, with everything in it.

``released/`` holds such files, and beside each what the program that recorded it read from it.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from sessions.format.chunks import Chunks
from sessions.format.file import SessionFile
from sessions.format.schema import OLDEST, SCHEMA
from sessions.playback.replay import Replay
from tests.sessions.examples import comparable, folded

RELEASED = Path(__file__).parent / "released"
FILES = sorted(path.name for path in RELEASED.glob("*.tide.db"))


def read_then(name: str) -> dict[str, Any]:
    """What the program of that time read."""
    data = (RELEASED / name.replace(".tide.db", ".json.zst")).read_bytes()
    found: dict[str, Any] = msgspec.json.decode(zstandard.ZstdDecompressor().decompress(data))
    return found


def plain(value: object) -> Any:  # noqa: ANN401 - JSON
    return msgspec.json.decode(msgspec.json.encode(value))


def test_there_is_a_file_of_each_schema_that_can_be_read() -> None:
    schemas = set()
    for name in FILES:
        with closing(sqlite3.connect(RELEASED / name)) as database:
            schemas |= set(database.execute("PRAGMA user_version").fetchone())
    assert schemas == set(range(OLDEST, SCHEMA + 1))


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("name", FILES)
def test_a_file_of_an_older_schema_says_what_it_said_then(
    name: str, check: bool, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes((RELEASED / name).read_bytes())
    then = read_then(name)
    with SessionFile(path, check=check) as session:
        assert (session.damage, session.complete) == ("", True)
        events = list(session.all_events())
        assert len(events) == len(then["events"]) == session.last_seq > 1_000
        for event, (kind, fields) in zip(events, then["events"], strict=True):
            assert type(event).__name__ == kind
            assert plain({name: getattr(event, name) for name in fields}) == fields
        inputs = [[i.seq, i.time_us, i.steps, i.line, i.text] for i in session.inputs()]
        assert inputs == then["inputs"]
        assert [[m.seq, m.name, m.note] for m in session.bookmarks()] == then["bookmarks"]
        outcome = plain(session.outcome)
        assert {name: outcome[name] for name in then["outcome"]} == then["outcome"]
        assert all(each.statement is not None for each in session.inputs())


@pytest.mark.parametrize("name", FILES)
def test_a_keyframe_of_an_older_schema_is_the_state_there(name: str, tmp_path: Path) -> None:
    """But for groups and consumers' positions, which no keyframe had before real clients came.

    Before schema 12 a replica without a checkpointed HW had a 0; before schema 14 no process said
    since when it has been silent. In KRaft a cache was kept of znodes that there are none of. A
    link that broke changed no partition, although writes may wait for its brokers.
    """
    path = tmp_path / name
    path.write_bytes((RELEASED / name).read_bytes())
    with SessionFile(path) as session:
        (place,) = session.keyframes
        assert session.keyframe(place) is not None
        events = list(session.all_events())
        view = Replay(Chunks(session))._load(place)
        again = folded(events[: place.seq])
        assert not view.state.groups
        for state in (view.state, again.state):
            state.groups = {}
            for broker in state.brokers.values():
                broker.silent_us = 0
            if state.quorum is not None:
                state.quorum.silent_us = {}
                state.beliefs = {}
            for consumer in state.consumers.values():
                consumer.positions = {}
            for partition in state.partitions.values():
                partition.changed = 0
                for replica in partition.replica_states.values():
                    replica.checkpointed_hw = max(0, replica.checkpointed_hw)
        assert comparable(view) == comparable(again)
