"""Session ids, timeouts and tick buckets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.zookeeper.sessions import Sessions, first_session_id


@pytest.mark.parametrize(
    ("asked", "granted"), [(1000, 2000), (4000, 4000), (18_000, 18_000), (60_000, 20_000)]
)
def test_a_timeout_is_granted_between_2_and_20_ticks(asked: int, granted: int) -> None:
    sessions = Sessions(tick_time_ms=1000, next_id=1)
    assert sessions.live[sessions.open(0, asked, 0)].timeout_ms == granted


def test_an_id_has_the_servers_number_above_its_start_time() -> None:
    started_ms = 0x170_0191_D705_3F
    assert f"{first_session_id(2, started_ms):#x}" == "0x20191d7053f0000"
    sessions = Sessions(1000, first_session_id(2, started_ms))
    assert [sessions.open(0, 4000, 0) & 0xFFFF for _ in range(3)] == [0, 1, 2]


def test_a_real_start_time_keeps_an_id_within_64_bits() -> None:
    assert first_session_id(127, 1_584_267_360_000) < 2**63
    assert first_session_id(1, 1_584_267_360_000) >> 56 == 1


@given(
    heard_us=st.integers(0, 10**9),
    timeout_ms=st.integers(2000, 20_000),
    tick_ms=st.sampled_from([500, 1000, 3000]),
)
def test_a_deadline_is_the_first_tick_after_the_timeout(
    heard_us: int, timeout_ms: int, tick_ms: int
) -> None:
    deadline_us = Sessions(tick_ms, 1).deadline_us(heard_us, timeout_ms)
    silent_us = deadline_us - heard_us
    assert deadline_us % (tick_ms * 1000) == 0
    assert timeout_ms * 1000 < silent_us <= (timeout_ms + tick_ms) * 1000


def test_a_host_has_its_latest_session() -> None:
    sessions = Sessions(1000, 5)
    old, new = sessions.open(1, 4000, 0), sessions.open(1, 4000, 0)
    sessions.end(old)
    assert sessions.latest == {1: new}
    sessions.end(new)
    assert sessions.latest == {}
