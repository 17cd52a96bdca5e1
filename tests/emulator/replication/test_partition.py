"""The partition machine alone, by the sequences of commands in which releases lose records.

The numbers are those of the scenarios (V7, V10, V11, V12, V14) and of Kafka's JIRA: each is run on
the releases that lose and on those that do not.
"""

import pytest

from docs.make_partition_page import PAGE, page
from emulator.releases.profiles import PROFILES, VERSIONS
from emulator.replication import partition
from emulator.replication.leader_epoch_cache import LeaderEpochCache
from emulator.replication.partition import (
    FOLLOWER,
    LEADER,
    NEVER_US,
    OFFLINE,
    TRANSITIONS,
    AdoptIsr,
    Append,
    AppendFetched,
    BecomeFollower,
    BecomeLeader,
    ChangeRole,
    CheckHighWatermark,
    Command,
    CountFetch,
    End,
    ExpireIsr,
    FixedMoment,
    IsrRefused,
    IsrStored,
    KeepFetching,
    MoveHighWatermark,
    Partition,
    PendingIsr,
    ProposeIsr,
    RemoteReplica,
    Restart,
    Rules,
    StartFetching,
    Stop,
    StopFetching,
    StopLeading,
    after,
    produce_error,
    step,
)
from tests.support.generations import since
from tests.support.machines import Batch, Machines

BY_HIGH_WATERMARK = since("0.8.1", "0.10.2")
EPOCHS = since("0.11")


# ---- the histories that the protocol was changed for


def stale_high_watermark(version: str) -> Machines:
    """V7, KIP-101: B has m2 but not its HW, restarts, follows, and then leads."""
    pair = Machines(version, 1, 2)
    pair.produce(1, "m1")
    for _ in range(3):  # B's third fetch tells it of the HW that its second one raised
        pair.fetch(2)
    pair.checkpoint(2)
    pair.produce(1, "m2")
    pair.fetch(2)
    pair.fetch(2, lose_response=True)  # m2 is committed; B is never told
    assert pair.high_watermark(1) == 2
    pair.restart(2)
    pair.elect(1, 1, [1, 2], tell=[2])
    pair.ask_epoch(2)
    pair.elect(2, 2, [2], tell=[2])
    pair.produce(2, "m3")
    return pair


@pytest.mark.parametrize("version", BY_HIGH_WATERMARK)
def test_v7_a_follower_that_truncates_to_its_high_watermark_loses_what_was_acknowledged(
    version: str,
) -> None:
    assert stale_high_watermark(version).values(2) == "m1 m3"


@pytest.mark.parametrize("version", EPOCHS)
def test_v7_a_follower_that_asks_for_the_end_of_its_epoch_keeps_it(version: str) -> None:
    assert stale_high_watermark(version).values(2) == "m1 m2 m3"


def power_loss(version: str) -> Machines:
    """V10, KIP-101: B lost m2 with its power, leads and writes m3; A returns with m2."""
    pair = Machines(version, 1, 2)
    pair.produce(1, "m1", "m2")
    pair.fetch(2)
    pair.fetch(2)
    pair.checkpoint(1)
    pair.restart(2, lose_from=1)
    pair.elect(2, 1, [2], tell=[2])
    pair.produce(2, "m3")
    pair.restart(1)
    pair.elect(2, 2, [2])
    pair.follow(1)
    return pair


@pytest.mark.parametrize("version", BY_HIGH_WATERMARK)
def test_v10_logs_part_where_only_the_high_watermark_is_compared(version: str) -> None:
    pair = power_loss(version)
    assert (pair.values(1), pair.values(2)) == ("m1 m2", "m1 m3")


@pytest.mark.parametrize("version", EPOCHS)
def test_v10_with_epochs_the_old_leader_gives_up_what_the_new_one_lacks(version: str) -> None:
    pair = power_loss(version)
    assert (pair.values(1), pair.values(2)) == ("m1 m3", "m1 m3")


def fast_failover(version: str) -> Machines:
    """V11, KIP-279: leadership goes to B, which writes, and back to A, which saw none of it."""
    pair = Machines(version, 1, 2)
    pair.produce(1, "a0")
    pair.fetch(2)
    pair.fetch(2)
    pair.produce(1, "a1", "a2")
    pair.elect(2, 1, [1, 2], tell=[2])
    pair.produce(2, "b1", "b2", "b3")
    pair.elect(1, 2, [1, 2], tell=[1])
    pair.produce(1, "a3")
    pair.elect(1, 2, [1, 2], tell=[2])
    pair.follow(2)
    return pair


@pytest.mark.parametrize("version", since("0.11", "1.1"))
def test_v11_a_response_without_an_epoch_leaves_two_histories(version: str) -> None:
    pair = fast_failover(version)
    assert (pair.values(1), pair.values(2)) == ("a0 a1 a2 a3", "a0 b1 b2 a3")


