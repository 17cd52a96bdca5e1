import pytest

from console.model.pacer import CATCH_UP_MAX_S, FASTEST, SPEEDS, Pacer, speed_text
from tests.console.fakes import ListSource, failover

HISTORY = failover()


def test_a_frame_moves_the_cursor_by_wall_time_and_speed() -> None:
    source = ListSource(HISTORY, at=0)
    pacer = Pacer(source, speed=0.25)
    pacer.frame(0.2)
    assert source.time_us == 50_000


def test_a_long_absence_is_not_made_up_for_at_once() -> None:
    source = ListSource(HISTORY, at=0)
    Pacer(source).frame(60.0)
    assert source.time_us == CATCH_UP_MAX_S * 1_000_000


def test_a_paused_cursor_stands_still() -> None:
    source = ListSource(HISTORY, at=5)
    assert Pacer(source, paused=True).frame(1.0) == 0
    assert source.seq == 5


def test_the_end_of_a_recording_pauses() -> None:
    pacer = Pacer(ListSource(HISTORY))
    pacer.frame(0.1)
    assert pacer.paused


def test_playing_at_the_end_of_a_recording_starts_it_again() -> None:
    source = ListSource(HISTORY)
    pacer = Pacer(source, paused=True)
    pacer.toggle()
    assert (source.seq, pacer.paused) == (0, False)


def test_speed_doubles_and_halves_within_its_bounds() -> None:
    pacer = Pacer(ListSource(HISTORY))
    for _ in range(8):
        pacer.faster()
    assert pacer.speed == SPEEDS[-1] == 256
    for _ in range(20):
        pacer.slower()
    assert pacer.speed == SPEEDS[0] == 1 / 16


def test_beyond_256_lies_as_fast_as_possible() -> None:
    source = ListSource(HISTORY, at=0)
    pacer = Pacer(source, speed=SPEEDS[-1])
    pacer.faster()
    pacer.faster()
    assert pacer.speed == FASTEST
    pacer.frame(0.1)
    assert source.at_tail
    pacer.slower()
    assert pacer.speed == SPEEDS[-1]


@pytest.mark.parametrize(
    ("speed", "text"), [(1, "1x"), (256, "256x"), (1 / 16, "1/16x"), (FASTEST, "max")]
)
def test_speeds_read_as_people_say_them(speed: float, text: str) -> None:
    assert speed_text(speed) == text


def test_stepping_and_seeking_hold_still() -> None:
    for move in (lambda p: p.step(-1), lambda p: p.seek_seq(9), lambda p: p.seek_time(5)):
        pacer = Pacer(ListSource(HISTORY))
        move(pacer)
        assert pacer.paused


def test_going_live_follows_a_cluster_but_not_a_recording() -> None:
    for kind, paused in (("LIVE", False), ("REPLAY", True)):
        source = ListSource(HISTORY, kind, at=4)
        pacer = Pacer(source, paused=True)
        pacer.live()
        assert (source.at_tail, pacer.paused) == (True, paused)


@pytest.mark.parametrize(
    ("kind", "paused", "at", "mode"),
    [
        ("LIVE", False, None, "LIVE"),
        ("LIVE", True, None, "PAUSED"),
        ("LIVE", False, 5, "REPLAY"),
        ("REPLAY", False, None, "REPLAY"),
        ("REPLAY", True, 5, "REPLAY"),
    ],
)
def test_the_mode_is_a_word(kind: str, *, paused: bool, at: int | None, mode: str) -> None:
    assert Pacer(ListSource(HISTORY, kind, at=at), paused=paused).mode == mode
