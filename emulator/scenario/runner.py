"""Statements on a cluster: given, followed while time passes, and noted when each has ended.

:meth:`Runner.advance` alone lets time pass where statements are under way: for scripts at any
speed, the console, campaigns, verification, replay and forecasts. Whoever calls it decides how far
to go before it looks at the wall clock, and nothing else. However the way is cut into slices, the
same happens, because statements are looked at in these places only:

- when a statement is given,
- after each kernel event, if anything but the time can end one of them, and
- at the times at which they are up (:attr:`emulator.scenario.pending.Pending.wake_us`).

**A moment is over when nothing more is due in it.** A `wait` that ends at a microsecond ends after
everything that is due in that microsecond, and so does every other limit of time. (A condition that
comes to hold, or an answer that arrives, ends its statement right after the kernel event that
brought it about, though more may be due at the same time.)
"""

from collections.abc import Callable
from enum import Enum, auto
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from emulator import events
from emulator.cluster import Cluster
from emulator.inputs import statements as inputs
from emulator.inputs.statements import Statement
from emulator.scenario import conditions
from emulator.scenario.admin import Admin
from emulator.scenario.faults import Processes
from emulator.scenario.kraft_admin import KRaftAdmin
from emulator.scenario.outcome import Outcome
from emulator.scenario.pending import (
    CHECKS,
    NEVER_US,
    AdminAnswered,
    AnyPending,
    BrokerRegistered,
    BrokerStopped,
    Conditions,
    ControllerActive,
    ControllerAsked,
    ControllerStopped,
    FetchRounds,
    JobFinished,
    Quiet,
    TimePassing,
    shown,
)
from emulator.scenario.refusals import RefusedError
from emulator.simulation.snapshot import copier

SETTLE_LIMIT_US: Final = 20_000_000
OPERATION_LIMIT_US: Final = 120_000_000
"""How long `broker start`, `broker stop` and `fetch` may take before they are given up."""
ASSERTIONS: Final = (inputs.Expect, inputs.ExpectError, inputs.ExpectEvents, inputs.Mark)
"""Statements after which `expect error` still means the statement before."""
TICK_US: Final = 5_000
"""How long `tick` waits for the writes and answers that it causes."""
NO_LIMIT: Final = 1 << 62
"""A budget that is never used up."""


class Ticket(Struct, array_like=True, eq=False):
    """A statement that was given: ``done`` once it has ended, with its ``outcome``.

    Until then ``pending`` is what it is waiting for. ``root`` is the event that says that it was
    given; what it leads to is caused by that.
    """

    statement: Statement
    root: int
    pending: AnyPending | None = None
    outcome: Outcome | None = None

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.outcome is not None


class RunnerState(Struct, array_like=True):
    """All that a runner remembers: plain data.

    ``open`` are the statements that have not ended, in the order in which they were given;
    ``last_error`` is what the last one that ended has ended in.
    """

    open: list[Ticket] = field(default_factory=list)
    last_error: str = "NONE"


class Advance(Enum):
    """Why time has stopped passing."""

    REACHED = auto()
    """The time is the limit, and nothing more is due by then."""
    ENDED = auto()
    """A statement has ended: what follows on it is to be given now."""
    BUDGET = auto()
    """As many kernel events as were allowed have been dispatched; more are due."""
    IDLE = auto()
    """No kernel event is left, and no statement waits for a time."""


Begun = Outcome | AnyPending | None
"""What a statement came to when it was given: its end (None: a plain one), or what it waits for."""
Begin = Callable[[Any], Begun]