@pytest.mark.parametrize("version", [*BY_HIGH_WATERMARK, *since("2.0.0")])
def test_v11_a_response_that_names_its_epoch_leads_back_to_where_the_logs_part(
    version: str,
) -> None:
    pair = fast_failover(version)
    assert pair.values(1) == pair.values(2) == "a0 a1 a2 a3"


def early_expansion(version: str) -> Machines:
    """KAFKA-7128: a new leader with an old HW lets a follower in that lacks what was committed."""
    three = Machines(version, 1, 2, 3)
    three.elect(1, 1, [1, 3])
    three.fetch(3)
    three.produce(1, "m0")
    three.fetch(3)
    three.fetch(3, lose_response=True)  # m0 is committed by 1 and 3; 3 does not know
    assert three.high_watermark(1) == 1
    three.elect(3, 2, [1, 3], tell=[3, 2])
    three.ask_epoch(2)
    three.fetch(2, lose_response=True)
    return three


@pytest.mark.parametrize("version", since("0.11", "2.0.0"))
def test_kafka_7128_a_follower_below_the_epochs_start_is_let_into_the_isr(version: str) -> None:
    three = early_expansion(version)
    assert three.states[3].isr == [1, 3, 2]
    three.elect(2, 3, [2])
    assert three.values(2) == ""


@pytest.mark.parametrize("version", since("2.0.1"))
def test_kafka_7128_from_2_0_1_it_has_to_reach_the_start_of_the_epoch(version: str) -> None:
    three = early_expansion(version)
    assert three.states[3].isr == [1, 3]
    three.fetch(2)
    three.fetch(2)
    assert (three.states[3].isr, three.values(2)) == ([1, 3, 2], "m0")


def unknown_epoch(version: str) -> Machines:
    """V12: B asks A, which is still in the epoch before, where B's own epoch ends."""
    pair = Machines(version, 1, 2)
    pair.produce(1, "m0")
    pair.fetch(2)
    pair.fetch(2, lose_response=True)
    pair.elect(2, 1, [1, 2], tell=[2])
    pair.produce(2, "m1")
    pair.elect(1, 2, [1, 2], tell=[2])
    pair.ask_epoch(2)
    return pair


@pytest.mark.parametrize("version", since("0.11", "2.0.1"))
def test_v12_an_unknown_epoch_makes_it_truncate_to_its_high_watermark(version: str) -> None:
    assert unknown_epoch(version).values(2) == ""


@pytest.mark.parametrize("version", since("2.1"))
def test_v12_with_fencing_it_waits_until_the_leader_knows_the_epoch(version: str) -> None:
    pair = unknown_epoch(version)
    pair.elect(1, 2, [1, 2], tell=[1])
    pair.follow(2)
    assert pair.values(2) == "m0"


def stale_follower(version: str) -> Machines:
    """V14: C has only the request of epoch 0 and fetches from A, which leads again in epoch 2."""
    three = Machines(version, 1, 2, 3)
    three.elect(1, 2, [1, 3], tell=[1])
    three.produce(1, "m0")
    three.fetch(3)
    three.fetch(3)
    return three


@pytest.mark.parametrize("version", since("0.8.1", "2.0.1"))
def test_v14_a_fetch_of_an_older_epoch_counts_for_the_high_watermark(version: str) -> None:
    three = stale_follower(version)
    assert (three.values(3), three.high_watermark(1)) == ("m0", 1)


@pytest.mark.parametrize("version", since("2.1"))
def test_v14_with_fencing_it_does_not(version: str) -> None:
    three = stale_follower(version)
    assert (three.values(3), three.high_watermark(1)) == ("", 0)
    assert three.failed == {3}


# ---- transitions, as tables

MODERN = Rules.of(PROFILES["3.9"])
NOW = FixedMoment(now_us=7, live_brokers=(1, 2, 3))


def leader(**fields: object) -> Partition:
    """Broker 1 leads t-0 in epoch 4, alone in the ISR."""
    state = Partition("t-0", 1)
    step(state, BecomeLeader(4, 1, [1], [1, 2], 9), MODERN, NOW)
    for name, value in fields.items():
        setattr(state, name, value)
    return state


def follower() -> Partition:
    """Broker 1 follows broker 2 in epoch 4."""
    state = Partition("t-0", 1)
    step(state, BecomeFollower(2, 4, 1, [1, 2], 9, True), MODERN, NOW)
    return state


