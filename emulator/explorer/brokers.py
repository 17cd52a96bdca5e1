"""Broker behaviour under a release's replication rules, independent of the controller mode.

Producers write to leaders, followers fetch, leaders change the ISR, and processes stop and start.
:func:`emulator.replication.partition.step` computes how each replica changes. The controller, and
how brokers receive its requests or metadata, differs between ZooKeeper mode
(:mod:`emulator.explorer.zookeeper_mode`) and KRaft mode (:mod:`emulator.explorer.kraft_mode`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from msgspec.structs import astuple, replace

from emulator.explorer.bounds import Bounds
from emulator.explorer.model import Action, Rule, Step, Value
from emulator.explorer.replica import (
    NO_FETCHER,
    Batch,
    EndsResponse,
    EpochResponse,
    FetchResponse,
    Replica,
    ReplicaRules,
    Stepped,
)
from emulator.releases.profiles import PROFILES
from emulator.replication.fetching import (
    ADJUSTED,
    ASKED_AGAIN,
    COMPARING,
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
    NEVER_US,
    NONE,
    AdjustToLeader,
    AppendFetched,
    Command,
    CountFetch,
    End,
    ExpireIsr,
    IsrRefused,
    IsrStored,
    LoseTail,
    RemoteReplica,
    Restart,
    Rules,
    TruncateToEpochEnd,
    end_offset_for,
    epoch_error,
    fetch_records,
    log_end_for,
    produce_error,
)

FENCED_ERROR: Final = "FENCED_LEADER_EPOCH"
OUT_OF_RANGE_ERROR: Final = "OFFSET_OUT_OF_RANGE"
NOTHING: Final[Command | None] = None
PARKED: Final = -2
"""The high watermark in the response to a parked fetch, until it is known."""

Outcomes = Iterator[Step | Rule]
Change = tuple[int, Value, Value]


class Process(NamedTuple):
    """A broker's process: how often it started, lost power and was stopped in an orderly way.

    A halted process is not restarted: it would only halt again. ``is_clean``: it is down after an
    orderly stop.
    """

    starts: int = 1
    is_up: bool = True
    power_losses: int = 0
    halted: bool = False
    stops: int = 0
    is_clean: bool = False


Processes = tuple[Process, ...]
"""The processes of all brokers."""


class Parts:
    """The index of each part in a state; brokers are numbered from 1."""

    def __init__(self, replicas: int) -> None:
        self.brokers = tuple(range(1, replicas + 1))
        self.channels = tuple(range(replicas, 2 * replicas))
        self.decided = 2 * replicas
        self.processes = self.decided + 1
        self.acknowledged = self.decided + 2
        self.records = self.decided + 3
        self.elections = self.decided + 4
        self.isr_changes = self.decided + 5
        self.fencings = self.decided + 6

    def replica(self, broker: int) -> int:
        return broker - 1

    def channel(self, broker: int) -> int:
        """The index of the channel from the controller to a broker."""
        return self.channels[broker - 1]

    def names(self) -> tuple[str, ...]:
        """The names of the parts, in order."""
        return (
            *(f"replica {broker}" for broker in self.brokers),
            *(f"channel of {broker}" for broker in self.brokers),
            *("decided", "processes", "acknowledged", "records", "elections", "ISR changes"),
            "fencings",
        )


class BrokerActions(ABC):
    """Actions of brokers, producers and processes; each mode adds its controller."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.parts = Parts(bounds.replicas)
        self.rules = Rules.of(PROFILES[bounds.version])
        self.rules_of = {
            broker: ReplicaRules(broker, self.rules, self.parts.brokers, bounds.min_insync_replicas)
            for broker in self.parts.brokers
        }

    def restarted(self, broker: int, replica: Replica) -> Replica:
        """A replica after a new process has loaded its log."""
        return self.rules_of[broker].do(replica, Restart(replica.high_watermark), ()).replica

    # ---- specific to each mode

    def rules_of_mode(self) -> list[Rule]:
        """The other rules of this mode."""
        return []

    def faults_of_mode(self) -> list[Rule]:
        """The other faults of this mode."""
        return []

    @abstractmethod
    def initial(self) -> tuple[Value, ...]:
        """The initial state: all replicas are in sync and know that broker 1 leads in epoch 0."""

    @abstractmethod
    def around(self, broker: int) -> tuple[int, ...]:
        """The parts that hold the running processes (first) and the broker's view of them."""

    @abstractmethod
    def alive(self, *around: Any) -> tuple[int, ...]:
        """The brokers considered alive."""

    @abstractmethod
    def receive(self, broker: int, channel: Any) -> Outcomes:  # noqa: ANN401 - each mode's own
        """A broker receives an update from the controller."""

    @abstractmethod
    def move_leadership(self, decided: Any, processes: Processes, used: int) -> Outcomes:  # noqa: ANN401
        """Leadership moves to another ISR member through a preferred leader election.

        If that member is not the preferred leader, the replicas are first reassigned in a new
        order.
        """

    @abstractmethod
    def propose(self, applied: "Applied", isr: tuple[int, ...]) -> Outcomes:
        """A leader proposes a new ISR."""

    @abstractmethod
    def alter(self, broker: int, replica: Replica, decided: Any, processes: Processes) -> Outcomes:  # noqa: ANN401
        """The controller handles an AlterPartition request."""

    @abstractmethod
    def broker_stopped(
        self,
        action: Action,
        broker: int,
        changes: tuple[Change, ...],
        live: tuple[int, ...],
        decided: Any,  # noqa: ANN401
        channel: Any,  # noqa: ANN401
    ) -> Outcomes:
        """The controller notices that a broker's process has stopped."""

    @abstractmethod
    def started(
        self,
        broker: int,
        processes: Processes,
        replica: Replica,
        decided: Any,  # noqa: ANN401
    ) -> Outcomes:
        """A process starts."""

    # ---- a broker's replica

    def act(self, broker: int, replica: Replica) -> Outcomes:
        """The actions a replica may take and the messages it may receive."""
        parts = self.parts
        if replica.leads:
            around = self.around(broker)
            yield Rule((*around, parts.records), self.produce, (broker, replica))
            yield Rule((*around, parts.isr_changes), self.expire, (broker, replica))
            if replica.alter_response is not None:
                yield Rule(around, self.take_alter_response, (broker, replica))
            elif replica.pending is not None:
                yield Rule((parts.decided, parts.processes), self.alter, (broker, replica))
        elif replica.response is not None:
            yield Rule(self.around(broker), self.take_response, (broker, replica))
        elif replica.fetches:
            reads = (*self.around(replica.leader), parts.replica(replica.leader))
            yield Rule(reads, self.ask, (broker, replica))

    def produce(self, broker: int, replica: Replica, *values: Any) -> Outcomes:
        """A producer's record is appended."""
        *around, record = values
        if record == self.bounds.records:
            return
        rules, live = self.rules_of[broker], self.alive(*around)
        state = rules.thaw(replica)
        if produce_error(state, self.bounds.acks, self.rules, rules.moment(live)) != NONE:
            return
        stepped = rules.append(replica, record, live)
        if self.bounds.acks != -1:
            stepped.replica = stepped.replica._replace(waiting=())
            stepped.acknowledged = (record,)
        action = Action("Produce", (("leader", broker), ("record", record)))
        others = ((self.parts.records, record, record + 1),)
        yield from self.settle(action, broker, replica, stepped, others, live)

    def expire(self, broker: int, replica: Replica, *values: Any) -> Outcomes:
        """Remove a lagging follower from the ISR, as the isr-expiration task does."""
        *around, used = values
        if used == self.bounds.isr_changes or replica.pending is not None:
            return
        members = [member for member in replica.isr if member != broker]
        reads = tuple(self.parts.replica(member) for member in members)
        for silent in members:
            subject = (broker, replica, self.alive(*around), used, silent)
            yield Rule(reads, self._expired, subject)

    def _expired(
        self,
        broker: int,
        replica: Replica,
        live: tuple[int, ...],
        used: int,
        silent: int,
        *followers: Replica,
    ) -> Outcomes:
        """Shrink the ISR; other followers count as caught up only if they fetch at the log end."""
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
        stepped = self.rules_of[broker].do(replica._replace(remotes=remotes), ExpireIsr({}), live)
        if stepped.proposal is not None:
            action = Action("ShrinkIsr", (("leader", broker), ("follower", silent)))
            others = ((self.parts.isr_changes, used, used + 1),)
            yield from self.settle(action, broker, replica, stepped, others, live)

    # ---- fetching

    def ask(self, follower: int, replica: Replica, *values: Any) -> Outcomes:
        """A follower sends a request; the leader handles it at once, the response is pending."""
        *around, led = values
        leader = replica.leader
        process: Process = around[0][leader - 1]
        if not process.is_up:
            return
        details = (("broker", follower), ("leader", leader))
        at = self.parts.replica(follower)
        state = self.rules_of[leader].thaw(led)
        current = replica.leader_epoch if self.rules.fencing else UNDEFINED
        if replica.phase == TRUNCATING:
            error = epoch_error(state, current, self.rules)
            if error in {NONE, FENCED_ERROR}:
                latest = replica.epochs[-1][0] if replica.epochs else UNDEFINED
                end_of_epoch = (UNDEFINED, UNDEFINED)
                if error == NONE:
                    end_of_epoch = end_offset_for(state, latest, self.rules)
                response = EpochResponse(error, replica.leader_epoch, *end_of_epoch)
                after = replica._replace(response=response, response_start=process.starts)
                action = Action("AskEpoch", (*details, ("epoch", latest)))
                yield step(action, ((at, replica, after),))
        elif replica.phase in {COMPARING, OUT_OF_RANGE}:
            if epoch_error(state, current, self.rules) == NONE:
                epoch = replica.leader_epoch if replica.phase == COMPARING else current
                log_end = log_end_for(state, epoch, self.rules)
                ends = EndsResponse(state.log_start, log_end)
                after = replica._replace(response=ends, response_start=process.starts)
                yield step(Action("AskEnds", details), ((at, replica, after),))
        else:
            yield from self._fetch(follower, replica, led, process.starts, self.alive(*around))

    def _fetch(
        self, follower: int, replica: Replica, led: Replica, starts: int, live: tuple[int, ...]
    ) -> Outcomes:
        leader, offset = replica.leader, replica.log_end
        current = replica.leader_epoch if self.rules.fencing else UNDEFINED
        last = UNDEFINED
        if self.rules.diverging_fetch and replica.epochs:
            last = replica.epochs[-1][0]
        state = self.rules_of[leader].thaw(led)
        fetched = fetch_records(state, follower, offset, current, last, self.rules)
        action = Action("Fetch", (("broker", follower), ("leader", leader), ("offset", offset)))
        at = self.parts.replica(follower)
        if fetched.error != NONE or fetched.diverging is not None:
            if fetched.error in {NONE, FENCED_ERROR, OUT_OF_RANGE_ERROR}:
                response = FetchResponse(fetched.error, offset, (), -1, fetched.diverging)
                after = replica._replace(response=response, response_start=starts)
                yield step(action, ((at, replica, after),))
            return
        stepped = self.rules_of[leader].do(led, CountFetch(follower, offset), live)
        # Up to 0.8.1 a fetch is counted before the log is read.
        leading = stepped.replica if self.rules.tells_raised_high_watermark else led
        records = led.log[offset:]
        # A fetch that finds no records is parked; its response carries the HW at completion.
        hw = leading.high_watermark if records else PARKED
        response = FetchResponse(NONE, offset, records, hw)
        after = replica._replace(response=response, response_start=starts)
        others = ((at, replica, after),)
        yield from self.settle(action, leader, led, stepped, others, live)

    def take_response(self, follower: int, replica: Replica, *around: Any) -> Outcomes:
        """A follower receives a response, or a disconnect if the leader process has ended."""
        rules, live, processes = self.rules_of[follower], self.alive(*around), around[0]
        source: Process = processes[replica.leader - 1]
        name, happened, command = "ConnectionLost", DISCONNECTED, NOTHING
        if source.is_up and source.starts == replica.response_start:
            name, happened, command = self._arrived(replica)
        after = replica._replace(response=None, response_start=0)
        details: tuple[tuple[str, object], ...] = (("broker", follower), ("leader", replica.leader))
        if command is not None:
            stepped = rules.do(after, command, live)
            after = stepped.replica
            if HALT in stepped.effects:
                yield from self.ends("Halt", follower, processes, replica)
                return
            if ASK_AGAIN in stepped.effects and happened:
                happened = ASKED_AGAIN
            details += tuple(effect_details(stepped))
        if happened:
            after = after._replace(phase=NEXT[after.phase, happened])
        yield step(Action(name, details), ((self.parts.replica(follower), replica, after),))

    def _arrived(self, replica: Replica) -> tuple[str, str, Command | None]:
        """The action name of a response, the fetcher event and the command for the replica."""
        response = replica.response
        if isinstance(response, EndsResponse):
            adjust = AdjustToLeader(response.log_start, response.log_end, self.bounds.unclean)
            return "EndsResponse", ADJUSTED, adjust
        if isinstance(response, EpochResponse):
            name = "EpochResponse"
            asked_for = response.asked_epoch if self.rules.fencing else replica.fetch_epoch
            if response.error == FENCED_ERROR:
                return name, FENCED, NOTHING
            if asked_for != replica.leader_epoch:
                return name, "", NOTHING
            return name, SETTLED, TruncateToEpochEnd(response.epoch, response.end_offset)
        assert response is not None
        name = "FetchResponse"
        if response.error != NONE:
            return name, FENCED if response.error == FENCED_ERROR else IS_OUT_OF_RANGE, NOTHING
        if response.diverging is not None:
            return name, "", TruncateToEpochEnd(*response.diverging)
        if response.offset != replica.log_end:
            return name, "", NOTHING
        return name, "", AppendFetched(_batches(response), response.high_watermark)

    # ---- ISR proposals and acknowledgements

    def settle(
        self,
        action: Action,
        broker: int,
        before: Replica,
        stepped: Stepped,
        others: tuple[Change, ...],
        live: tuple[int, ...],
    ) -> Outcomes:
        """Submit a proposed ISR if there is one; otherwise complete the command."""
        after, acknowledged = stepped.replica, stepped.acknowledged
        applied = Applied(action, broker, before, after, acknowledged, stepped.then, others, live)
        if stepped.proposal is None:
            yield from self.finish(applied)
        else:
            yield from self.propose(applied, tuple(stepped.proposal.isr))

    def apply_next(self, applied: "Applied", command: Command) -> "Applied":
        stepped = self.rules_of[applied.broker].do(applied.after, command, applied.live)
        acknowledged = applied.acknowledged + stepped.acknowledged
        return applied._replace(after=stepped.replica, acknowledged=acknowledged)

    def finish(self, applied: "Applied") -> Outcomes:
        for command in applied.then:
            applied = self.apply_next(applied, command)
        others = tuple(_unparked(change, applied.after.high_watermark) for change in applied.others)
        changes = ((self.parts.replica(applied.broker), applied.before, applied.after), *others)
        if all(before == now for _part, before, now in changes):
            return
        if applied.acknowledged:
            outcome = (applied.action, changes, applied.acknowledged)
            yield Rule((self.parts.acknowledged,), self._acknowledge, outcome)
        else:
            yield step(applied.action, changes)

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
        yield step(Action(action.name, details), (*changes, change))

    def take_alter_response(self, broker: int, replica: Replica, *around: Any) -> Outcomes:
        """The leader receives the result of its AlterPartition request."""
        response, live = replica.alter_response, self.alive(*around)
        assert response is not None
        command: Command = IsrRefused(response.error)
        if response.error == NONE:
            command = IsrStored(list(response.isr), response.zk_version, response.leader_epoch)
        stepped = self.rules_of[broker].do(replica._replace(alter_response=None), command, live)
        action = Action("AlterPartitionResponse", (("leader", broker),))
        yield from self.settle(action, broker, replica, stepped, (), live)

    # ---- processes

    def crash(self, processes: Processes) -> Outcomes:
        """A process crashes; on a power loss its unflushed records are lost as well."""
        power_losses = sum(process.power_losses for process in processes)
        ended = sum(
            process.starts - process.is_up - process.halted - process.stops for process in processes
        )
        for broker in running(processes):
            target = (broker, processes)
            reads = (self.parts.replica(broker),)
            if ended - power_losses < self.bounds.crashes:
                yield Rule(reads, self.ends, ("Crash", *target))
            if power_losses < self.bounds.power_losses:
                yield Rule(reads, self.ends, ("PowerLoss", *target))

    def ends(self, name: str, broker: int, processes: Processes, replica: Replica) -> Outcomes:
        """A process ends, by a crash or in an orderly way; the HW on disk is the latest one."""
        ended = self.rules_of[broker].do(replica, End(), ()).replica
        if name == "PowerLoss":
            ended = self.rules_of[broker].do(ended, LoseTail(0, "power loss"), ()).replica
            ended = ended._replace(high_watermark=0)
        ended = ended._replace(
            leader=-1,
            phase=NO_FETCHER,
            fetch_epoch=-1,
            response=None,
            response_start=0,
            alter_response=None,
            waiting=(),
        )
        process = processes[broker - 1]
        process = process._replace(
            is_up=False,
            power_losses=process.power_losses + (name == "PowerLoss"),
            halted=name == "Halt",
            stops=process.stops + (name == "Stop"),
            is_clean=name == "Stop",
        )
        after = with_process(processes, broker, process)
        changes: tuple[Change, ...] = (
            (self.parts.replica(broker), replica, ended),
            (self.parts.processes, processes, after),
        )
        arguments = (Action(name, (("broker", broker),)), broker, changes, running(after))
        yield Rule((self.parts.decided, self.parts.channel(broker)), self.broker_stopped, arguments)

    def start(self, processes: Processes) -> Outcomes:
        """A crashed process restarts and learns which replicas it hosts."""
        for broker, process in zip(self.parts.brokers, processes, strict=True):
            if not process.is_up and not process.halted:
                reads = (self.parts.replica(broker), self.parts.decided)
                yield Rule(reads, self.started, (broker, processes))


