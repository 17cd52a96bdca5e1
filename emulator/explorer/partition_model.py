"""One partition by the brokers' own rules: what a release does, in every order.

The replicas are :class:`emulator.replication.partition.Partition`, and what becomes of them is what
``step`` says; how they fetch is :mod:`emulator.replication.fetching`; who is elected is
:mod:`emulator.replication.election`. This module has only what surrounds them: a controller that
decides at once and whose LeaderAndIsr requests arrive late (in order for each broker), fetches
whose responses arrive late, AlterPartition requests that are answered late, producers, and
processes that crash.

What is abstract: time (a follower may turn out to have been silent for too long whenever the bounds
allow it), the contents of records, and that a fetch is handled when it is sent. The HW on disk is
the last one. One controller never fails, and sees a crash at once.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple, replace

from emulator.explorer.model import Action, Model, Property, Rule, Step, Value
from emulator.explorer.replica import (
    NO_FETCHER,
    AlterAnswered,
    Batch,
    EndsAnswered,
    EpochAnswered,
    FetchAnswered,
    Record,
    Replica,
    ReplicaRules,
    Stepped,
)
from emulator.releases.profiles import PROFILES
from emulator.replication import election
from emulator.replication.fetching import (
    ADJUSTED,
    ASKED_AGAIN,
    DISCONNECTED,
    FENCED,
    IS_OUT_OF_RANGE,
    NEXT,
    OUT_OF_RANGE,
    SETTLED,
    TRUNCATING,
)
from emulator.replication.leader_epoch_cache import UNDEFINED
from emulator.replication.partition import (
    ASK_AGAIN,
    HALT,
    NONE,
    AdjustToLeader,
    AppendFetched,
    BecomeFollower,
    BecomeLeader,
    Command,
    CountFetch,
    End,
    ExpireIsr,
    IsrStored,
    LoseTail,
    Restart,
    Rules,
    TruncateToEpochEnd,
    answer_fetch,
    end_offset_for,
    epoch_error,
    produce_error,
)
from emulator.replication.remote_replica import NEVER_US, RemoteReplica

FENCED_ERROR: Final = "FENCED_LEADER_EPOCH"
OUT_OF_RANGE_ERROR: Final = "OFFSET_OUT_OF_RANGE"
NOTHING: Final[Command | None] = None
PARKED: Final = -2
"""The HW in the response to a parked fetch, until it is known."""

ACKNOWLEDGED_KEPT: Final = "AcknowledgedKept"
ISR_HAS_COMMITTED: Final = "IsrHasCommitted"
COMMITTED_AGREEMENT: Final = "CommittedAgreement"
HW_MONOTONIC: Final = "HwMonotonic"
ONE_LEADER_PER_EPOCH: Final = "OneLeaderPerEpoch"
PROPERTIES: Final = {
    ACKNOWLEDGED_KEPT: "every acknowledged record is in the leader's log",
    ISR_HAS_COMMITTED: "every member of the ISR has what is below the leader's HW",
    COMMITTED_AGREEMENT: "no two replicas have different records below both their HWs",
    HW_MONOTONIC: "the HW of a leader never falls within its epoch",
    ONE_LEADER_PER_EPOCH: "no two replicas lead in the same epoch",
}
"""What must hold, in words."""

Outcomes = Iterator[Step | Rule]
Change = tuple[int, Value, Value]


class Quorum(NamedTuple):
    """What the partition's state znode says, and in which order its replicas are assigned.

    The first one of these is the preferred leader.
    """

    leader: int
    epoch: int
    isr: tuple[int, ...]
    version: int
    assigned: tuple[int, ...]

    def decided(self, leader: int, isr: tuple[int, ...]) -> "Quorum":
        """A new epoch."""
        return self._replace(leader=leader, epoch=self.epoch + 1, isr=isr, version=self.version + 1)

    @property
    def request(self) -> "LeaderAndIsr":
        """What the brokers are told of it."""
        return LeaderAndIsr(self.leader, self.epoch, self.isr, self.version)


class Process(NamedTuple):
    """A broker's process: how often it started, and how often it ended of itself or without power.

    A process that halted of itself stays away: it would only halt again.
    """

    starts: int = 1
    is_up: bool = True
    power_losses: int = 0
    halted: bool = False


Processes = tuple[Process, ...]
"""The processes of all brokers."""


class LeaderAndIsr(NamedTuple):
    """A LeaderAndIsr request on its way to a broker."""

    leader: int
    epoch: int
    isr: tuple[int, ...]
    version: int


class Bounds(Struct, frozen=True):
    """What bounds a search, and the settings of the partition.

    ``elections`` are those by which leadership moves though the leader is alive; ``isr_changes``
    are followers that turn out to have been silent for too long. ``power_losses`` are crashes that
    lose everything that is not flushed, which is the whole log. Restarts are never bounded. With
    ``acks`` 1 a record is acknowledged when the leader has written it.
    """

    version: str
    replicas: int = 2
    records: int = 2
    elections: int = 2
    isr_changes: int = 0
    crashes: int = 1
    power_losses: int = 0
    acks: int = -1
    min_insync_replicas: int = 1
    unclean: bool = False


def properties_for(bounds: Bounds) -> tuple[str, ...]:
    """What Kafka promises within some bounds.

    Records that were acknowledged by one replica, or were lost with the power of all that had them,
    or lost an unclean election, may be gone.
    """
    if bounds.acks == 1 or bounds.power_losses or bounds.unclean:
        return (ISR_HAS_COMMITTED, HW_MONOTONIC, ONE_LEADER_PER_EPOCH)
    return tuple(PROPERTIES)


class Parts:
    """Where in a state everything is; brokers are numbered from 1."""

    def __init__(self, replicas: int) -> None:
        self.brokers = tuple(range(1, replicas + 1))
        self.queues = tuple(range(replicas, 2 * replicas))
        self.quorum = 2 * replicas
        self.processes = self.quorum + 1
        self.acknowledged = self.quorum + 2
        self.records = self.quorum + 3
        self.elections = self.quorum + 4
        self.isr_changes = self.quorum + 5

    def replica(self, broker: int) -> int:
        """Where a broker's replica is."""
        return broker - 1

    def queue(self, broker: int) -> int:
        """Where the LeaderAndIsr requests on their way to a broker are."""
        return self.queues[broker - 1]

    def names(self) -> tuple[str, ...]:
        """The names of the parts, in order."""
        return (
            *(f"replica {broker}" for broker in self.brokers),
            *(f"requests to {broker}" for broker in self.brokers),
            *("quorum", "processes", "acknowledged", "records", "elections", "ISR changes"),
        )