ROLES: dict[str, tuple[Partition, Command, str, list[type]]] = {
    "offline to leader": (
        Partition("t-0", 1),
        BecomeLeader(4, 1, [1], [1], 9),
        LEADER,
        [ChangeRole, AdoptIsr, partition.BeginEpoch, partition.BeginLeading],
    ),
    "offline to follower": (
        Partition("t-0", 1),
        BecomeFollower(2, 4, 1, [1, 2], 9, True),
        FOLLOWER,
        [ChangeRole, StartFetching],
    ),
    "leader to follower": (
        leader(),
        BecomeFollower(2, 5, 1, [1, 2], 9, True),
        FOLLOWER,
        [StopLeading, ChangeRole, StartFetching],
    ),
    "follower to leader": (
        follower(),
        BecomeLeader(5, 1, [1], [1], 9),
        LEADER,
        [StopFetching, ChangeRole, AdoptIsr, partition.BeginEpoch, partition.BeginLeading],
    ),
    "follower of the same leader": (
        follower(),
        BecomeFollower(2, 5, 1, [1, 2], 9, True),
        FOLLOWER,
        [ChangeRole, StopFetching, StartFetching],
    ),
    "follower of another leader": (
        follower(),
        BecomeFollower(3, 5, 1, [1, 2, 3], 9, True),
        FOLLOWER,
        [ChangeRole, StopFetching, StartFetching],
    ),
    "stopped": (leader(), Stop(), OFFLINE, [StopLeading, StopFetching, ChangeRole]),
    "ended": (follower(), End(), OFFLINE, [ChangeRole]),
}


@pytest.mark.parametrize("name", ROLES)
def test_a_change_of_role_has_its_effects_in_this_order(name: str) -> None:
    state, command, role, effects = ROLES[name]
    now, found = after(state, command, MODERN, NOW)
    assert now.role == role
    assert [type(effect) for effect in found] == effects


@pytest.mark.parametrize(
    ("version", "epoch", "keeps"),
    [("1.1", 5, True), ("2.0.0", 6, True), ("2.0.1", 5, True), ("2.0.1", 6, False)],
)
def test_the_same_leader_in_the_next_epoch_is_fetched_from_as_before(
    version: str, epoch: int, keeps: bool
) -> None:
    """From 2.0.1 on not if an epoch was missed (KAFKA-7164)."""
    rules = Rules.of(PROFILES[version])
    _, effects = after(follower(), BecomeFollower(2, epoch, 1, [1, 2], 9, True), rules, NOW)
    assert any(isinstance(effect, KeepFetching) for effect in effects) is keeps


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("named", [-1, 2])
def test_without_a_live_leader_everything_stays_as_it_was(version: str, named: int) -> None:
    rules = Rules.of(PROFILES[version])
    state = leader(high_watermark=0)
    now, effects = after(state, BecomeFollower(named, 5, 1, [1, 2], 9, False), rules, NOW)
    assert (now, effects) == (state, [])


def test_after_leaves_the_state_alone() -> None:
    state = leader(log_end=3)
    before = state.copied()
    now, _ = after(state, Append(Batch(-1, -1, ("a",)), {}), MODERN, NOW)
    assert state == before
    assert (now.log_end, now.high_watermark) == (4, 4)


def test_a_lone_leader_commits_at_once_and_two_wait_for_each_other() -> None:
    alone = leader()
    step(alone, Append(Batch(-1, -1, ("a", "b")), {}), MODERN, NOW)
    assert alone.high_watermark == 2
    both = leader(isr=[1, 2])
    step(both, Append(Batch(-1, -1, ("a", "b")), {}), MODERN, NOW)
    assert both.high_watermark == 0
    effects = step(both, CountFetch(2, 1), MODERN, NOW)
    assert [e for e in effects if isinstance(e, MoveHighWatermark)] == [
        MoveHighWatermark(1, 0, "fetch")
    ]
    again = step(both, CheckHighWatermark("isr"), MODERN, NOW)
    assert MoveHighWatermark not in map(type, again)


@pytest.mark.parametrize(("version", "rises"), [("3.5", True), ("3.9", False)])
def test_below_min_isr_the_high_watermark_stands_still_from_3_7(version: str, rises: bool) -> None:
    state = leader(log_end=2)
    state.assigned = [1, 2]
    moment = FixedMoment(min_insync_replicas=2, live_brokers=(1, 2))
    step(state, CheckHighWatermark("isr"), Rules.of(PROFILES[version]), moment)
    assert (state.high_watermark == 2) is rises


@pytest.mark.parametrize(
    ("error", "pending"),
    [
        ("INELIGIBLE_REPLICA", False),
        ("INVALID_UPDATE_VERSION", True),
        ("FENCED_LEADER_EPOCH", True),
        ("UNKNOWN_TOPIC_OR_PARTITION", True),
    ],
)
def test_a_refused_isr_change_is_proposed_again_only_if_the_replica_was_ineligible(
    error: str, pending: bool
) -> None:
    state = leader(pending=PendingIsr([1, 2], "expand"))
    step(state, IsrRefused(error), MODERN, NOW)
    assert (state.pending is not None) is pending


