import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.model.goto import GotoError, Target, parse

NOW_US, LAST_SEQ, LAST_US = 300_000_000, 22_960, 1_334_000_000


def at(text: str) -> Target:
    return parse(text, NOW_US, LAST_SEQ, LAST_US)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("#18207", Target(seq=18_207)),
        ("#18,207", Target(seq=18_207)),
        ("#99999", Target(seq=LAST_SEQ)),
        ("12:04", Target(time_us=724_000_000)),
        ("0:12:04.25", Target(time_us=724_250_000)),
        ("59:59", Target(time_us=LAST_US)),
        ("-3m", Target(time_us=120_000_000)),
        ("-1h", Target(time_us=0)),
        ("+1.5s", Target(time_us=301_500_000)),
        ("start", Target(seq=0)),
        (" end ", Target(seq=LAST_SEQ)),
    ],
)
def test_places_are_times_distances_events_and_ends(text: str, target: Target) -> None:
    assert at(text) == target


@pytest.mark.parametrize("text", ["", "12", "soon", "#", "3m", "1:2:3:4"])
def test_what_is_no_place_is_answered_with_the_forms(text: str) -> None:
    with pytest.raises(GotoError, match=r"12:04.*-3m.*#18207"):
        at(text)


@given(st.text(max_size=12))
def test_any_text_is_a_place_inside_the_source_or_refused(text: str) -> None:
    try:
        target = at(text)
    except GotoError:
        return
    assert 0 <= target.time_us <= LAST_US
    assert target.seq is None or 0 <= target.seq <= LAST_SEQ