def partition_model(bounds: Bounds) -> Model:
    """The model of a partition within some bounds.

    Broker 1 leads in epoch 0, and is the last of the assigned replicas.
    """
    actions = _Actions(bounds)
    parts = actions.parts
    return Model(
        parts.names(),
        actions.initial(),
        [
            *(Rule((parts.replica(b),), actions.act, (b,)) for b in parts.brokers),
            *(Rule((parts.queue(b),), actions.receive, (b,)) for b in parts.brokers),
            Rule((parts.quorum, parts.processes, parts.elections), actions.move_leadership),
            Rule((parts.processes,), actions.start),
        ],
        _properties(parts),
        faults=[Rule((parts.processes,), actions.crash)],
        kinds=(
            *(Replica, Record, FetchAnswered, EpochAnswered, EndsAnswered, AlterAnswered),
            *(Quorum, Process, LeaderAndIsr),
        ),
    )


class _Actions:
    """What brokers, the controller and producers may do."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.parts = Parts(bounds.replicas)
        self.rules = Rules.of(PROFILES[bounds.version])
        self.isr_order = self.rules.profile.has("offline_election_in_isr_order")
        self.of = {
            broker: ReplicaRules(broker, self.rules, self.parts.brokers, bounds.min_insync_replicas)
            for broker in self.parts.brokers
        }

    def initial(self) -> tuple[Value, ...]:
        """Everybody is in sync, and has taken the first LeaderAndIsr request."""
        brokers = self.parts.brokers
        quorum = Quorum(brokers[0], 0, brokers, 0, brokers[::-1])
        empty = Replica(epochs=() if self.rules.leader_epochs else None)
        replicas = []
        for broker in brokers:
            restarted = self.of[broker].do(empty, Restart(0), brokers).replica
            told = self._told(broker, restarted, quorum.request, brokers)
            replicas.append(told.replica)
        queues = [() for _ in brokers]
        return (*replicas, *queues, quorum, tuple(Process() for _ in brokers), (), 0, 0, 0)

    # ---- a broker's replica

    def act(self, broker: int, replica: Replica) -> Outcomes:
        """What a replica may do, and what may reach it."""
        parts = self.parts
        if replica.leads:
            yield Rule((parts.processes, parts.records), self.produce, (broker, replica))
            yield Rule((parts.processes, parts.isr_changes), self.expire, (broker, replica))
            if replica.alter_answer is not None:
                yield Rule((parts.processes,), self.take_alter_answer, (broker, replica))
            elif replica.pending is not None:
                yield Rule((parts.quorum, parts.processes), self.alter, (broker, replica))
        elif replica.answer is not None:
            yield Rule((parts.processes,), self.take_answer, (broker, replica))
        elif replica.fetches:
            reads = (parts.processes, parts.replica(replica.leader))
            yield Rule(reads, self.ask, (broker, replica))

    def produce(self, broker: int, replica: Replica, processes: Processes, record: int) -> Outcomes:
        """A producer's record is written."""
        if record == self.bounds.records:
            return
        rules, live = self.of[broker], self._live(processes)
        state = rules.thaw(replica)
        if produce_error(state, self.bounds.acks, self.rules, rules.moment(live)) != NONE:
            return
        stepped = rules.append(replica, record, live)
        if self.bounds.acks != -1:
            stepped.replica = stepped.replica._replace(waiting=())
            stepped.acknowledged = (record,)
        action = Action("Produce", (("leader", broker), ("record", record)))
        others = ((self.parts.records, record, record + 1),)
        yield from self._settle(action, broker, replica, stepped, others, live)

    def expire(self, broker: int, replica: Replica, processes: Processes, used: int) -> Outcomes:
        """A follower may have been silent for too long when the isr-expiration task looks."""
        if used == self.bounds.isr_changes or replica.pending is not None:
            return
        members = [member for member in replica.isr if member != broker]
        reads = tuple(self.parts.replica(member) for member in members)
        for silent in members:
            given = (broker, replica, self._live(processes), used, silent)
            yield Rule(reads, self._expired, given)

    def _expired(
        self,
        broker: int,
        replica: Replica,
        live: tuple[int, ...],
        used: int,
        silent: int,
        *followers: Replica,
    ) -> Outcomes:
        """Nobody else has fetched either, but who is known to have everything and still asks."""
        members = [member for member in replica.isr if member != broker]
        fetched = {
            member
            for member, follower in zip(members, followers, strict=True)
            if member != silent and asks_in_vain(broker, replica, member, follower)
        }
        remotes = tuple(
            (follower, _caught_up(fields, 0 if follower in fetched else NEVER_US))
            for follower, fields in replica.remotes
        )
        stepped = self.of[broker].do(replica._replace(remotes=remotes), ExpireIsr({}), live)
        if stepped.proposal is not None:
            action = Action("ShrinkIsr", (("leader", broker), ("follower", silent)))
            others = ((self.parts.isr_changes, used, used + 1),)
            yield from self._settle(action, broker, replica, stepped, others, live)

    # ---- fetching

    def ask(self, follower: int, replica: Replica, processes: Processes, led: Replica) -> Outcomes:
        """A follower asks its leader, which answers at once; the response is on its way then."""
        leader = replica.leader
        process = processes[leader - 1]
        if not process.is_up:
            return
        details = (("broker", follower), ("leader", leader))
        at = self.parts.replica(follower)
        state = self.of[leader].thaw(led)
        current = replica.leader_epoch if self.rules.fencing else UNDEFINED
        if replica.phase == TRUNCATING:
            error = epoch_error(state, current, self.rules)
            if error in {NONE, FENCED_ERROR}:
                latest = replica.epochs[-1][0] if replica.epochs else UNDEFINED
                found = (UNDEFINED, UNDEFINED)
                if error == NONE:
                    found = end_offset_for(state, latest, self.rules)
                answer = EpochAnswered(error, replica.leader_epoch, *found)
                after = replica._replace(answer=answer, answer_start=process.starts)
                action = Action("AskEpoch", (*details, ("epoch", latest)))
                yield _step(action, ((at, replica, after),))
        elif replica.phase == OUT_OF_RANGE:
            if epoch_error(state, current, self.rules) == NONE:
                ends = EndsAnswered(state.log_start, state.log_end)
                after = replica._replace(answer=ends, answer_start=process.starts)
                yield _step(Action("AskEnds", details), ((at, replica, after),))
        else:
            yield from self._fetch(follower, replica, processes, led)

    def _fetch(
        self, follower: int, replica: Replica, processes: Processes, led: Replica
    ) -> Outcomes:
        leader, offset, live = replica.leader, replica.log_end, self._live(processes)
        current = replica.leader_epoch if self.rules.fencing else UNDEFINED
        last = UNDEFINED
        if self.rules.diverging_fetch and replica.epochs:
            last = replica.epochs[-1][0]
        state = self.of[leader].thaw(led)
        found = answer_fetch(state, follower, offset, current, last, self.rules)
        action = Action("Fetch", (("broker", follower), ("leader", leader), ("offset", offset)))
        at, process = self.parts.replica(follower), processes[leader - 1]
        if found.error != NONE or found.diverging is not None:
            if found.error in {NONE, FENCED_ERROR, OUT_OF_RANGE_ERROR}:
                answer = FetchAnswered(found.error, offset, (), -1, found.diverging)
                after = replica._replace(answer=answer, answer_start=process.starts)
                yield _step(action, ((at, replica, after),))
            return
        stepped = self.of[leader].do(led, CountFetch(follower, offset), live)
        # Up to 0.8.1 a fetch is counted before it is read.
        told = stepped.replica if self.rules.counts_fetch_first else led
        records = led.log[offset:]
        # Without records it is parked, and told the HW that there is when that is over.
        hw = told.high_watermark if records else PARKED
        answer = FetchAnswered(NONE, offset, records, hw)
        after = replica._replace(answer=answer, answer_start=process.starts)
        others = ((at, replica, after),)
        yield from self._settle(action, leader, led, stepped, others, live)

    def take_answer(self, follower: int, replica: Replica, processes: Processes) -> Outcomes:
        """A response arrives, unless the leader's process has ended since."""
        rules, live = self.of[follower], self._live(processes)
        source = processes[replica.leader - 1]
        name, happened, command = "ConnectionLost", DISCONNECTED, NOTHING
        if source.is_up and source.starts == replica.answer_start:
            name, happened, command = self._arrived(replica)
        taken = replica._replace(answer=None, answer_start=0)
        details: tuple[tuple[str, object], ...] = (("broker", follower), ("leader", replica.leader))
        if command is not None:
            stepped = rules.do(taken, command, live)
            taken = stepped.replica
            if HALT in stepped.effects:
                yield from self._ends("Halt", follower, processes, replica)
                return
            if ASK_AGAIN in stepped.effects and happened:
                happened = ASKED_AGAIN
            details += tuple(_told_of(stepped))
        if happened:
            taken = taken._replace(phase=NEXT[taken.phase, happened])
        yield _step(Action(name, details), ((self.parts.replica(follower), replica, taken),))

    def _arrived(self, replica: Replica) -> tuple[str, str, Command | None]:
        """A response by name, what it means to the fetcher, and to the replica."""
        answer = replica.answer
        if isinstance(answer, EndsAnswered):
            adjust = AdjustToLeader(answer.log_start, answer.log_end, self.bounds.unclean)
            return "EndsResponse", ADJUSTED, adjust
        if isinstance(answer, EpochAnswered):
            name = "EpochResponse"
            asked_for = answer.asked_epoch if self.rules.fencing else replica.fetch_epoch
            if answer.error == FENCED_ERROR:
                return name, FENCED, NOTHING
            if asked_for != replica.leader_epoch:
                return name, "", NOTHING
            return name, SETTLED, TruncateToEpochEnd(answer.epoch, answer.end_offset)
        assert answer is not None
        name = "FetchResponse"
        if answer.error != NONE:
            return name, FENCED if answer.error == FENCED_ERROR else IS_OUT_OF_RANGE, NOTHING
        if answer.diverging is not None:
            return name, "", TruncateToEpochEnd(*answer.diverging)
        if answer.offset != replica.log_end:
            return name, "", NOTHING
        return name, "", AppendFetched(_batches(answer), answer.high_watermark)

    # ---- LeaderAndIsr

    def receive(self, broker: int, queue: tuple[LeaderAndIsr, ...]) -> Outcomes:
        """The oldest LeaderAndIsr request reaches a broker."""
        if queue:
            reads = (self.parts.replica(broker), self.parts.processes)
            yield Rule(reads, self._received, (broker, queue))

    def _received(
        self,
        broker: int,
        queue: tuple[LeaderAndIsr, ...],
        replica: Replica,
        processes: Processes,
    ) -> Outcomes:
        request, live = queue[0], self._live(processes)
        taken: Change = (self.parts.queue(broker), queue, queue[1:])
        details: tuple[tuple[str, object], ...] = (
            ("broker", broker),
            ("leader", request.leader),
            ("epoch", request.epoch),
        )
        stepped = Stepped(replica, [])
        if not replica.is_known or request.epoch > replica.leader_epoch:
            stepped = self._told(broker, replica, request, live)
            details += tuple(_told_of(stepped))
        action = Action("LeaderAndIsr", details)
        yield from self._settle(action, broker, replica, stepped, (taken,), live)

    def _told(
        self, broker: int, replica: Replica, request: LeaderAndIsr, live: tuple[int, ...]
    ) -> Stepped:
        assigned = list(self.parts.brokers)
        command: Command
        if request.leader == broker:
            isr = list(request.isr)
            command = BecomeLeader(request.epoch, 1, isr, assigned, request.version)
        else:
            command = BecomeFollower(
                request.leader, request.epoch, 1, assigned, request.version, leader_is_alive=True
            )
        return self.of[broker].do(replica, command, live)

    # ---- what a leader decided, and its consequences

    def _settle(
        self,
        action: Action,
        broker: int,
        before: Replica,
        stepped: Stepped,
        others: tuple[Change, ...],
        live: tuple[int, ...],
    ) -> Outcomes:
        """Store a proposed ISR where the leader does that itself; say who is acknowledged."""
        after, acknowledged = stepped.replica, stepped.acknowledged
        taken = Taken(action, broker, before, after, acknowledged, stepped.then, others, live)
        if stepped.proposal is not None and not self.rules.isr_by_controller:
            isr = tuple(stepped.proposal.isr)
            yield Rule((self.parts.quorum,), self._store_isr, (taken, isr))
        else:
            yield from self._finish(taken)

    def _store_isr(self, taken: "Taken", isr: tuple[int, ...], quorum: Quorum) -> Outcomes:
        """A conditional write with the version that the leader knows; a mismatch is skipped."""
        if taken.after.zk_version == quorum.version:
            stored = quorum._replace(isr=isr, version=quorum.version + 1)
            command = IsrStored(list(isr), stored.version, taken.after.leader_epoch)
            taken = self._goes_on(taken, command)
            change: Change = (self.parts.quorum, quorum, stored)
            taken = taken._replace(others=(*taken.others, change))
        yield from self._finish(taken)

    def _goes_on(self, taken: "Taken", command: Command) -> "Taken":
        stepped = self.of[taken.broker].do(taken.after, command, taken.live)
        acknowledged = taken.acknowledged + stepped.acknowledged
        return taken._replace(after=stepped.replica, acknowledged=acknowledged)

    def _finish(self, taken: "Taken") -> Outcomes:
        for command in taken.then:
            taken = self._goes_on(taken, command)
        others = tuple(_unparked(each, taken.after.high_watermark) for each in taken.others)
        changes = ((self.parts.replica(taken.broker), taken.before, taken.after), *others)
        if all(was == now for _part, was, now in changes):
            return
        if taken.acknowledged:
            given = (taken.action, changes, taken.acknowledged)
            yield Rule((self.parts.acknowledged,), self._acknowledge, given)
        else:
            yield _step(taken.action, changes)

    def _acknowledge(
        self,
        action: Action,
        changes: tuple[Change, ...],
        new: tuple[int, ...],
        acknowledged: tuple[int, ...],
    ) -> Outcomes:
        after = tuple(sorted({*acknowledged, *new}))
        details = (*action.details, ("acknowledged", list(new)))
        change: Change = (self.parts.acknowledged, acknowledged, after)
        yield _step(Action(action.name, details), (*changes, change))

    # ---- AlterPartition (2.7+)

    def alter(
        self, broker: int, replica: Replica, quorum: Quorum, processes: Processes
    ) -> Outcomes:
        """The controller stores a pending ISR; from 3.3 on only of live brokers (KIP-841)."""
        assert replica.pending is not None
        isr, change = replica.pending
        known = (quorum.leader, quorum.epoch, quorum.version)
        if known != (broker, replica.leader_epoch, replica.zk_version):
            return
        if self.rules.only_live_members and not set(isr) <= set(self._live(processes)):
            return
        stored = quorum._replace(isr=isr, version=quorum.version + 1)
        answer = AlterAnswered(isr, stored.version, quorum.epoch)
        action = Action("AlterPartition", (("leader", broker), ("isr", list(isr)), (change, True)))
        changes: tuple[Change, ...] = (
            (self.parts.replica(broker), replica, replica._replace(alter_answer=answer)),
            (self.parts.quorum, quorum, stored),
        )
        yield _step(action, changes)

    def take_alter_answer(self, broker: int, replica: Replica, processes: Processes) -> Outcomes:
        """The leader learns that its ISR was stored."""
        answer, live = replica.alter_answer, self._live(processes)
        assert answer is not None
        command = IsrStored(list(answer.isr), answer.zk_version, answer.leader_epoch)
        stepped = self.of[broker].do(replica._replace(alter_answer=None), command, live)
        action = Action("AlterPartitionResponse", (("leader", broker),))
        yield from self._settle(action, broker, replica, stepped, (), live)

    # ---- the controller

    def move_leadership(self, quorum: Quorum, processes: Processes, used: int) -> Outcomes:
        """Leadership moves to another member of the ISR, by a preferred leader election.

        Where the preferred leader is another one, the replicas are reassigned in another order
        first. That is done at once if all of them are in sync, and raises the epoch.
        """
        if used == self.bounds.elections or quorum.leader < 0:
            return
        live = self._live(processes)
        all_in_sync = len(live) == len(quorum.isr) == len(quorum.assigned)
        for broker in quorum.isr:
            preferred = broker == quorum.assigned[0]
            if broker == quorum.leader or broker not in live or not (preferred or all_in_sync):
                continue
            requests: tuple[LeaderAndIsr, ...] = ()
            decided = quorum
            if not preferred:
                others = tuple(each for each in quorum.assigned if each != broker)
                decided = quorum.decided(quorum.leader, quorum.isr)
                decided = decided._replace(assigned=(broker, *others))
                requests = (decided.request,)
            decided = decided.decided(broker, quorum.isr)
            action = Action("MoveLeadership", (("to", broker), ("epoch", decided.epoch)))
            changes: tuple[Change, ...] = (
                (self.parts.quorum, quorum, decided),
                (self.parts.elections, used, used + 1),
            )
            yield self._send(action, changes, (*requests, decided.request), live)

    def _send(
        self,
        action: Action,
        changes: tuple[Change, ...],
        requests: tuple[LeaderAndIsr, ...],
        to: tuple[int, ...],
    ) -> Rule:
        """Decisions go to some brokers by LeaderAndIsr."""
        reads = tuple(self.parts.queue(broker) for broker in to)
        return Rule(reads, self._sent, (action, changes, requests, reads))

    def _sent(
        self,
        action: Action,
        changes: tuple[Change, ...],
        requests: tuple[LeaderAndIsr, ...],
        reads: tuple[int, ...],
        *queues: tuple[LeaderAndIsr, ...],
    ) -> Outcomes:
        added = (
            (part, queue, (*queue, *requests)) for part, queue in zip(reads, queues, strict=True)
        )
        yield _step(action, (*changes, *added))

    # ---- processes

    def crash(self, processes: Processes) -> Outcomes:
        """A process ends suddenly; with its power goes what is not flushed."""
        lost = sum(process.power_losses for process in processes)
        ended = sum(each.starts - each.is_up - each.halted for each in processes) - lost
        for broker in self._live(processes):
            given = (broker, processes)
            reads = (self.parts.replica(broker),)
            if ended < self.bounds.crashes:
                yield Rule(reads, self._ends, ("Crash", *given))
            if lost < self.bounds.power_losses:
                yield Rule(reads, self._ends, ("PowerLoss", *given))

    def _ends(self, name: str, broker: int, processes: Processes, replica: Replica) -> Outcomes:
        ended = self.of[broker].do(replica, End(), ()).replica
        if name == "PowerLoss":
            ended = self.of[broker].do(ended, LoseTail(0, "power loss"), ()).replica
            ended = ended._replace(high_watermark=0)
        ended = ended._replace(
            leader=-1,
            phase=NO_FETCHER,
            fetch_epoch=-1,
            answer=None,
            answer_start=0,
            alter_answer=None,
            waiting=(),
        )
        process = processes[broker - 1]
        process = process._replace(
            is_up=False,
            power_losses=process.power_losses + (name == "PowerLoss"),
            halted=name == "Halt",
        )
        after = _with(processes, broker, process)
        changes: tuple[Change, ...] = (
            (self.parts.replica(broker), replica, ended),
            (self.parts.processes, processes, after),
        )
        given = (Action(name, (("broker", broker),)), broker, changes, self._live(after))
        yield Rule((self.parts.quorum, self.parts.queue(broker)), self._gone, given)

    def _gone(
        self,
        action: Action,
        broker: int,
        changes: tuple[Change, ...],
        live: tuple[int, ...],
        quorum: Quorum,
        queue: tuple[LeaderAndIsr, ...],
    ) -> Outcomes:
        """The controller elects for what a broker led, and takes it out of the ISR."""
        changes = (*changes, (self.parts.queue(broker), queue, ()))
        decided = quorum
        if quorum.leader == broker:
            choice = self._elect(quorum, live)
            if choice is None:
                left = tuple(member for member in quorum.isr if member != broker)
                decided = quorum.decided(-1, left or quorum.isr)
            else:
                decided = quorum.decided(choice.leader, tuple(choice.isr))
        elif broker in quorum.isr and len(quorum.isr) > 1:
            left = tuple(member for member in quorum.isr if member != broker)
            decided = quorum.decided(quorum.leader, left)
        yield from self._tell(action, changes, quorum, decided, live)

    def _tell(
        self,
        action: Action,
        changes: tuple[Change, ...],
        before: Quorum,
        decided: Quorum,
        to: tuple[int, ...],
    ) -> Outcomes:
        if decided != before:
            changes = (*changes, (self.parts.quorum, before, decided))
        if to and decided.leader >= 0:
            yield self._send(action, changes, (decided.request,), to)
        else:
            yield _step(action, changes)

    def _elect(self, quorum: Quorum, live: tuple[int, ...]) -> election.Choice | None:
        return election.offline(
            quorum.assigned,
            quorum.isr,
            live,
            unclean=self.bounds.unclean,
            isr_order=self.isr_order,
        )

    def start(self, processes: Processes) -> Outcomes:
        """A crashed process starts, and the controller tells it what it hosts."""
        for broker, process in zip(self.parts.brokers, processes, strict=True):
            if not process.is_up and not process.halted:
                reads = (self.parts.replica(broker), self.parts.quorum)
                yield Rule(reads, self._started, (broker, processes))

    def _started(
        self, broker: int, processes: Processes, replica: Replica, quorum: Quorum
    ) -> Outcomes:
        restarted = self.of[broker].do(replica, Restart(replica.high_watermark), ()).replica
        process = processes[broker - 1]
        process = process._replace(starts=process.starts + 1, is_up=True)
        after = _with(processes, broker, process)
        live = self._live(after)
        changes: tuple[Change, ...] = (
            (self.parts.replica(broker), replica, restarted),
            (self.parts.processes, processes, after),
        )
        decided = quorum
        to: tuple[int, ...] = (broker,)
        choice = self._elect(quorum, live) if quorum.leader < 0 else None
        if choice is not None:
            decided, to = quorum.decided(choice.leader, tuple(choice.isr)), live
        action = Action("Start", (("broker", broker),))
        yield from self._tell(action, changes, quorum, decided, to)

    def _live(self, processes: Processes) -> tuple[int, ...]:
        pairs = zip(self.parts.brokers, processes, strict=True)
        return tuple(broker for broker, process in pairs if process.is_up)