@pytest.mark.parametrize(
    ("epoch", "version", "taken"), [(4, 10, True), (4, 8, False), (3, 10, False), (5, 10, False)]
)
def test_a_stored_isr_counts_only_for_the_epoch_and_version_that_the_leader_is_in(
    epoch: int, version: int, taken: bool
) -> None:
    state = leader(pending=PendingIsr([1, 2], "expand"))
    step(state, IsrStored([1, 2], version, epoch), MODERN, NOW)
    assert (state.isr == [1, 2]) is taken


def test_a_pending_expansion_holds_the_high_watermark_and_a_pending_removal_does_not_free_it() -> (
    None
):
    growing = leader(log_end=2, pending=PendingIsr([1, 2], "expand"))
    step(growing, CheckHighWatermark("append"), MODERN, NOW)
    assert growing.high_watermark == 0
    shrinking = leader(log_end=2, isr=[1, 2], pending=PendingIsr([1], "shrink"))
    step(shrinking, CheckHighWatermark("append"), MODERN, NOW)
    assert shrinking.high_watermark == 0


def test_one_isr_change_at_a_time_is_under_way() -> None:
    state = leader(isr=[1, 2], log_end=3)
    late = FixedMoment(now_us=60_000_000, live_brokers=(1, 2))
    first = step(state, ExpireIsr({}), MODERN, late)
    assert first == [ProposeIsr([1], "shrink", 2)]
    assert step(state, ExpireIsr({}), MODERN, late) == []


def test_a_fetched_batch_that_is_there_already_is_passed_over_and_a_half_known_one_is_split() -> (
    None
):
    state = follower()
    state.log_end = 2
    effects = step(
        state,
        AppendFetched([Batch(0, 1, ("a", "b")), Batch(1, 1, ("b", "c", "d"))], 3),
        MODERN,
        NOW,
    )
    assert state.log_end == 4
    assert [e.offset for e in effects if isinstance(e, partition.AppendAsFollower)] == [2]
    assert state.high_watermark == 3


@pytest.mark.parametrize("version", ["0.10.2", "3.9"])
def test_a_restart_knows_only_the_checkpointed_high_watermark(version: str) -> None:
    state = Partition("t-0", 1, log_end=5, high_watermark=5)
    step(state, Restart(3), Rules.of(PROFILES[version]), NOW)
    assert (state.high_watermark, state.log_end, state.role) == (3, 5, FOLLOWER)


def test_a_leader_short_of_members_refuses_acks_all_only() -> None:
    state = leader()
    state.assigned = [1, 2]
    moment = FixedMoment(min_insync_replicas=2)
    assert produce_error(state, -1, MODERN, moment) == "NOT_ENOUGH_REPLICAS"
    assert produce_error(state, 1, MODERN, moment) == "NONE"
    assert produce_error(None, 1, MODERN, moment) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert produce_error(follower(), 1, MODERN, moment) == "NOT_LEADER_OR_FOLLOWER"


@pytest.mark.parametrize("isr", [[1, 2], [1, 2, 3]])
def test_an_isr_of_the_smallest_allowed_size_or_more_takes_records(isr: list[int]) -> None:
    state = leader(assigned=[1, 2, 3], isr=isr)
    assert produce_error(state, -1, MODERN, FixedMoment(min_insync_replicas=2)) == "NONE"


@pytest.mark.parametrize("version", ["0.10.2", "3.9"])
def test_a_new_leader_keeps_its_high_watermark_if_its_log_reaches_further(version: str) -> None:
    state = Partition("t-0", 1, log_end=5, high_watermark=3)
    command = BecomeLeader(5, 1, [1, 2], [1, 2], 9)
    effects = step(state, command, Rules.of(PROFILES[version]), NOW)
    assert state.high_watermark == 3
    assert not [effect for effect in effects if isinstance(effect, MoveHighWatermark)]


@pytest.mark.parametrize("before", [Partition("t-0", 1), follower()], ids=[OFFLINE, FOLLOWER])
def test_who_did_not_lead_before_knows_nothing_of_followers(before: Partition) -> None:
    state, _ = after(before, BecomeLeader(5, 1, [1], [1, 2], 9), MODERN, NOW)
    assert (state.remotes[2].leo, state.remotes[2].last_fetch_us) == (-1, NEVER_US)


def test_who_led_before_goes_on_with_what_it_knows_of_followers() -> None:
    before = leader(log_end=3, remotes={2: RemoteReplica(leo=2)})
    state, _ = after(before, BecomeLeader(5, 1, [1], [1, 2], 9), MODERN, NOW)
    remote = state.remotes[2]
    assert (remote.leo, remote.last_fetch_us, remote.last_fetch_leader_leo) == (2, NOW.now_us, 3)


