"""The quorum's members, with a network that is a list: elections, replication, truncation."""

from collections.abc import Callable
from random import Random

import pytest

from emulator.metadata_log.records import NoOpRecord, TopicRecord
from emulator.protocol.message import Message
from emulator.protocol.raft import (
    EndQuorumEpochRequest,
    MetadataBatch,
    MetadataFetchRequest,
    MetadataFetchResponse,
    VoteRequest,
    VoteResponse,
)
from emulator.raft.log import MetadataLog
from emulator.raft.quorum import NEVER_US, QuorumMember, QuorumRules, Surroundings
from emulator.raft.state import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    InFlight,
    Parked,
    Progress,
    QuorumState,
    Resting,
)

VOTERS = [100, 101, 102]


def rules(*, pre_vote: bool = True) -> QuorumRules:
    return QuorumRules(
        election_timeout_us=1_000_000,
        election_backoff_max_us=1_000_000,
        fetch_timeout_us=2_000_000,
        request_timeout_us=2_000_000,
        pre_vote=pre_vote,
        checks_quorum=True,
        tells_high_watermark=True,
    )


class World:
    """Members whose messages arrive at once and in order, unless one of the ends is cut off."""

    def __init__(
        self, voters: list[int], observers: tuple[int, ...] = (), pre_vote: bool = True
    ) -> None:
        self.now_us = 0
        self.sent: list[tuple[int, int, int, Message]] = []
        self.number = 0
        self.away: set[int] = set()
        self.members: dict[int, QuorumMember] = {}
        draw = Random(7).randrange
        for me in (*voters, *observers):
            around = Surroundings(lambda: self.now_us, draw, self.sender(me), lambda _: None)
            self.members[me] = QuorumMember(
                me, voters, QuorumState(), lambda: rules(pre_vote=pre_vote), around
            )

    def sender(self, me: int) -> Callable[[int, Message, int], int]:
        def send(peer: int, message: Message, _request: int) -> int:
            self.number += 1
            self.sent.append((me, peer, self.number, message))
            return self.number

        return send

    def deliver(self) -> None:
        while self.sent:
            source, destination, number, message = self.sent.pop(0)
            if not {source, destination} & self.away:
                self.members[destination].handle(source, number, message)
            elif source not in self.away:
                self.members[source].connection_lost(destination)

    def run(self, ms: int) -> None:
        """Let time pass in steps of 10 ms."""
        for _ in range(ms // 10):
            self.now_us += 10_000
            for member in self.members.values():
                member.poll()
            self.deliver()

    def start(self) -> None:
        for member in self.members.values():
            member.start()
        self.deliver()

    def leader(self) -> QuorumMember:
        found = [
            each
            for me, each in self.members.items()
            if each.state.role == LEADER and me not in self.away
        ]
        (leader,) = found
        return leader


@pytest.fixture(params=[True, False], ids=["with pre-vote", "without"])
def world(request: pytest.FixtureRequest) -> World:
    made = World(VOTERS, (0,), request.param)
    made.start()
    made.run(3_000)
    return made


def topic(name: str) -> tuple[TopicRecord, ...]:
    return (TopicRecord(name, name),)


def test_one_voter_leads_at_once() -> None:
    world = World([100])
    world.start()
    assert world.leader().me == 100
    assert world.leader().state.high_watermark == 1  # the record that says who leads


def test_of_three_voters_one_leads_and_all_know_it(world: World) -> None:
    leader = world.leader()
    others = [each for each in world.members.values() if each is not leader]
    assert {each.state.role for each in others} == {FOLLOWER}
    assert {each.state.leader for each in others} == {leader.me}
    assert {each.state.epoch for each in others} == {leader.state.epoch}


def test_what_a_majority_has_is_committed_everywhere(world: World) -> None:
    leader = world.leader()
    end = leader.append([topic("t")])
    assert leader.state.high_watermark < end
    world.run(1_000)
    assert {each.state.high_watermark for each in world.members.values()} == {end}


def test_an_observer_does_not_count(world: World) -> None:
    leader = world.leader()
    world.away = {voter for voter in VOTERS if voter != leader.me}
    before = leader.state.high_watermark
    leader.append([topic("t")])
    world.run(1_000)
    assert leader.state.high_watermark == before
    assert world.members[0].state.log.end_offset == before + 1


def test_without_a_majority_the_leader_resigns_and_nobody_leads(world: World) -> None:
    leader = world.leader()
    world.away = {voter for voter in VOTERS if voter != leader.me}
    world.run(3_500)
    assert leader.state.role != LEADER


def test_another_is_elected_and_what_was_not_committed_is_truncated(world: World) -> None:
    old = world.leader()
    world.away = {old.me}
    old.append([topic("lost")])
    world.run(8_000)
    new = world.leader()
    new.append([topic("kept")])
    world.run(1_000)
    world.away = set()
    world.run(3_000)
    assert old.state.role == FOLLOWER
    assert old.state.log.batches == new.state.log.batches
    names = [r.name for b in old.state.log.batches for r in b.records if isinstance(r, TopicRecord)]
    assert names == ["kept"]


def test_a_voter_that_was_cut_off_does_not_disturb_a_working_leader() -> None:
    world = World(VOTERS)
    world.start()
    world.run(3_000)
    leader = world.leader()
    epoch = leader.state.epoch
    lonely = next(voter for voter in VOTERS if voter != leader.me)
    world.away = {lonely}
    world.run(10_000)
    assert world.members[lonely].state.role in (PROSPECTIVE, FOLLOWER)
    world.away = set()
    world.run(3_000)
    assert (world.leader().me, world.leader().state.epoch) == (leader.me, epoch)


def test_before_pre_vote_it_raises_the_epoch() -> None:
    world = World(VOTERS, pre_vote=False)
    world.start()
    world.run(3_000)
    epoch = world.leader().state.epoch
    lonely = next(voter for voter in VOTERS if voter != world.leader().me)
    world.away = {lonely}
    world.run(10_000)
    world.away = set()
    world.run(5_000)
    assert world.leader().state.epoch > epoch + 1


def test_a_leader_that_is_shut_down_lets_another_follow_at_once(world: World) -> None:
    leader = world.leader()
    leader.resign()
    world.deliver()
    world.away = {leader.me}
    world.run(200)
    assert world.leader() is not leader


def test_a_leader_that_returns_does_not_lead_its_old_epoch() -> None:
    world = World(VOTERS)
    world.start()
    world.run(3_000)
    leader = world.leader()
    epoch, log = leader.state.epoch, list(leader.state.log.batches)
    leader.state.end_process()
    assert (leader.state.epoch, leader.state.log.batches) == (epoch, log)
    leader.start()
    assert leader.state.role == RESIGNED


def test_a_vote_is_given_once_in_an_epoch() -> None:
    world = World(VOTERS)
    world.start()
    voter = world.members[102]
    responses = []
    for candidate in (100, 101, 100):
        world.sent.clear()
        voter.handle(candidate, 1, VoteRequest(candidate, 5, -1, 0))
        responses.append(next(m.granted for _, _, _, m in world.sent if hasattr(m, "granted")))
    assert responses == [True, False, True]
    assert voter.state.role == UNATTACHED


def test_a_shorter_log_gets_no_vote(world: World) -> None:
    follower = next(each for each in world.members.values() if each.state.role == FOLLOWER)
    world.sent.clear()
    follower.handle(101, 1, VoteRequest(101, follower.state.epoch + 1, -1, 0))
    (response,) = [m for _, _, _, m in world.sent if hasattr(m, "granted")]
    assert not response.granted


def test_a_fetch_of_another_epoch_is_refused(world: World) -> None:
    leader = world.leader()
    world.sent.clear()
    for epoch in (leader.state.epoch - 1, leader.state.epoch + 1):
        leader.handle(0, 1, MetadataFetchRequest(0, epoch, 0, -1, 500_000))
    errors = [m.error for _, _, _, m in world.sent if isinstance(m, MetadataFetchResponse)]
    assert errors == ["FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH"]


def test_where_logs_part_is_found_by_epoch() -> None:
    log = MetadataLog()
    for base, epoch in ((0, 1), (1, 1), (2, 3), (3, 4)):
        log.append(MetadataBatch(base, epoch, (NoOpRecord(),)))
    assert log.diverging(2, 1) is None
    assert log.diverging(3, 1) == (1, 2)
    assert log.diverging(3, 2) == (1, 2)
    assert log.diverging(0, -1) is None
    assert log.end_of_epoch(0) == (-1, 0)
    assert log.epoch_at(2) == 3
    assert log.epoch_at(9) == -1
    log.truncate(2)
    assert (log.end_offset, log.last_epoch) == (2, 1)


# ---- one member alone, message by message


class Alone:
    """One member whose messages go nowhere; ``draw`` always gives ``drawn``."""

    def __init__(self, state: QuorumState, *, pre_vote: bool = True, drawn: int = 0) -> None:
        self.now_us = 50
        self.sent: list[tuple[int, Message]] = []
        self.left: list[int] = []
        state.running = True
        self.state = state
        around = Surroundings(
            lambda: self.now_us, lambda _below: drawn, self.send, self.left.append
        )
        self.member = QuorumMember(100, VOTERS, state, lambda: rules(pre_vote=pre_vote), around)

    def send(self, peer: int, message: Message, _request: int) -> int:
        self.sent.append((peer, message))
        return len(self.sent)

    def respond(self, source: int, message: Message) -> Message:
        """The first message that another one brings about."""
        self.sent.clear()
        self.member.handle(source, 77, message)
        return self.sent[0][1]


def two_records() -> MetadataLog:
    return MetadataLog([MetadataBatch(0, 3, (NoOpRecord(), NoOpRecord()))])


def later() -> int:
    return 1 << 40


@pytest.mark.parametrize(
    ("role", "knows", "fetched", "end", "pre_vote", "granted"),
    [
        # a vote: only who knows no leader and has not voted for another gives one
        (UNATTACHED, (-1, -1), False, (3, 2), False, True),
        (UNATTACHED, (-1, -1), False, (3, 1), False, False),
        (UNATTACHED, (-1, -1), False, (4, 1), False, True),
        (UNATTACHED, (-1, -1), False, (2, 9), False, False),
        (UNATTACHED, (-1, 101), False, (3, 1), False, True),  # it has said so before
        (UNATTACHED, (-1, 102), False, (3, 2), False, False),
        (UNATTACHED, (102, -1), False, (3, 2), False, False),
        (PROSPECTIVE, (-1, -1), False, (3, 2), False, True),
        (PROSPECTIVE, (102, -1), False, (3, 2), False, False),
        (CANDIDATE, (-1, 100), False, (9, 9), False, False),
        (FOLLOWER, (102, -1), False, (9, 9), False, False),
        (LEADER, (100, -1), False, (9, 9), False, False),
        (RESIGNED, (100, -1), False, (9, 9), False, False),
        # whether one would be given: not by who hears its leader
        (FOLLOWER, (102, -1), False, (3, 2), True, True),
        (FOLLOWER, (102, -1), True, (3, 2), True, False),
        (FOLLOWER, (102, -1), False, (3, 1), True, False),
        (UNATTACHED, (-1, 102), False, (3, 2), True, True),
        (CANDIDATE, (-1, 100), False, (3, 2), True, True),
        (CANDIDATE, (-1, 100), False, (3, 1), True, False),
        (LEADER, (100, -1), False, (9, 9), True, False),
        (RESIGNED, (100, -1), False, (9, 9), True, False),
    ],
)
def test_who_votes_for_whom(
    role: str,
    knows: tuple[int, int],
    fetched: bool,
    end: tuple[int, int],
    pre_vote: bool,
    granted: bool,
) -> None:
    """``knows`` are the leader, and whom it has voted for."""
    leader, voted_for = knows
    state = QuorumState(two_records(), 5, voted_for, leader, role, due_us=later())
    state.fetched_in_epoch = fetched
    state.greets_us = later()
    state.progress = {101: Progress(), 102: Progress()}
    alone = Alone(state, drawn=7)
    response = alone.respond(101, VoteRequest(101, 5, *end, pre_vote))
    assert isinstance(response, VoteResponse)
    assert (response.granted, response.pre_vote, response.epoch) == (granted, pre_vote, 5)
    if granted and not pre_vote:
        assert (state.role, state.voted_for) == (UNATTACHED, 101)
        assert state.due_us == alone.now_us + 1_000_007  # it waits for whom it voted for
    else:
        assert (state.role, state.voted_for, state.due_us) == (role, voted_for, later())


def test_no_vote_is_given_in_an_epoch_that_is_over() -> None:
    alone = Alone(QuorumState(two_records(), 5, due_us=later()))
    response = alone.respond(101, VoteRequest(101, 4, 9, 9))
    assert isinstance(response, VoteResponse)
    assert (response.granted, response.epoch, alone.state.voted_for) == (False, 5, -1)


def test_who_becomes_unattached_waits_no_longer_than_it_had_to_anyway() -> None:
    following = Alone(QuorumState(two_records(), 5, -1, 102, FOLLOWER, due_us=later()))
    following.respond(101, VoteRequest(101, 6, 2, 0))
    assert (following.state.role, following.state.due_us) == (UNATTACHED, later())
    leading = QuorumState(two_records(), 5, -1, 100, LEADER, due_us=later(), greets_us=later())
    leading.progress = {101: Progress(), 102: Progress()}
    Alone(leading, drawn=7).respond(101, VoteRequest(101, 6, 2, 0))
    assert (leading.role, leading.due_us) == (UNATTACHED, 50 + 1_000_007)


@pytest.mark.parametrize(
    ("successors", "drawn", "pause_us"),
    [
        ([100, 102], 9, 0),
        ([102, 100], 0, 200_000),
        ([101, 102, 100], 1, 300_000),
        ([101, 102, 100], 40, 1_000_000),  # the longest pause that the settings allow
        ([102], 9, 0),
    ],
)
def test_whoever_is_not_first_in_line_stands_after_a_pause(
    successors: list[int], drawn: int, pause_us: int
) -> None:
    state = QuorumState(two_records(), 5, -1, 101, FOLLOWER, due_us=later())
    state.fetched_in_epoch = True
    alone = Alone(state, drawn=drawn)
    alone.sent.clear()
    alone.member._leader_resigned(101, 77, EndQuorumEpochRequest(101, 5, successors))
    assert state.due_us == alone.now_us + pause_us
    assert not state.fetched_in_epoch  # so that it would vote for another


def test_a_resignation_of_an_earlier_epoch_changes_nothing() -> None:
    state = QuorumState(two_records(), 5, -1, 102, FOLLOWER, due_us=later())
    Alone(state).respond(101, EndQuorumEpochRequest(101, 4, [100]))
    assert (state.role, state.leader, state.due_us) == (FOLLOWER, 102, later())


@pytest.mark.parametrize(
    ("role", "due_us", "next_us"),
    [(FOLLOWER, 90, 90), (FOLLOWER, 50, NEVER_US), (UNATTACHED, 60, 60), (LEADER, NEVER_US, 70)],
)
def test_a_member_has_to_be_woken_for_what_is_still_to_come(
    role: str, due_us: int, next_us: int
) -> None:
    state = QuorumState(two_records(), 5, -1, -1, role, due_us=due_us, greets_us=70)
    alone = Alone(state)
    assert alone.member.next_due_us() == next_us
    state.resting = {101: Resting(1, 50), 102: Resting(1, 55)}
    assert alone.member.next_due_us() == 55
    state.asked = {101: InFlight(1, 53)}
    assert alone.member.next_due_us() == 53
    state.parked = {0: Parked(1, 0, 0, 52)}
    assert alone.member.next_due_us() == 52
    state.running = False
    assert alone.member.next_due_us() == NEVER_US


def test_a_request_without_a_response_is_given_up_and_its_member_left_alone() -> None:
    state = QuorumState(two_records(), 5, -1, -1, UNATTACHED, due_us=later())
    state.asked = {101: InFlight(1, 50), 102: InFlight(2, 51)}
    alone = Alone(state)
    alone.member.poll()
    assert (alone.left, list(state.asked)) == ([101], [102])
    assert state.resting == {101: Resting(1, 50 + 50_000)}


def test_who_cannot_be_reached_is_left_alone_twice_as_long_each_time_up_to_a_second() -> None:
    state = QuorumState(two_records(), 5, -1, -1, UNATTACHED, due_us=later())
    alone = Alone(state)
    pauses = []
    for _ in range(8):
        state.asked = {101: InFlight(1, later())}
        alone.member.connection_lost(101)
        pauses.append(state.resting[101].until_us - alone.now_us)
    assert pauses == [50_000, 100_000, 200_000, 400_000, 800_000, 1_000_000, 1_000_000, 1_000_000]


@pytest.mark.parametrize(
    ("ends", "start", "committed"),
    [
        ((2, 0), 1, 2),
        ((0, 0), 1, 0),
        ((1, 1), 1, 0),  # not before a record of its own epoch is among it
        ((2, 2), 2, 0),
        ((2, 2), 1, 2),
    ],
)
def test_what_two_of_three_have_is_committed_with_the_first_record_of_the_epoch(
    ends: tuple[int, int], start: int, committed: int
) -> None:
    state = QuorumState(two_records(), 5, -1, 100, LEADER, due_us=NEVER_US, epoch_start=start)
    state.progress = {101: Progress(ends[0]), 102: Progress(ends[1])}
    member = Alone(state).member
    assert member._raise_high_watermark() is (committed > 0)
    assert state.high_watermark == committed
    assert not member._raise_high_watermark()
