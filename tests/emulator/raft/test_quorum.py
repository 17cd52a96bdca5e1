"""The quorum's members, with a network that is a list: elections, replication, truncation."""

from collections.abc import Callable
from random import Random

import pytest

from emulator.metadata_log.records import NoOpRecord, TopicRecord
from emulator.protocol.message import Message
from emulator.protocol.raft import (
    MetadataBatch,
    MetadataFetchRequest,
    MetadataFetchResponse,
    VoteRequest,
)
from emulator.raft.log import MetadataLog
from emulator.raft.quorum import QuorumMember, QuorumRules, Surroundings
from emulator.raft.state import FOLLOWER, LEADER, PROSPECTIVE, RESIGNED, UNATTACHED, QuorumState

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


def test_another_is_elected_and_what_was_not_committed_is_cut_off(world: World) -> None:
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
    answers = []
    for candidate in (100, 101, 100):
        world.sent.clear()
        voter.handle(candidate, 1, VoteRequest(candidate, 5, -1, 0))
        answers.append(next(m.granted for _, _, _, m in world.sent if hasattr(m, "granted")))
    assert answers == [True, False, True]
    assert voter.state.role == UNATTACHED


def test_a_shorter_log_gets_no_vote(world: World) -> None:
    follower = next(each for each in world.members.values() if each.state.role == FOLLOWER)
    world.sent.clear()
    follower.handle(101, 1, VoteRequest(101, follower.state.epoch + 1, -1, 0))
    (answer,) = [m for _, _, _, m in world.sent if hasattr(m, "granted")]
    assert not answer.granted


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