@pytest.mark.parametrize(
    ("entries", "high_watermark", "end"),
    [([], 2, 2), ([], 5, 5), ([(0, 0)], 2, 5)],
)
def test_a_log_without_an_epoch_is_truncated_to_its_high_watermark(
    entries: list[tuple[int, int]], high_watermark: int, end: int
) -> None:
    """As is a log that was written before there were epochs; others ask the leader."""
    state = Partition("t-0", 1, log_end=5, high_watermark=high_watermark)
    state.epochs = LeaderEpochCache(entries)
    now, effects = after(state, BecomeFollower(2, 4, 1, [1, 2], 9, True), MODERN, NOW)
    assert now.log_end == end
    truncated = [each for each in effects if isinstance(each, partition.TruncateLog)]
    assert len(truncated) == (end < 5)


@pytest.mark.parametrize("before", [leader(), follower()], ids=[LEADER, FOLLOWER])
def test_who_follows_nobody_has_no_leader(before: Partition) -> None:
    now, _ = after(before, partition.FollowNobody(6, 1, [1, 2], 10), MODERN, NOW)
    assert (now.role, now.leader, now.leader_epoch) == (FOLLOWER, -1, 6)
    assert (now.isr, now.remotes, now.epoch_start) == ([], {}, None)


@pytest.mark.parametrize("leader_id", [0, 3])
def test_another_leader_is_fetched_from_anew_in_every_release(leader_id: int) -> None:
    command = BecomeFollower(leader_id, 5, 1, [0, 1, 2, 3], 9, True)
    _, effects = after(follower(), command, Rules.of(PROFILES["1.1"]), NOW)
    assert {StopFetching, StartFetching} <= {type(effect) for effect in effects}


@pytest.mark.parametrize("state", [follower(), Partition("t-0", 1)], ids=[FOLLOWER, OFFLINE])
def test_who_does_not_lead_says_so(state: Partition) -> None:
    assert partition.epoch_error(state, -1, MODERN) == "NOT_LEADER_OR_FOLLOWER"


# ---- what followers have, and since when


@pytest.mark.parametrize(
    ("leo", "since_us", "caught_up_us"),
    [(3, 5, 40), (3, 40, 40), (3, 41, 0), (2, 5, 0), (4, 5, 0)],
    ids=["at the LEO", "just in the epoch", "before the epoch", "behind", "ahead"],
)
def test_before_the_leo_moves_a_follower_at_it_was_caught_up_at_its_last_fetch(
    leo: int, since_us: int, caught_up_us: int
) -> None:
    remote = RemoteReplica(leo=leo, last_caught_up_us=0, since_us=since_us)
    state = leader(log_end=3, remotes={2: remote})
    step(state, Append(Batch(-1, -1, ("a",)), {2: 40}), MODERN, NOW)
    assert remote.last_caught_up_us == caught_up_us
    assert (remote.last_fetch_leader_leo == 3) is (caught_up_us == 40)


@pytest.mark.parametrize(
    ("leo", "session_us", "found"), [(3, 40, 40), (3, 0, 7), (3, 4, 7), (2, 40, 7), (4, 40, 7)]
)
def test_a_session_tells_when_a_follower_at_the_leo_was_caught_up(
    leo: int, session_us: int, found: int
) -> None:
    remote = RemoteReplica(leo=leo, last_caught_up_us=7, since_us=5)
    assert partition.caught_up_us(remote, 3, session_us) == found


def test_a_follower_that_fetches_from_further_back_is_remembered_there() -> None:
    state = leader(log_end=3, isr=[1, 2], remotes={2: RemoteReplica(leo=3)})
    effects = step(state, CountFetch(2, 1), MODERN, NOW)
    assert [e for e in effects if isinstance(e, partition.RememberLogEnd)] == [
        partition.RememberLogEnd(2, 1)
    ]
    assert state.remotes[2].leo == 1


# ---- what a fetch is answered


@pytest.mark.parametrize(
    ("offset", "last_epoch", "response"),
    [
        (6, 4, partition.LogReadResult("NONE", 5, 1)),
        (8, 4, partition.LogReadResult("NONE", 5, 1, (4, 7))),
        (6, 2, partition.LogReadResult("NONE", 5, 1, (2, 4))),
        (4, 2, partition.LogReadResult("NONE", 5, 1)),
        (4, 3, partition.LogReadResult("NONE", 5, 1, (2, 4))),
        (6, 9, partition.LogReadResult("OFFSET_OUT_OF_RANGE", log_start=1)),
        (8, -1, partition.LogReadResult("OFFSET_OUT_OF_RANGE", log_start=1)),
        (0, -1, partition.LogReadResult("OFFSET_OUT_OF_RANGE", log_start=1)),
        (7, -1, partition.LogReadResult("NONE", 5, 1)),
        (1, -1, partition.LogReadResult("NONE", 5, 1)),
    ],
)
def test_a_fetch_is_answered_by_its_offset_and_the_last_epoch_that_it_names(
    offset: int, last_epoch: int, response: partition.LogReadResult
) -> None:
    cache = LeaderEpochCache([(2, 1), (4, 4)])
    state = leader(log_start=1, log_end=7, high_watermark=5, epochs=cache)
    state.remotes = {2: RemoteReplica()}
    assert partition.fetch_records(state, 2, offset, 4, last_epoch, MODERN) == response


