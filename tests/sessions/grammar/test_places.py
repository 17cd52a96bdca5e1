import pytest

from sessions.grammar.places import Place, place
from sessions.grammar.words import BadWord

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("12s", Place(time_us=12 * SECOND)),
        ("4.081322s", Place(time_us=4_081_322)),
        ("12:04", Place(time_us=724 * SECOND)),
        ("1:12:04.250", Place(time_us=4_324_250_000)),
        ("-3m", Place(time_us=-180 * SECOND, is_distance=True)),
        ("+ 10s", Place(time_us=10 * SECOND, is_distance=True)),
        ("-1.5s", Place(time_us=-1_500_000, is_distance=True)),
        ("#18207", Place(seq=18_207)),
        ("#18,207", Place(seq=18_207)),
        ("start", Place(seq=0)),
        ("END", Place(is_end=True)),
    ],
)
def test_a_place_is_a_time_a_distance_an_event_or_an_end(word: str, expected: Place) -> None:
    assert place(word) == expected


@pytest.mark.parametrize("word", ["", "12", "#", "#-1", "--3s", "ende", "12:4:x", "-12:04", "1:99"])
def test_what_is_not_a_place_is_refused_with_the_forms_there_are(word: str) -> None:
    with pytest.raises(BadWord, match=r"is not a place in time: .* \(12s, 12:04\), .* \(#18207\)"):
        place(word)


def test_a_distance_is_from_the_cursor_and_ends_where_the_run_does() -> None:
    seen = [
        place(word).seen_from(100 * SECOND, 9_000, 120 * SECOND)
        for word in ("-30s", "+10s", "-1h", "+1h", "12s", "#7", "#9999", "end", "start")
    ]
    times = [each.time_us // SECOND for each in seen[:5]]
    assert times == [70, 110, 0, 120, 12]
    assert [each.seq for each in seen[5:]] == [7, 9_000, 9_000, 0]


def test_without_a_cursor_a_distance_is_from_the_end_of_the_recording_or_its_beginning() -> None:
    assert place("-30s").in_recording(9, 120 * SECOND) == Place(time_us=90 * SECOND)
    assert place("+30s").in_recording(9, 120 * SECOND) == Place(time_us=30 * SECOND)
    assert place("30s").in_recording(9, 120 * SECOND) == Place(time_us=30 * SECOND)


@pytest.mark.parametrize(
    ("word", "is_beyond"),
    [
        *(("121s", True), ("120s", False), ("+21s", True), ("+20s", False), ("-1s", False)),
        *(("#9001", True), ("#9000", False), ("end", False), ("start", False)),
    ],
)
def test_what_lies_after_the_end_is_told_from_the_end_itself(word: str, is_beyond: bool) -> None:
    end = place(word).beyond_end(100 * SECOND, 9_000, 120 * SECOND)
    assert end == ("the end is 00:02:00.000 (#9,000)" if is_beyond else "")
