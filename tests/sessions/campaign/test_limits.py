"""A limit of wall time."""

import signal
from time import monotonic

import pytest

from sessions.campaign.limits import TooLong, time_limit


def forever() -> None:
    while True:
        pass


def careless() -> None:
    while True:
        try:
            forever()
        except Exception:
            continue


def test_what_never_ends_is_broken_off() -> None:
    began = monotonic()
    with pytest.raises(TooLong), time_limit(0.05):
        forever()
    assert monotonic() - began < 30


def test_what_swallows_errors_is_broken_off_too() -> None:
    with pytest.raises(TooLong), time_limit(0.05):
        careless()


def test_nothing_is_left_of_a_limit_that_did_not_ring() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with time_limit(60):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before