def test_only_an_assigned_follower_is_given_records() -> None:
    state = leader(remotes={2: RemoteReplica()})
    assert partition.fetch_records(state, 3, 0, 4, -1, MODERN).error == "NOT_LEADER_OR_FOLLOWER"


@pytest.mark.parametrize(
    ("epoch", "error"),
    [(3, "FENCED_LEADER_EPOCH"), (4, "NONE"), (5, "UNKNOWN_LEADER_EPOCH"), (-1, "NONE")],
)
def test_an_epoch_is_compared_with_the_leaders(epoch: int, error: str) -> None:
    assert partition.epoch_error(leader(), epoch, MODERN) == error


# ---- truncating


@pytest.mark.parametrize(
    ("response", "reason", "end"),
    [
        ((-1, -1), "no such epoch: to high watermark", 2),
        ((0, 3), "to end of epoch", 3),
        ((0, 0), "to end of epoch", 0),
    ],
)
def test_a_truncation_says_why(response: tuple[int, int], reason: str, end: int) -> None:
    state = follower()
    state.epochs, state.log_end, state.high_watermark = LeaderEpochCache([(0, 0)]), 5, 2
    effects = step(state, partition.TruncateToEpochEnd(*response), MODERN, NOW)
    cuts = [e for e in effects if isinstance(e, partition.TruncateLog)]
    assert [(cut.offset, cut.previous, cut.reason) for cut in cuts] == [(end, 5, reason)]


@pytest.mark.parametrize(
    ("version", "start", "end", "unclean", "found"),
    [
        ("3.9", 0, 3, False, [partition.TruncateLog]),
        ("3.9", 0, 5, False, []),
        ("3.9", 0, 9, False, []),
        ("3.9", 5, 9, False, []),
        ("3.9", 6, 9, False, [partition.RestartLog, MoveHighWatermark]),
        ("0.10.2", 0, 3, False, [partition.Halt]),
        ("0.10.2", 0, 3, True, [partition.TruncateLog]),
        ("0.10.2", 0, 5, False, []),
        ("0.8.1", 0, 9, True, [partition.RestartLog, MoveHighWatermark]),
    ],
)
def test_a_follower_out_of_range_adjusts_to_where_the_leaders_log_lies(
    version: str, start: int, end: int, unclean: bool, found: list[type]
) -> None:
    state = follower()
    state.log_end = 5
    command = partition.AdjustToLeader(start, end, unclean)
    effects = step(state, command, Rules.of(PROFILES[version]), NOW)
    assert [type(effect) for effect in effects] == found
    led = leader(log_end=5)
    assert step(led, command, Rules.of(PROFILES[version]), NOW) == []


@pytest.mark.parametrize(
    ("first_segment", "log_start", "offset", "found"),
    [
        (0, 0, 6, (0, 0, 6)),
        (0, 4, 6, (0, 4, 6)),
        (0, 4, 3, (0, 3, 3)),  # what was deleted is still on disk, and is read again
        (3, 4, 3, (3, 3, 3)),
        (4, 4, 3, (3, 3, 3)),  # nothing so old is on disk: everything goes
        (10, 10, 3, (3, 3, 3)),
    ],
)
@pytest.mark.parametrize("version", ["0.10.2", "1.1", "2.8", "3.9"])
def test_a_log_is_truncated_below_its_start_or_starts_anew(
    version: str, first_segment: int, log_start: int, offset: int, found: tuple[int, ...]
) -> None:
    rules = Rules.of(PROFILES[version])
    state = follower()
    state.log_end = 10
    state.first_segment, state.log_start = first_segment, log_start
    if rules.leader_epochs:
        state.epochs = LeaderEpochCache([(0, log_start), (1, 5)])
    effects = step(state, partition.LoseTail(offset, "truncated"), rules, NOW)
    assert (state.first_segment, state.log_start, state.log_end) == found
    restarts = [effect for effect in effects if isinstance(effect, partition.RestartLog)]
    assert bool(restarts) == (offset < first_segment)
    if state.epochs is not None:
        assert all(start < offset for _, start in state.epochs.entries)
        assert not (restarts and state.epochs.entries)


def test_the_records_below_the_log_start_stay_until_their_segments_are_deleted() -> None:
    state = follower()
    state.log_end = state.high_watermark = 9
    effects = step(state, AppendFetched([], 9, 4), MODERN, NOW)
    assert effects == [partition.MoveLogStart(4, 0)]
    assert step(state, partition.DeleteSegments(0), MODERN, NOW) == []
    assert step(state, partition.DeleteSegments(3), MODERN, NOW) == [partition.MoveLogStart(4, 3)]
    assert step(state, partition.DeleteSegments(6), MODERN, NOW) == [partition.MoveLogStart(6, 6)]
    step(state, partition.DeleteSegments(12), MODERN, NOW)
    assert (state.first_segment, state.log_start) == (9, 9)