class Runner:
    """Gives statements to one cluster, and lets its time pass.

    The cluster's events say what was given, how it ended, and what was asserted. A cluster should
    have one runner; time that passes without it ends no statement.
    """

    def __init__(self, cluster: Cluster, state: RunnerState | None = None) -> None:
        """Act on ``cluster``; no statement is under way unless ``state`` has some."""
        self.cluster = cluster
        self.kernel = cluster.kernel
        self.state = RunnerState() if state is None else state
        self.admin = Admin(cluster)
        self.kraft_admin = KRaftAdmin(cluster)
        self.processes = Processes(cluster)
        self._table = self._begin_table()
        self._note_awaited()

    # ---- the cluster's place in time

    @property
    def now_us(self) -> int:
        """Virtual time in microseconds."""
        return self.cluster.now_us

    @property
    def steps(self) -> int:
        """How many kernel events have been dispatched."""
        return self.cluster.steps

    @property
    def next_us(self) -> int | None:
        """When something happens next: a kernel event, or the end of a statement's time."""
        due_us = self.cluster.next_time_us
        next_us = self._wake_us if due_us is None else min(due_us, self._wake_us)
        return None if next_us == NEVER_US else next_us

    @property
    def state_hash(self) -> str:
        """The SHA-256 of everything on which the future depends: the cluster, and what is open.

        How an open statement is worded, and where it stands in a script, is no part of it.
        """
        waiting = [(each.statement.input, each.pending, each.root) for each in self.state.open]
        ours = msgspec.msgpack.encode((self.cluster.state_hash, waiting, self.state.last_error))
        return sha256(ours).hexdigest()

    def fork(self) -> "Runner":
        """An independent copy of the cluster and of what is under way, without observers."""
        copied = copier(RunnerState)
        assert copied is not None
        return Runner(self.cluster.fork(), copied(self.state))

    # ---- giving statements

    def execute(self, statement: Statement) -> Outcome:
        """Give a statement, and let as much virtual time pass as it takes."""
        ticket = self.submit(statement)
        while not ticket.done and self.advance() is not Advance.IDLE:
            pass
        return ticket.outcome or Outcome()

    def submit(self, statement: Statement) -> Ticket:
        """Give a statement, and let no time pass."""
        kernel = self.kernel
        kernel.cause = 0
        given = (statement.text, statement.line, self.cluster.steps)
        root = kernel.cause = kernel.emit(events.InputReceived, *given)
        ticket = Ticket(statement, root)
        if isinstance(statement.input, inputs.OF_CONNECTIONS):
            self._take(statement.input)
            ticket.outcome = Outcome()
            return ticket
        try:
            begun = self._table[type(statement.input)](statement.input) or Outcome()
        except RefusedError as error:
            begun = Outcome(error.name, str(error), refused=True)
        if isinstance(begun, Outcome):
            self._end(ticket, begun)
        else:
            ticket.pending = begun
            self.state.open.append(ticket)
            self._note_awaited()
        self._look()
        self.cluster.look()
        return ticket

    def _take(self, wanted: inputs.Input) -> None:
        """Take what comes from a client outside: no statement ends by it, nor begins."""
        external = self.cluster.clients.external
        match wanted:
            case inputs.ReceiveRequest(connection=connection, frame=frame):
                external.receive(connection, frame)
            case inputs.OpenConnection(connection=connection, broker=broker, address=address):
                external.open(connection, broker, address)
            case inputs.CloseConnection(connection=connection, reason=reason):
                external.close(connection, reason or "closed by the client")
            case inputs.AdvertiseListeners(listeners=listeners):
                external.advertise(listeners)
        self.kernel.cause = 0
        self._look()
        self.cluster.look()

    def _end(self, ticket: Ticket, outcome: Outcome) -> None:
        ticket.outcome, ticket.pending = outcome, None
        self.cluster.audit.settle()
        statement = ticket.statement
        self.kernel.cause = ticket.root
        if outcome.refused:
            if outcome.error != statement.expected_error:
                actual = outcome.error if outcome.passed is None else outcome.actual
                self._checked(statement, False, actual)
        elif outcome.passed is not None:
            self._checked(statement, outcome.passed, outcome.actual)
        if not isinstance(statement.input, ASSERTIONS):
            self.state.last_error = outcome.error
        self.kernel.emit(events.InputFinished, statement.text, statement.line, outcome.error)

    def _checked(self, statement: Statement, passed: bool, actual: object) -> None:
        as_json = msgspec.json.encode(actual).decode()
        text = statement.text.removeprefix("expect").strip()
        self.kernel.emit(events.ExpectationChecked, text, statement.line, passed, as_json)

    # ---- letting time pass

    def advance(self, limit_us: int = NEVER_US, budget: int = NO_LIMIT) -> Advance:
        """Let virtual time pass up to and including ``limit_us``, or until a statement has ended.

        At most ``budget`` kernel events are dispatched. It may be called again whatever it returns,
        with any limit and budget: together the calls do what one call would have done.
        """
        step, look = self.cluster.step, self._look
        state = self.kernel.state
        queue = state.queue
        while True:
            wake_us = self._wake_us
            goal_us = min(limit_us, wake_us)
            while queue and queue[0][0] <= goal_us:
                if budget <= 0:
                    return Advance.BUDGET
                budget -= 1
                step()
                if self._is_watchful:
                    if look():
                        return Advance.ENDED
                    if wake_us != self._wake_us:
                        wake_us = self._wake_us
                        goal_us = min(limit_us, wake_us)
            if goal_us == NEVER_US:
                return Advance.IDLE
            state.now_us = max(state.now_us, goal_us)
            if self._wake_us > limit_us:
                return Advance.REACHED
            if look():
                return Advance.ENDED

    def run_until(self, time_us: int) -> None:
        """Let virtual time pass up to and including ``time_us``, whatever ends on the way."""
        while self.advance(time_us) is not Advance.REACHED:
            pass

    def return_to(self, time_us: int, steps: int, budget: int = NO_LIMIT) -> bool:
        """Go on to a place between two kernel events where an earlier run has been.

        That is where ``steps`` of them had been dispatched and the time was ``time_us``. False if
        the ``budget`` did not do; call it again. A run that is another one ends up near that place.
        """
        while True:
            left = min(budget, steps - self.steps)
            before = self.steps
            match self.advance(time_us, left):
                case Advance.REACHED:
                    return True
                case Advance.BUDGET:
                    return self.steps >= steps
            budget -= self.steps - before

    def _look(self) -> bool:
        """See which open statements have come to their end; whether any has."""
        kernel, cluster = self.kernel, self.cluster
        state = kernel.state
        changed = ended = False
        for ticket in tuple(self.state.open):
            pending = ticket.pending
            assert pending is not None
            is_up = pending.wake_us <= state.now_us and not (
                state.queue and state.queue[0][0] <= state.now_us
            )
            if pending.by_time and not is_up:
                continue
            kernel.cause = ticket.root
            found = CHECKS[type(pending)](cluster, pending, is_up)
            if found is pending:
                continue
            changed = True
            if isinstance(found, Outcome):
                ended = True
                self.state.open.remove(ticket)
                self._end(ticket, found)
            else:
                ticket.pending = found
        kernel.cause = 0
        if changed:
            self._note_awaited()
        return ended

    def _note_awaited(self) -> None:
        """Work out when an open statement's time is up next, and whether events can end any."""
        waiting = [each.pending for each in self.state.open if each.pending is not None]
        self._wake_us = min((each.wake_us for each in waiting), default=NEVER_US)
        self._is_watchful = not all(each.by_time for each in waiting)

    # ---- how statements begin

    def _begin_table(self) -> dict[type, Begin]:
        admin, processes = self.admin, self.processes
        return {
            inputs.CreateTopic: admin.create_topic,
            inputs.AddPartitions: admin.add_partitions,
            inputs.ConfigureTopic: admin.configure_topic,
            inputs.ConfigureBroker: admin.configure_broker,
            inputs.DeleteTopic: admin.delete_topic,
            inputs.ElectPreferred: admin.elect_preferred,
            inputs.ElectUnclean: self._ask_controller(admin.elect_unclean),
            inputs.Reassign: admin.reassign,
            inputs.CancelReassignment: self._ask_controller(admin.cancel_reassignment),
            inputs.ZkCommand: admin.zk_command,
            inputs.ExpireSession: admin.expire_session,
            inputs.CrashBroker: processes.crash,
            inputs.FreezeBroker: processes.freeze,
            inputs.ThawBroker: processes.thaw,
            inputs.PauseReplica: processes.pause_replica,
            inputs.ResumeReplica: processes.resume_replica,
            inputs.CutLink: processes.cut,
            inputs.HealLinks: processes.heal,
            inputs.DelayLink: processes.delay,
            inputs.DropOnLink: processes.drop,
            inputs.IsolateBroker: processes.isolate,
            inputs.HoldMessages: processes.hold,
            inputs.ReleaseMessages: processes.release,
            inputs.Mark: self._mark,
            inputs.InjectError: self._inject,
            inputs.ExpectError: self._expect_error,
            inputs.Expect: self._expect,
            inputs.ExpectEvents: self._expect_events,
            inputs.StopBroker: self._stop,
            inputs.StartBroker: self._start,
            inputs.Produce: self._produce,
            inputs.Consume: self._consume,
            inputs.FetchRound: self._fetch,
            inputs.Tick: self._tick,
            inputs.Wait: self._wait,
            inputs.WaitUntil: self._wait_until,
            inputs.Settle: self._settle,
            inputs.ChangeController: self._change_controller,
            **self._kraft_table(),
        }

    def _kraft_table(self) -> dict[type, Begin]:
        """What brokers forward to the controller, and what makes no sense without ZooKeeper."""
        kraft = self.kraft_admin
        always: dict[type, Begin] = {
            inputs.AlterPartition: self._forwarded(kraft.alter_partition),
            inputs.DescribeTopic: kraft.describe_topic,
        }
        if self.cluster.kraft is None:
            return always
        return always | {
            inputs.CreateTopic: self._forwarded(kraft.create_topic),
            inputs.AddPartitions: self._forwarded(kraft.add_partitions),
            inputs.ConfigureTopic: self._forwarded(kraft.configure_topic),
            inputs.ConfigureBroker: self._forwarded(kraft.configure_broker),
            inputs.DeleteTopic: self._forwarded(kraft.delete_topic),
            inputs.ElectPreferred: self._forwarded(kraft.elect_preferred),
            inputs.ElectUnclean: self._forwarded(kraft.elect_unclean),
            inputs.Reassign: self._forwarded(kraft.reassign),
            inputs.CancelReassignment: self._forwarded(kraft.cancel_reassignment),
            inputs.ZkCommand: kraft.refuse,
            inputs.ExpireSession: kraft.refuse,
        }

    def _forwarded(self, ask: Callable[[Any], int]) -> Begin:
        """Begin a statement by a request; its answer is the statement's result."""
        return lambda wanted: AdminAnswered(NEVER_US, ask(wanted))

    def _change_controller(self, wanted: inputs.ChangeController) -> Begun:
        chosen = self.processes.change_controller(wanted)
        limit_us = self.now_us + OPERATION_LIMIT_US
        if wanted.action == "start" and wanted.wait:
            return ControllerActive(limit_us)
        if wanted.action == "stop" and chosen:
            return ControllerStopped(limit_us, chosen[0])
        return None

    def _mark(self, wanted: inputs.Mark) -> None:
        self.kernel.emit(events.BookmarkSet, wanted.name, wanted.note)

    def _inject(self, wanted: inputs.InjectError) -> None:
        self.cluster.clients.external.inject(wanted.api, wanted.error, wanted.times)

    def _expect(self, wanted: inputs.Expect) -> Outcome:
        failure = conditions.first_failure(self.cluster, wanted.clauses)
        if failure is None:
            return Outcome(passed=True)
        clause, actual = failure
        message = f"{clause.text}: it is {shown(actual)}"
        return Outcome(message=message, passed=False, actual=actual)

    def _expect_error(self, wanted: inputs.ExpectError) -> Outcome:
        last = self.state.last_error
        passed = wanted.error == last
        message = "" if passed else f"the last statement ended in {last}"
        return Outcome(message=message, passed=passed, actual=last)

    def _expect_events(self, wanted: inputs.ExpectEvents) -> Outcome:
        """The verdict of whoever gave it: a cluster keeps nothing of its past."""
        if wanted.passed is None:
            raise RefusedError("INVALID_REQUEST", "Nobody here keeps the events to look it up.")
        message = "" if wanted.passed else wanted.actual
        return Outcome(message=message, passed=wanted.passed, actual=wanted.actual)

    def _stop(self, wanted: inputs.StopBroker) -> Begun:
        self.processes.stop(wanted)
        if not wanted.wait:
            return None
        return BrokerStopped(self.now_us + OPERATION_LIMIT_US, wanted.broker)

    def _start(self, wanted: inputs.StartBroker) -> Begun:
        self.processes.start(wanted)
        if not wanted.wait:
            return None
        return BrokerRegistered(self.now_us + OPERATION_LIMIT_US, wanted.broker)

    def _ask_controller(self, ask: Callable[[Any], int]) -> Begin:
        """Begin a statement by a request to the controller; it ends with the answer."""
        return lambda wanted: ControllerAsked(NEVER_US, ask(wanted), wanted.tp)

    def _produce(self, wanted: inputs.Produce) -> Begun:
        self.admin.check_produce(wanted)
        job = self.cluster.clients.producers.start(wanted)
        return None if wanted.background else JobFinished(NEVER_US, job)

    def _consume(self, wanted: inputs.Consume) -> JobFinished:
        self.admin.check_consume(wanted)
        return JobFinished(NEVER_US, self.cluster.clients.consumers.start(wanted))

    def _fetch(self, wanted: inputs.FetchRound) -> FetchRounds:
        self.processes.check_fetch(wanted.tp, wanted.broker)
        limit_us = self.now_us + OPERATION_LIMIT_US
        return FetchRounds(limit_us, wanted.tp, wanted.broker, wanted.times)

    def _tick(self, wanted: inputs.Tick) -> TimePassing:
        self.processes.tick(wanted)
        return TimePassing(self.now_us + TICK_US)

    def _wait(self, wanted: inputs.Wait) -> TimePassing:
        return TimePassing(self.now_us + wanted.duration_us)

    def _wait_until(self, wanted: inputs.WaitUntil) -> Conditions:
        return Conditions(self.now_us + wanted.within_us, wanted.clauses)

    def _settle(self, wanted: inputs.Settle) -> Quiet:
        now_us = self.now_us
        limit_us = now_us + SETTLE_LIMIT_US
        until_us = min(now_us + wanted.quiet_us, limit_us)
        return Quiet(until_us, now_us, wanted.quiet_us, limit_us)
