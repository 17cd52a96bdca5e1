"""Replicas of one partition without brokers: commands in, effects carried out on plain lists.

What a broker, a network and a controller would do with the machine of
:mod:`emulator.replication.partition`, and nothing else: no clock, no message, no ZooKeeper.
"""

from msgspec import Struct

from emulator.releases.profiles import PROFILES
from emulator.replication.fetching import FAILED
from emulator.replication.leader_epoch_cache import LeaderEpochCache
from emulator.replication.partition import (
    ASK_AGAIN,
    LEADER,
    NONE,
    AdjustToLeader,
    Append,
    AppendAsFollower,
    AppendAsLeader,
    AppendFetched,
    BecomeFollower,
    BecomeLeader,
    Command,
    CountFetch,
    Effects,
    End,
    ExpireIsr,
    FixedMoment,
    IsrStored,
    LoseTail,
    Partition,
    ProposeIsr,
    Restart,
    RestartLog,
    Rules,
    Then,
    TruncateLog,
    TruncateToEpochEnd,
    end_offset_for,
    epoch_error,
    fetch_records,
    step,
)


class Batch(Struct, frozen=True):
    """Records by name, where they lie."""

    base_offset: int
    leader_epoch: int
    records: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many records there are."""
        return len(self.records)


class Machines:
    """A partition's replicas, and what a test makes happen to them."""

    def __init__(self, version: str, *brokers: int) -> None:
        """Replicas on ``brokers``, by the rules of a release; the first leads in epoch 0."""
        self.rules = Rules.of(PROFILES[version])
        self.moment = FixedMoment(live_brokers=brokers)
        self.brokers = list(brokers)
        self.states = {b: Partition("t-0", b) for b in brokers}
        if self.rules.leader_epochs:
            for state in self.states.values():
                state.epochs = LeaderEpochCache()
        self.logs: dict[int, list[tuple[str, int]]] = {b: [] for b in brokers}
        self.checkpoints = dict.fromkeys(brokers, 0)
        self.version = 0
        self.failed: set[int] = set()
        for broker in brokers:
            self.do(broker, Restart(0))
        self.elect(brokers[0], 0, list(brokers))

    # ---- the loop of effects

    def do(self, broker: int, command: Command) -> Effects:
        """Give a replica a command, and carry out what concerns its log and its ISR."""
        effects = step(self.states[broker], command, self.rules, self.moment)
        for effect in effects:
            log = self.logs[broker]
            if isinstance(effect, AppendAsLeader):
                assert effect.base_offset == len(log)
                assert isinstance(effect.batch, Batch)
                log += [(record, effect.leader_epoch) for record in effect.batch.records]
            elif isinstance(effect, AppendAsFollower):
                assert isinstance(effect.batch, Batch)
                assert effect.offset == len(log)
                skipped = effect.offset - effect.batch.base_offset
                log += [(r, effect.batch.leader_epoch) for r in effect.batch.records[skipped:]]
            elif isinstance(effect, TruncateLog):
                del log[effect.offset :]
            elif isinstance(effect, RestartLog):
                log.clear()
            elif isinstance(effect, ProposeIsr):
                self.version += 1
                epoch = self.states[broker].leader_epoch
                self.do(broker, IsrStored(effect.isr, self.version, epoch))
            elif isinstance(effect, Then):
                self.do(broker, effect.command)
        assert self.states[broker].log_end == len(self.logs[broker])
        return effects

    # ---- the controller's word

    def elect(
        self, leader: int, epoch: int, isr: list[int], *, tell: list[int] | None = None
    ) -> None:
        """LeaderAndIsr for all replicas, or for some of them."""
        self.version += 1
        for broker in self.brokers if tell is None else tell:
            if broker == leader:
                command: Command = BecomeLeader(epoch, 1, isr, self.brokers, self.version)
            else:
                command = BecomeFollower(leader, epoch, 1, self.brokers, self.version, True)
            self.failed.discard(broker)
            self.do(broker, command)

    # ---- clients

    def produce(self, leader: int, *records: str) -> None:
        """A batch for a leader."""
        self.do(leader, Append(Batch(-1, -1, records), {}))

    # ---- what a fetcher does

    def ask_epoch(self, follower: int) -> bool:
        """Where the release asks where the follower's latest epoch ends; True once settled."""
        state = self.states[follower]
        leader = self.states[state.leader]
        if state.epochs is None or state.epochs.latest < 0 or self.rules.diverging_fetch:
            return True
        current = state.leader_epoch if self.rules.fencing else -1
        if epoch_error(leader, current, self.rules) != NONE:
            return False
        epoch, end = end_offset_for(leader, state.epochs.latest, self.rules)
        return ASK_AGAIN not in self.do(follower, TruncateToEpochEnd(epoch, end))

    def fetch(self, follower: int, *, lose_response: bool = False) -> str:
        """One fetch; the error that it was answered with."""
        state = self.states[follower]
        if follower in self.failed:
            return FAILED
        leader = self.states[state.leader]
        current = state.leader_epoch if self.rules.fencing else -1
        last = -1
        if self.rules.diverging_fetch and state.epochs is not None:
            last = state.epochs.latest
        response = fetch_records(leader, follower, state.log_end, current, last, self.rules)
        if response.error == "FENCED_LEADER_EPOCH":
            self.failed.add(follower)
        if response.error == "OFFSET_OUT_OF_RANGE":
            self.do(follower, AdjustToLeader(leader.log_start, leader.log_end, True))
        if response.error != NONE:
            return response.error
        if response.diverging is not None:
            self.do(follower, TruncateToEpochEnd(*response.diverging))
            return NONE
        records = [
            Batch(offset, epoch, (record,))
            for offset, (record, epoch) in enumerate(self.logs[leader.broker])
            if offset >= state.log_end
        ]
        self.do(leader.broker, CountFetch(follower, state.log_end))
        if not lose_response:
            self.do(follower, AppendFetched(records, response.high_watermark))
        return NONE

    def follow(self, follower: int, rounds: int = 3) -> None:
        """Ask until it is settled, then fetch so often."""
        for _ in range(10):
            if self.ask_epoch(follower):
                break
        for _ in range(rounds):
            self.fetch(follower)

    def shrink(self, leader: int) -> None:
        """The leader's isr-expiration task, long after everybody's last fetch."""
        self.moment.now_us += 60_000_000
        self.do(leader, ExpireIsr({}))

    # ---- processes

    def checkpoint(self, broker: int) -> None:
        """The HW is written to disk."""
        self.checkpoints[broker] = self.states[broker].high_watermark

    def restart(self, broker: int, *, lose_from: int | None = None) -> None:
        """The process ends (perhaps with its power) and comes back."""
        self.do(broker, End())
        if lose_from is not None:
            self.do(broker, LoseTail(lose_from, "power loss"))
            self.checkpoints[broker] = min(self.checkpoints[broker], lose_from)
        self.do(broker, Restart(self.checkpoints[broker]))

    # ---- looking

    def values(self, broker: int) -> str:
        """The records of a log, such as ``m1 m2``."""
        return " ".join(record for record, _ in self.logs[broker])

    def high_watermark(self, broker: int) -> int:
        """A replica's HW."""
        return self.states[broker].high_watermark

    def leads(self, broker: int) -> bool:
        """Whether a replica believes to lead."""
        return self.states[broker].role == LEADER