def test_a_tail_that_is_not_there_cannot_be_lost() -> None:
    state = follower()
    state.log_end = 5
    assert step(state, partition.LoseTail(9, "power loss"), MODERN, NOW) == []
    assert state.log_end == 5


def test_a_follower_takes_the_leaders_high_watermark_even_if_it_is_lower() -> None:
    state = follower()
    state.log_end = state.high_watermark = 5
    effects = step(state, AppendFetched([], 3), MODERN, NOW)
    assert effects == [MoveHighWatermark(3, 5, "response")]


def test_who_does_not_lead_expires_nobody() -> None:
    state = leader(isr=[1, 2], role=FOLLOWER)
    assert step(state, ExpireIsr({}), MODERN, FixedMoment(now_us=60_000_000)) == []


def test_an_isr_that_is_stored_under_the_version_that_the_leader_knows_counts() -> None:
    """A response may be the second one to a request that was sent twice."""
    state = leader(pending=PendingIsr([1, 2], "expand"))
    step(state, IsrStored([1, 2], 9, 4), MODERN, NOW)
    assert (state.isr, state.pending) == ([1, 2], None)


@pytest.mark.parametrize("role", [FOLLOWER, OFFLINE])
def test_an_isr_that_is_stored_too_late_concerns_a_leader_no_more(role: str) -> None:
    state = leader(pending=PendingIsr([1, 2], "expand"), role=role)
    assert step(state, IsrStored([1, 2], 10, 4), MODERN, NOW) == []


def test_a_follower_skips_records_that_it_has() -> None:
    state = follower()
    state.log_end = 5
    effects = step(
        state, AppendFetched([Batch(2, 4, ("a", "b")), Batch(4, 4, ("c",))], 0), MODERN, NOW
    )
    assert (effects, state.log_end) == ([], 5)


def test_what_a_batch_says_of_epochs_overrules_a_follower_that_believes_in_a_later_one() -> None:
    """LeaderEpochFileCache.assign (2.0.1+): entries that contradict the new one are removed."""
    state = follower()
    state.log_end, state.epochs = 5, LeaderEpochCache([(1, 0), (6, 3)])
    step(state, AppendFetched([Batch(5, 4, ("d",))], 0), MODERN, NOW)
    assert state.epochs.entries == [(1, 0), (4, 5)]


def of(version: str) -> Rules:
    return Rules.of(PROFILES[version])


def test_what_nobody_has_told_a_replica_is_unknown() -> None:
    fresh = Partition("t-0", 1)
    assert (fresh.role, fresh.leader, fresh.leader_epoch) == (OFFLINE, -1, -1)
    assert (fresh.zk_version, fresh.controller_epoch, fresh.is_known) == (-1, 0, False)


@pytest.mark.parametrize("before", [leader(remotes={2: RemoteReplica()}), follower()])
def test_a_process_that_ends_remembers_what_is_on_disk_alone(before: Partition) -> None:
    before.log_end, before.pending = 5, PendingIsr([1, 2], "expand")
    before.high_watermark = 3
    state, effects = after(before, End(), MODERN, NOW)
    on_disk = Partition("t-0", 1, log_end=5, high_watermark=3, epochs=before.epochs)
    assert state == on_disk
    assert effects == [ChangeRole(OFFLINE, -1, -1)]


def test_who_stops_follows_nobody() -> None:
    _, effects = after(follower(), Stop(), MODERN, NOW)
    assert effects[-1] == ChangeRole(OFFLINE, -1, -1)


def test_who_restarts_follows_whom_it_followed_in_an_epoch_that_it_does_not_know() -> None:
    state = Partition("t-0", 1, log_end=5, leader=2)
    assert ChangeRole(FOLLOWER, 2, -1) in step(state, Restart(3), MODERN, NOW)


def test_a_fetch_that_fails_is_told_nothing_of_the_log() -> None:
    found = partition.fetch_records(follower(), 3, 0, -1, -1, MODERN)
    assert (found.error, found.high_watermark, found.log_start) == (
        "NOT_LEADER_OR_FOLLOWER",
        -1,
        -1,
    )


@pytest.mark.parametrize(("version", "error"), [("3.6", "NOT_ENOUGH_REPLICAS"), ("3.7", "NONE")])
def test_from_3_7_no_more_replicas_can_be_required_than_are_assigned(
    version: str, error: str
) -> None:
    state = leader(assigned=[1])
    assert produce_error(state, -1, of(version), FixedMoment(min_insync_replicas=2)) == error


