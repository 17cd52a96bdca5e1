"""Writing session files: rows are there once committed."""

from pathlib import Path

from emulator.events import Event
from sessions.format.file import SessionFile
from sessions.format.writer import SessionWriter
from tests.sessions.examples import origin, story_events


def part(first: int, last: int) -> list[Event]:
    return list(story_events()[first - 1 : last])


def test_a_longer_chunk_takes_the_place_of_the_one_it_continues(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "a.tide.db", origin())
    for last in (10, 20, 30):
        size, groups = writer.put_chunk(part(1, last))
    writer.put_chunk(part(31, 40))
    writer.commit()
    assert size > 0
    assert sum(map(len, groups.values())) == 30
    with SessionFile(tmp_path / "a.tide.db") as session:
        assert [(chunk.first_seq, chunk.last_seq) for chunk in session.chunks] == [
            (1, 30),
            (31, 40),
        ]
    writer.close(None)


def test_nothing_is_seen_before_it_is_committed(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "a.tide.db", origin())
    writer.put_chunk(part(1, 10))
    with SessionFile(tmp_path / "a.tide.db") as session:
        assert session.last_seq == 0
        writer.commit()
        session.refresh()
        assert session.last_seq == 10
    writer.close(None)


def test_a_writer_may_close_while_somebody_reads(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "a.tide.db", origin())
    writer.put_chunk(part(1, 10))
    writer.commit()
    with SessionFile(tmp_path / "a.tide.db") as session:
        writer.close(None)
        assert list(session.all_events()) == part(1, 10)
    with SessionFile(tmp_path / "a.tide.db") as session:
        assert list(session.all_events()) == part(1, 10)


def test_a_chunk_says_which_records_it_names(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "a.tide.db", origin())
    writer.put_chunk(part(1, 20))
    writer.put_chunk(part(21, len(story_events())))
    writer.commit()
    with SessionFile(tmp_path / "a.tide.db") as session:
        first, second = session.chunks
        assert (first.first_record, first.last_record) == (-1, -1)
        assert 0 <= second.first_record < second.last_record
    writer.close(None)