class Taken(NamedTuple):
    """A command that a replica has taken, before everything that follows from it is done.

    ``acknowledged`` are the records acknowledged by it, ``then`` what is to be done next, and
    ``others`` what changes beside the replica.
    """

    action: Action
    broker: int
    before: Replica
    after: Replica
    acknowledged: tuple[int, ...]
    then: tuple[Command, ...]
    others: tuple[Change, ...]
    live: tuple[int, ...]


def asks_in_vain(leader: int, led: Replica, follower: int, replica: Replica) -> bool:
    """Whether a follower asks for what is not there yet, which only tells its leader that it lives.

    Any other fetch is a step of its own.
    """
    remembered = dict(led.remotes).get(follower)
    knows_all = remembered is not None and remembered[0] == replica.log_end == led.log_end
    return knows_all and replica.follows(leader) and replica.answer is None


def _with(processes: Processes, broker: int, process: Process) -> Processes:
    return (*processes[: broker - 1], process, *processes[broker:])


def _step(action: Action, changes: tuple[Change, ...]) -> Step:
    return Step(action, {part: (before, after) for part, before, after in changes})


def _unparked(change: Change, high_watermark: int) -> Change:
    """A parked fetch is answered with a HW, or if that is no news not at all."""
    part, before, after = change
    if isinstance(after, Replica) and isinstance(after.answer, FetchAnswered):
        answer = after.answer
        if answer.high_watermark == PARKED:
            if min(high_watermark, answer.offset) == after.high_watermark:
                return part, before, before
            answer = answer._replace(high_watermark=high_watermark)
            return part, before, after._replace(answer=answer)
    return change