def test_a_new_leader_says_that_it_knows_nothing_of_its_followers_logs() -> None:
    effects = step(Partition("t-0", 1), BecomeLeader(4, 1, [1], [1, 2], 9), MODERN, NOW)
    assert partition.ForgetLogEnds([2]) in effects


def test_who_leads_no_longer_forgets_its_isr_and_its_followers() -> None:
    state = leader(isr=[1, 2], remotes={2: RemoteReplica()})
    step(state, BecomeFollower(2, 5, 1, [1, 2], 9, True), MODERN, NOW)
    assert (state.isr, state.remotes) == ([], {})


@pytest.mark.parametrize(("version", "epoch"), [("0.10.2", -1), ("0.11", 4)])
def test_records_carry_the_leaders_epoch_since_there_are_epochs(version: str, epoch: int) -> None:
    effects = step(leader(), Append(Batch(0, -1, ("a",)), {}), of(version), NOW)
    [appended] = [each for each in effects if isinstance(each, partition.AppendAsLeader)]
    assert appended.leader_epoch == epoch


def test_a_leader_remembers_which_high_watermark_a_follower_was_told() -> None:
    state = leader(remotes={2: RemoteReplica()})
    step(state, partition.TellHighWatermark(2, 5), MODERN, NOW)
    step(state, partition.TellHighWatermark(3, 6), MODERN, NOW)
    assert {broker: remote.told_hw for broker, remote in state.remotes.items()} == {2: 5}


@pytest.mark.parametrize(
    ("isr", "error"), [([1, 2], "NONE"), ([1], "NOT_ENOUGH_REPLICAS_AFTER_APPEND")]
)
def test_a_produce_learns_whether_enough_replicas_were_in_sync(isr: list[int], error: str) -> None:
    remotes = {2: RemoteReplica(leo=1)}
    state = leader(isr=isr, remotes=remotes, log_end=1, assigned=[1, 2])
    rules, moment = of("3.5"), FixedMoment(min_insync_replicas=2)
    assert partition.acks_all_error(state, 1, rules, moment) is None
    assert partition.COMPLETE_PRODUCES in step(state, CheckHighWatermark("isr"), rules, moment)
    assert partition.acks_all_error(state, 1, rules, moment) == error


@pytest.mark.parametrize(
    ("version", "live", "raised"),
    [
        ("3.5", (1, 2), False),
        ("3.5", (1,), False),
        ("3.6", (1, 2), False),
        ("3.6", (1,), True),
    ],
)
def test_a_dead_replica_that_was_caught_up_holds_the_high_watermark_back_up_to_3_5(
    version: str, live: tuple[int, ...], raised: bool
) -> None:
    """KAFKA-15021."""
    remotes = {2: RemoteReplica(leo=0, last_caught_up_us=5)}
    state = leader(isr=[1], remotes=remotes, log_end=1)
    step(state, CheckHighWatermark("isr"), of(version), FixedMoment(now_us=7, live_brokers=live))
    assert (state.high_watermark == 1) is raised


@pytest.mark.parametrize(("version", "joins"), [("3.2", True), ("3.3", False)])
def test_from_3_3_a_broker_that_is_not_alive_is_not_proposed_for_the_isr(
    version: str, joins: bool
) -> None:
    """KIP-841."""
    state = leader(isr=[1], remotes={2: RemoteReplica(leo=0)})
    effects = step(state, CountFetch(2, 0), of(version), FixedMoment(live_brokers=(1,)))
    assert any(isinstance(effect, ProposeIsr) for effect in effects) is joins


@pytest.mark.parametrize(("version", "raised"), [("2.6", True), ("3.0", False), ("3.1", True)])
def test_whether_a_stored_isr_raises_the_high_watermark_at_once(version: str, raised: bool) -> None:
    state = leader(
        isr=[1, 2], remotes={2: RemoteReplica(leo=0)}, log_end=1, pending=PendingIsr([1], "shrink")
    )
    step(state, IsrStored([1], 10, 4), of(version), FixedMoment(now_us=60_000_000))
    assert (state.high_watermark == 1) is raised


@pytest.mark.parametrize(("epoch", "again"), [(3, True), (4, False)])
def test_a_follower_asks_again_if_the_leader_knows_only_an_older_epoch_than_it_has(
    epoch: int, again: bool
) -> None:
    """KIP-279: the follower truncates to where its own largest such epoch ends, and asks again."""
    state = follower()
    state.log_end, state.epochs = 5, LeaderEpochCache([(2, 0), (4, 3)])
    effects = step(state, partition.TruncateToEpochEnd(epoch, 4), MODERN, NOW)
    assert (partition.ASK_AGAIN in effects) is again
    assert state.log_end == (3 if again else 4)


def test_every_command_has_its_transition() -> None:
    assert set(TRANSITIONS) == set(Command.__args__)


def test_the_page_on_the_machine_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
