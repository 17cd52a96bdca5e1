"""The rules of replication, each by its table of examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.releases.profiles import PROFILES, VERSIONS
from emulator.replication import (
    leader_epoch_cache,
    truncation,
)
from emulator.replication.partition import (
    LEADER,
    NEVER_US,
    CheckHighWatermark,
    FixedMoment,
    Partition,
    RemoteReplica,
    Rules,
    follower_high_watermark,
    holds_high_watermark,
    is_out_of_sync,
    may_join_isr,
    record_fetch,
    step,
)
from emulator.replication.truncation import Truncation

SECOND_US = 1_000_000
LAG_US = 10 * SECOND_US
UNKNOWN = leader_epoch_cache.UNDEFINED


def versions(since: str, until: str = VERSIONS[-1]) -> list[str]:
    """The releases from one to another, both counted."""
    return list(VERSIONS[VERSIONS.index(since) : VERSIONS.index(until) + 1])


# ---- a leader's HW: max(HW, min(own LEO, LEOs of those that count))


def leaders_high_watermark(current: int, log_end_offset: int, counted: list[int]) -> int:
    """The HW of leader 0 after a check, with followers of these LEOs in the ISR."""
    remotes = {follower: RemoteReplica(leo) for follower, leo in enumerate(counted, start=1)}
    state = Partition(
        "t-0",
        0,
        log_end=log_end_offset,
        high_watermark=current,
        role=LEADER,
        assigned=[0, *remotes],
        isr=[0, *remotes],
        remotes=remotes,
    )
    step(state, CheckHighWatermark("fetch"), Rules.of(PROFILES[VERSIONS[-1]]), FixedMoment())
    return state.high_watermark


@pytest.mark.parametrize(
    ("current", "log_end_offset", "counted", "raised"),
    [
        pytest.param(0, 5, [], 5, id="alone, everything is committed"),
        pytest.param(0, 5, [3, 4], 3, id="the slowest that counts decides"),
        pytest.param(0, 3, [5, 7], 3, id="never past the leader's own LEO"),
        pytest.param(4, 5, [3], 4, id="never back"),
        pytest.param(0, 5, [UNKNOWN, 5], 0, id="an unknown LEO holds it still"),
        pytest.param(7, 9, [7, 8], 7, id="the documents' picture: 9 / 7 / 8 and HW 7"),
    ],
)
def test_a_leaders_high_watermark(
    current: int, log_end_offset: int, counted: list[int], raised: int
) -> None:
    assert leaders_high_watermark(current, log_end_offset, counted) == raised


@given(
    current=st.integers(0, 50),
    more=st.integers(0, 50),
    counted=st.lists(st.integers(-1, 100), max_size=5),
)
def test_a_leaders_high_watermark_never_goes_back_nor_past_the_log(
    current: int, more: int, counted: list[int]
) -> None:
    raised = leaders_high_watermark(current, current + more, counted)
    assert current <= raised <= current + more
    assert raised == current or all(leo >= raised for leo in counted)


# ---- a follower's HW: min(the leader's in the response, own LEO)


@pytest.mark.parametrize(
    ("leader_hw", "log_end_offset", "becomes"),
    [
        pytest.param(3, 5, 3, id="the leader's"),
        pytest.param(5, 3, 3, id="its own LEO, if that is less"),
        pytest.param(UNKNOWN, 3, 0, id="never below 0"),
    ],
)
def test_a_followers_high_watermark(leader_hw: int, log_end_offset: int, becomes: int) -> None:
    assert follower_high_watermark(leader_hw, log_end_offset) == becomes


# ---- what a leader remembers of a fetch


def fetched(
    version: str, offset: int, leader_leo: int, now_us: int, remote: RemoteReplica | None = None
) -> RemoteReplica:
    remote = remote or RemoteReplica()
    record_fetch(Rules.of(PROFILES[version]), remote, offset, leader_leo, now_us)
    return remote


@pytest.mark.parametrize("version", VERSIONS)
def test_the_fetch_offset_is_the_acknowledgement(version: str) -> None:
    assert fetched(version, 7, 9, SECOND_US).leo == 7


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fetch_at_the_log_end_is_caught_up(version: str) -> None:
    assert fetched(version, 9, 9, SECOND_US).last_caught_up_us == SECOND_US
    assert fetched(version, 10, 9, SECOND_US).last_caught_up_us == SECOND_US


@pytest.mark.parametrize("version", versions("documents", "0.8.2"))
def test_up_to_0_8_any_fetch_counts_against_the_lag(version: str) -> None:
    assert fetched(version, 7, 9, SECOND_US).last_caught_up_us == SECOND_US


@pytest.mark.parametrize("version", versions("0.9"))
def test_from_0_9_a_fetch_short_of_the_log_end_does_not(version: str) -> None:
    assert fetched(version, 7, 9, SECOND_US).last_caught_up_us == NEVER_US


@pytest.mark.parametrize("version", versions("0.10.2"))
def test_reaching_the_end_of_the_fetch_before_counts_from_that_fetch(version: str) -> None:
    remote = fetched(version, 80, 90, SECOND_US)
    fetched(version, 90, 100, 2 * SECOND_US, remote)
    assert remote.last_caught_up_us == SECOND_US
    fetched(version, 101, 110, 3 * SECOND_US, remote)
    assert remote.last_caught_up_us == 2 * SECOND_US
    fetched(version, 109, 120, 4 * SECOND_US, remote)
    assert remote.last_caught_up_us == 2 * SECOND_US


@pytest.mark.parametrize(("leader_leo_then", "counts"), [(UNKNOWN, False), (0, True)])
def test_a_fetch_before_counts_only_if_there_was_one(leader_leo_then: int, counts: bool) -> None:
    """Of an empty log too; the clock of a leader that has just been elected is none."""
    remote = RemoteReplica(last_fetch_leader_leo=leader_leo_then, last_fetch_us=SECOND_US)
    fetched("3.9", 0, 5, 2 * SECOND_US, remote)
    assert remote.last_caught_up_us == (SECOND_US if counts else NEVER_US)


@pytest.mark.parametrize("version", versions("0.9", "0.10.0"))
def test_before_0_10_2_that_does_not_count(version: str) -> None:
    remote = fetched(version, 80, 90, SECOND_US)
    fetched(version, 90, 100, 2 * SECOND_US, remote)
    assert remote.last_caught_up_us == NEVER_US


def test_the_time_of_being_caught_up_never_goes_back() -> None:
    remote = fetched("3.9", 9, 9, 5 * SECOND_US)
    remote.last_fetch_us = SECOND_US
    fetched("3.9", 9, 12, 6 * SECOND_US, remote)
    assert remote.last_caught_up_us == 5 * SECOND_US


def test_a_slow_joiner_is_caught_up_from_0_10_2_and_waits_for_ever_before() -> None:
    """KAFKA-4485: LEO 90, then 100 and 110, fetches at 80, 90 and 100, a second apart."""
    for version, is_caught_up in (("0.10.0", False), ("0.10.2", True)):
        remote = fetched(version, 80, 90, 0)
        assert remote.last_caught_up_us == NEVER_US
        fetched(version, 90, 100, SECOND_US, remote)
        fetched(version, 100, 110, 2 * SECOND_US, remote)
        assert (remote.last_caught_up_us == SECOND_US) is is_caught_up


# ---- who leaves the ISR


def is_out(version: str, remote: RemoteReplica, leader_leo: int, now_us: int) -> bool:
    return is_out_of_sync(
        Rules.of(PROFILES[version]),
        remote,
        leader_leo,
        now_us,
        lag_time_us=LAG_US,
        lag_messages=4000,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_member_leaves_once_it_has_lagged_for_longer_than_the_limit(version: str) -> None:
    remote = RemoteReplica(leo=3, last_caught_up_us=0)
    assert not is_out(version, remote, 5, LAG_US)
    assert is_out(version, remote, 5, LAG_US + 1)
    remote.last_caught_up_us = SECOND_US
    assert not is_out(version, remote, 5, SECOND_US + LAG_US)
    assert is_out(version, remote, 5, SECOND_US + LAG_US + 1)


@pytest.mark.parametrize("version", versions("documents", "0.8.2"))
def test_up_to_0_8_a_member_leaves_that_is_more_than_4000_messages_behind(version: str) -> None:
    remote = RemoteReplica(leo=1000, last_caught_up_us=0)
    assert not is_out(version, remote, 5000, 0)
    assert is_out(version, remote, 5001, 0)
    assert is_out(version, RemoteReplica(leo=0, last_caught_up_us=0), 4001, 0)


@pytest.mark.parametrize("version", versions("0.9"))
def test_from_0_9_no_number_of_messages_matters(version: str) -> None:
    assert not is_out(version, RemoteReplica(leo=1000, last_caught_up_us=0), 1_000_000, 0)


@pytest.mark.parametrize("version", versions("documents", "0.8.2"))
def test_a_member_that_nothing_is_known_of_does_not_count_messages(version: str) -> None:
    assert not is_out(version, RemoteReplica(leo=UNKNOWN, last_caught_up_us=0), 5001, 0)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_silent_member_that_has_everything_stays_from_2_1(version: str) -> None:
    remote = RemoteReplica(leo=5, last_caught_up_us=0)
    assert is_out(version, remote, 5, 60 * SECOND_US) == (version in versions("documents", "2.0.1"))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_silent_member_that_is_ahead_of_its_new_leader_does_not(version: str) -> None:
    assert is_out(version, RemoteReplica(leo=6, last_caught_up_us=0), 5, 60 * SECOND_US)


# ---- who holds the HW without being in the ISR


def holds(version: str, remote: RemoteReplica, leader_leo: int = 9, now_us: int = LAG_US) -> bool:
    return holds_high_watermark(Rules.of(PROFILES[version]), remote, leader_leo, now_us, LAG_US)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_replica_that_was_just_caught_up_holds_the_high_watermark_from_0_10_2(
    version: str,
) -> None:
    remote = RemoteReplica(leo=7, last_caught_up_us=0)
    assert holds(version, remote) == (version in versions("0.10.2"))
    assert holds(version, remote, now_us=LAG_US - 1) == (version in versions("0.10.2"))
    assert not holds(version, remote, now_us=LAG_US + 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_replica_at_the_log_end_holds_it_however_silent_from_3_5(version: str) -> None:
    remote = RemoteReplica(leo=9, last_caught_up_us=NEVER_US)
    assert holds(version, remote) == (version in versions("3.5"))
    assert not holds(version, RemoteReplica(leo=10, last_caught_up_us=NEVER_US))


# ---- who may join the ISR


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("leo", "joins"), [(14, False), (15, True), (20, True)])
def test_joining_needs_the_high_watermark_and_not_the_log_end(
    version: str, leo: int, joins: bool
) -> None:
    assert may_join_isr(Rules.of(PROFILES[version]), leo, 15, 0) is joins


@pytest.mark.parametrize("version", VERSIONS)
def test_joining_needs_the_start_of_the_leaders_epoch_from_2_0_1(version: str) -> None:
    joins = may_join_isr(Rules.of(PROFILES[version]), 15, 15, 16)
    assert joins == (version in versions("documents", "2.0.0"))
    assert may_join_isr(Rules.of(PROFILES[version]), 16, 15, 16)


# ---- where a follower cuts


def cut(
    version: str,
    response: tuple[int, int],
    own: tuple[int, int] = (UNKNOWN, UNKNOWN),
    log_end_offset: int = 10,
    high_watermark: int = 4,
) -> Truncation:
    return truncation.truncation_by_response(
        PROFILES[version],
        response,
        own,
        log_end_offset=log_end_offset,
        high_watermark=high_watermark,
    )


WITH_EPOCHS = versions("0.11")
TELLING_EPOCHS = versions("2.0.0")


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_without_a_response_a_follower_truncates_to_its_high_watermark(version: str) -> None:
    assert cut(version, (UNKNOWN, UNKNOWN)) == Truncation(4, done=True)


@pytest.mark.parametrize("version", ["0.11", "1.1"])
def test_a_response_of_an_offset_alone_is_where_to_truncate(version: str) -> None:
    assert cut(version, (UNKNOWN, 7)) == Truncation(7, done=True)
    assert cut(version, (UNKNOWN, 12)) == Truncation(10, done=True)


@pytest.mark.parametrize("version", TELLING_EPOCHS)
def test_without_an_own_entry_the_leaders_end_decides(version: str) -> None:
    assert cut(version, (2, 7)) == Truncation(7, done=True)


@pytest.mark.parametrize("version", TELLING_EPOCHS)
def test_the_same_epoch_is_truncated_where_it_ends_first(version: str) -> None:
    assert cut(version, (2, 7), own=(2, 5)) == Truncation(5, done=True)
    assert cut(version, (2, 5), own=(2, 7)) == Truncation(5, done=True)
    assert cut(version, (2, 20), own=(2, 20)) == Truncation(10, done=True)


@pytest.mark.parametrize("version", TELLING_EPOCHS)
def test_an_older_epoch_of_its_own_makes_the_follower_ask_again(version: str) -> None:
    assert cut(version, (2, 7), own=(1, 5)) == Truncation(5, done=False)
    assert cut(version, (2, 7), own=(3, 5)) == Truncation(5, done=False)


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_a_response_without_an_epoch_is_where_to_truncate_whatever_the_follower_has(
    version: str,
) -> None:
    assert cut(version, (UNKNOWN, 7), own=(2, 5)) == Truncation(7, done=True)


def test_after_a_fast_failover_only_epochs_in_responses_truncate_enough() -> None:
    """KIP-279: follower [a0 b1 b2 b3] with epochs 0@0 1@1, asked for the end of epoch 1."""
    alone = cut("1.1", (UNKNOWN, 3), log_end_offset=4, high_watermark=1)
    assert alone == Truncation(3, done=True)
    told = cut("2.0.0", (0, 3), own=(0, 1), log_end_offset=4, high_watermark=1)
    assert told == Truncation(1, done=True)


def test_without_an_epoch_at_the_leader_a_member_is_truncated_to_its_high_watermark() -> None:
    """The fallback of KIP-101 and KIP-279: [m0 m1] with HW 0 is truncated to nothing."""
    for version in ("1.1", "2.0.0", "2.0.1"):
        response = cut(version, (UNKNOWN, UNKNOWN), log_end_offset=2, high_watermark=0)
        assert response == Truncation(0, done=True)


@given(
    version=st.sampled_from(WITH_EPOCHS),
    response=st.tuples(st.integers(-1, 3), st.integers(-1, 20)),
    own=st.tuples(st.integers(-1, 3), st.integers(-1, 20)),
    log_end_offset=st.integers(0, 20),
    high_watermark=st.integers(0, 25),
)
def test_no_response_makes_a_log_longer(
    version: str,
    response: tuple[int, int],
    own: tuple[int, int],
    log_end_offset: int,
    high_watermark: int,
) -> None:
    truncation = cut(version, response, own, log_end_offset, high_watermark)
    assert 0 <= truncation.offset <= log_end_offset


def test_of_a_follower_that_has_not_fetched_nothing_is_known() -> None:
    fresh = RemoteReplica()
    assert (fresh.leo, fresh.last_fetch_leader_leo, fresh.told_hw, fresh.since_us) == (
        -1,
        -1,
        -1,
        0,
    )
    assert fresh.last_caught_up_us == fresh.last_fetch_us == NEVER_US
    ten_years_us = 10 * 366 * 24 * 3_600 * SECOND_US
    assert -ten_years_us > NEVER_US
