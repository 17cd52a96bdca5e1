from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.language.places import Place, place, size
from commands.language.values import BadWord
from sessions.format.chunks import Chunks
from sessions.format.file import SessionFile


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("12s", Place(time_us=12_000_000)),
        ("-3m", Place(time_us=180_000_000, from_end=True)),
        ("#18207", Place(seq=18_207)),
    ],
)
def test_a_place_is_a_time_one_before_the_end_or_an_event(word: str, expected: Place) -> None:
    assert place(word) == expected


@pytest.mark.parametrize("word", ["", "12", "#", "#-1", "--3s", "end"])
def test_what_is_no_place_is_refused_with_the_forms_there_are(word: str) -> None:
    with pytest.raises(BadWord, match=r"is no place .* \(12s, 2m\), .* \(-3m\), .* \(#18207\)"):
        place(word)


def test_a_size_is_a_number_with_a_unit() -> None:
    assert [size(word) for word in ("1024KB", "64MB", "2GB")] == [1 << 20, 64 << 20, 2 << 30]


@pytest.mark.parametrize(
    ("word", "said"), [("64", "is no size"), ("64mb", "is no size"), ("900KB", "at least 1MB")]
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
        assert exact.first_seq(chunks) == times.index(moment) + 1
        assert times[exact.last_seq(chunks) - 1] == moment
        assert exact.last_seq(chunks) == sum(time_us <= moment for time_us in times)
        before = Place(time_us=times[-1] - moment, from_end=True)
        assert before.first_seq(chunks) == exact.first_seq(chunks)
        assert Place(seq=7).first_seq(chunks) == Place(seq=7).last_seq(chunks) == 7
