"""The cursor: event and time move together."""

from pathlib import Path

from sessions.format.chunks import Chunks
from sessions.format.file import SessionFile
from sessions.playback.cursor import Cursor
from tests.sessions.examples import record_story, story_events


def test_a_cursor_between_two_events_keeps_its_own_time(tmp_path: Path) -> None:
    record_story(tmp_path / "a.tide.db")
    with SessionFile(tmp_path / "a.tide.db") as session:
        cursor = Cursor(Chunks(session))
        gap = next(
            (one, two)
            for one, two in zip(story_events(), story_events()[1:], strict=False)
            if two.time_us - one.time_us > 1_000
        )
        cursor.seek_time(gap[0].time_us + 500)
        assert (cursor.replay.seq, cursor.replay_us) == (gap[0].seq, gap[0].time_us + 500)
        cursor.play(1, session.last_us, 100.0)
        assert (cursor.replay.seq, cursor.replay_us) == (gap[0].seq, gap[0].time_us + 501)
        cursor.seek_seq(gap[1].seq)
        assert cursor.replay_us == gap[1].time_us