class Applied(NamedTuple):
    """A command applied to a replica, before its follow-up commands are executed.

    ``acknowledged`` lists the records it acknowledged, ``then`` the follow-up commands, and
    ``others`` the changes outside the replica.
    """

    action: Action
    broker: int
    before: Replica
    after: Replica
    acknowledged: tuple[int, ...]
    then: tuple[Command, ...]
    others: tuple[Change, ...]
    live: tuple[int, ...]


def running(processes: Processes) -> tuple[int, ...]:
    """The brokers whose processes are up."""
    return tuple(broker for broker, process in enumerate(processes, 1) if process.is_up)


def asks_in_vain(leader: int, led: Replica, follower: int, replica: Replica) -> bool:
    """Whether a follower fetches at the leader's log end, which only shows that it is alive.

    Any other fetch is a step of its own.
    """
    remembered = dict(led.remotes).get(follower)
    knows_all = remembered is not None and remembered[0] == replica.log_end == led.log_end
    return knows_all and replica.follows(leader) and replica.response is None


def with_process(processes: Processes, broker: int, process: Process) -> Processes:
    """The processes with one broker's process replaced."""
    return (*processes[: broker - 1], process, *processes[broker:])


def step(action: Action, changes: tuple[Change, ...]) -> Step:
    """A step that changes some parts."""
    return Step(action, {part: (before, after) for part, before, after in changes})