def _caught_up(fields: tuple[int, ...], at_us: int) -> tuple[int, ...]:
    """A follower that was caught up at some time, and whose last fetch was too long ago."""
    remote = RemoteReplica(*fields)
    long_ago = replace(
        remote, last_caught_up_us=at_us, last_fetch_us=NEVER_US, last_fetch_leader_leo=-1
    )
    return astuple(long_ago)


def _batches(answer: FetchAnswered) -> list[Batch]:
    return [
        Batch(answer.offset + number, record.epoch, record.id)
        for number, record in enumerate(answer.records)
    ]


def _told_of(stepped: Stepped) -> Iterator[tuple[str, object]]:
    """What a path says of a command beside the command."""
    for effect in stepped.effects:
        name = type(effect).__name__
        if name == "TruncateLog":
            yield "truncated", effect.offset  # type: ignore[union-attr]
            yield "reason", effect.reason  # type: ignore[union-attr]


# ---- what must hold


def _properties(parts: Parts) -> list[Property]:
    found = []
    for one in parts.brokers:
        at = parts.replica(one)
        kept = partial(_acknowledged_kept, one)
        found.append(Property(ACKNOWLEDGED_KEPT, (parts.quorum, parts.acknowledged, at), kept))
        found.append(Property(HW_MONOTONIC, (at,), lambda replica: not replica.hw_fell))
        for other in parts.brokers:
            pair = (at, parts.replica(other))
            if one != other:
                has = partial(_isr_has_committed, one, other)
                found.append(Property(ISR_HAS_COMMITTED, (parts.quorum, *pair), has))
            if one < other:
                found.append(Property(COMMITTED_AGREEMENT, pair, _committed_agreement))
                found.append(Property(ONE_LEADER_PER_EPOCH, pair, _one_leader_per_epoch))
    return found


def _is_leader(broker: int, quorum: Quorum, replica: Replica) -> bool:
    """Whether a replica leads and the controller says so too."""
    return replica.leads and (quorum.leader, quorum.epoch) == (broker, replica.leader_epoch)


def _acknowledged_kept(
    broker: int, quorum: Quorum, acknowledged: tuple[int, ...], replica: Replica
) -> bool:
    if not acknowledged or not _is_leader(broker, quorum, replica):
        return True
    return {record.id for record in replica.log}.issuperset(acknowledged)


def _isr_has_committed(
    broker: int, member: int, quorum: Quorum, led: Replica, replica: Replica
) -> bool:
    if member not in quorum.isr or not _is_leader(broker, quorum, led):
        return True
    return replica.log[: led.high_watermark] == led.log[: led.high_watermark]


def _committed_agreement(one: Replica, other: Replica) -> bool:
    committed = min(one.high_watermark, other.high_watermark)
    pairs = zip(one.log[:committed], other.log[:committed], strict=False)
    return all(mine == its for mine, its in pairs)


def _one_leader_per_epoch(one: Replica, other: Replica) -> bool:
    return not (one.leads and other.leads and one.leader_epoch == other.leader_epoch)
