from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.language.places import first_seq, last_seq, size
from sessions.format.chunks import Chunks
from sessions.format.file import SessionFile
from sessions.grammar.places import Place
from sessions.grammar.words import BadWord


def test_a_size_is_a_number_with_a_unit() -> None:
    assert [size(word) for word in ("1024KB", "64MB", "2GB")] == [1 << 20, 64 << 20, 2 << 30]


@pytest.mark.parametrize(
    ("word", "said"),
    [("64", "not a size"), ("64mb", "not a size"), ("900KB", "at least 1MB")],
)
def test_what_is_no_size_is_refused(word: str, said: str) -> None:
    with pytest.raises(BadWord, match=said):
        size(word)


def test_places_take_in_the_events_at_their_very_moment(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    assert run_program(["run", "-c", "cluster; wait 3s", "--record", str(path)]) == 0
    with SessionFile(path) as session:
        chunks = Chunks(session)
        times = [event.time_us for event in session.all_events()]
        moment = times[len(times) // 2]
        exact = Place(time_us=moment)
        assert first_seq(exact, chunks) == times.index(moment) + 1
        assert times[last_seq(exact, chunks) - 1] == moment
        assert last_seq(exact, chunks) == sum(time_us <= moment for time_us in times)
        before = Place(time_us=moment - times[-1], is_distance=True)
        assert first_seq(before, chunks) == first_seq(exact, chunks)
        assert first_seq(Place(seq=7), chunks) == last_seq(Place(seq=7), chunks) == 7