def _unparked(change: Change, high_watermark: int) -> Change:
    """Complete a parked fetch with the HW, or drop its response if the HW has not changed."""
    part, before, after = change
    if isinstance(after, Replica) and isinstance(after.response, FetchResponse):
        response = after.response
        if response.high_watermark == PARKED:
            if min(high_watermark, response.offset) == after.high_watermark:
                return part, before, before
            response = response._replace(high_watermark=high_watermark)
            return part, before, after._replace(response=response)
    return change


def _caught_up(fields: tuple[int, ...], at_us: int) -> tuple[int, ...]:
    """A follower last caught up at ``at_us``, with its last fetch too long ago."""
    remote = RemoteReplica(*fields)
    long_ago = replace(
        remote, last_caught_up_us=at_us, last_fetch_us=NEVER_US, last_fetch_leader_leo=-1
    )
    return astuple(long_ago)


def _batches(response: FetchResponse) -> list[Batch]:
    return [
        Batch(response.offset + number, record.epoch, record.id)
        for number, record in enumerate(response.records)
    ]


def effect_details(stepped: Stepped) -> Iterator[tuple[str, object]]:
    """The details of a command's effects that a path shows."""
    for effect in stepped.effects:
        name = type(effect).__name__
        if name == "TruncateLog":
            yield "truncated", effect.offset  # type: ignore[union-attr]
            yield "reason", effect.reason  # type: ignore[union-attr]
