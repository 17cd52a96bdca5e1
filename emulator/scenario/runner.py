"""Execution of statements: they are submitted, tracked while time passes, and completed.

:meth:`Runner.advance` is the only way to let time pass while statements are open: for scripts at
any speed, the console, campaigns, verification, replay and forecasts. Its caller only decides how
far to advance before checking the wall clock. However the time is sliced, the result is the same,
because statements are checked only:

- when a statement is submitted,
- after each kernel event, if anything but time can complete one of them, and
- at their time limits (:attr:`emulator.scenario.pending.Pending.wake_us`).

**A moment is complete when nothing more is due in it.** A `wait` that ends at a microsecond ends
after everything that is due in that microsecond, and so does every other time limit. (A condition
that becomes true, or a response that arrives, completes its statement right after the kernel event
that caused it, even if more is due at the same time.)
"""

from collections.abc import Callable
from enum import Enum, auto
from functools import partial
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
    AdminResponded,
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
    actually,
)
from emulator.scenario.refusals import RefusedError
from emulator.simulation.snapshot import copier

SETTLE_LIMIT_US: Final = 20_000_000
OPERATION_LIMIT_US: Final = 120_000_000
"""The timeout of `broker start`, `broker stop` and `fetch`."""
ASSERTIONS: Final = (inputs.Expect, inputs.ExpectError, inputs.ExpectEvents, inputs.Mark)
"""Statements after which `expect error` still refers to the statement before."""
TICK_US: Final = 5_000
"""How long `tick` waits for the resulting writes and responses."""
NO_LIMIT: Final = 1 << 62
"""An unlimited budget."""


class Ticket(Struct, array_like=True, eq=False):
    """A submitted statement: ``done`` once it has completed, with its ``outcome``.

    Until then ``pending`` is what it is waiting for. ``root`` is the event of its submission, the
    cause of all its effects.
    """

    statement: Statement
    root: int
    pending: AnyPending | None = None
    outcome: Outcome | None = None

    @property
    def done(self) -> bool:
        return self.outcome is not None


class RunnerState(Struct, array_like=True):
    """The runner's whole state, as plain data.

    ``open`` are the open statements, in the order of submission; ``last_error`` is the error of the
    statement that completed last.
    """

    open: list[Ticket] = field(default_factory=list)
    last_error: str = "NONE"


class Advance(Enum):
    """The reason why time has stopped advancing."""

    REACHED = auto()
    """The limit is reached, and nothing more is due by then."""
    ENDED = auto()
    """A statement has completed: the next ones are to be submitted now."""
    BUDGET = auto()
    """The budget of kernel events is used up; more are due."""
    IDLE = auto()
    """There is no kernel event left, and no statement waits for a time."""


Begun = Outcome | AnyPending | None
"""The result of a submission: an outcome (None: a plain success), or what to wait for."""
Begin = Callable[[Any], Begun]


class Runner:
    """Submits statements to one cluster, and advances its time.

    The cluster's events record submissions, outcomes and assertions. A cluster should have one
    runner; time that passes without it completes no statement.
    """

    def __init__(self, cluster: Cluster, state: RunnerState | None = None) -> None:
        """Operate on ``cluster``; no statement is open unless ``state`` has some."""
        self.cluster = cluster
        self.kernel = cluster.kernel
        self.state = RunnerState() if state is None else state
        self.admin = Admin(cluster)
        self.kraft_admin = KRaftAdmin(cluster)
        self.processes = Processes(cluster)
        self._table = self._begin_table()
        self._note_awaited()

    # ---- the cluster's position in time

    @property
    def now_us(self) -> int:
        """Virtual time in microseconds."""
        return self.cluster.now_us

    @property
    def steps(self) -> int:
        """The number of kernel events dispatched."""
        return self.cluster.steps

    @property
    def next_us(self) -> int | None:
        """The time of the next kernel event or time limit."""
        due_us = self.cluster.next_time_us
        next_us = self._wake_us if due_us is None else min(due_us, self._wake_us)
        return None if next_us == NEVER_US else next_us

    @property
    def state_hash(self) -> str:
        """The SHA-256 of the state that determines the future: the cluster and open statements.

        The wording of an open statement and its position in a script are not included.
        """
        waiting = [
            (ticket.statement.input, ticket.pending, ticket.root) for ticket in self.state.open
        ]
        encoded = msgspec.msgpack.encode((self.cluster.state_hash, waiting, self.state.last_error))
        return sha256(encoded).hexdigest()

    def fork(self) -> "Runner":
        """An independent copy of the cluster and its open statements, without observers."""
        copied = copier(RunnerState)
        assert copied is not None
        return Runner(self.cluster.fork(), copied(self.state))

    # ---- submitting statements

    def execute(self, statement: Statement) -> Outcome:
        """Submit a statement, and advance virtual time until it has completed."""
        ticket = self.submit(statement)
        while not ticket.done and self.advance() is not Advance.IDLE:
            pass
        return ticket.outcome or Outcome()

    def submit(self, statement: Statement) -> Ticket:
        """Submit a statement without advancing time."""
        kernel = self.kernel
        kernel.cause = 0
        fields = (statement.text, statement.line, self.cluster.steps)
        root = kernel.cause = kernel.emit(events.InputReceived, *fields)
        ticket = Ticket(statement, root)
        if isinstance(statement.input, inputs.OF_CONNECTIONS):
            self._take(statement.input)
            ticket.outcome = Outcome()
            return ticket
        try:
            outcome = self._table[type(statement.input)](statement.input) or Outcome()
        except RefusedError as error:
            outcome = Outcome(error.name, str(error), refused=True)
        if isinstance(outcome, Outcome):
            self._end(ticket, outcome)
        else:
            ticket.pending = outcome
            self.state.open.append(ticket)
            self._note_awaited()
        self._look()
        self.cluster.look()
        return ticket

    def _take(self, statement: inputs.Input) -> None:
        """Submit an external client's input, which neither starts nor completes a statement."""
        external = self.cluster.clients.external
        match statement:
            case inputs.ReceiveRequest(connection=connection, frame=frame):
                external.receive(connection, frame)
            case inputs.OpenConnection():
                external.open(statement)
            case inputs.CloseConnection(connection=connection, reason=reason):
                external.close(connection, reason or "closed by the client")
            case inputs.AdvertiseListeners():
                external.advertise(statement)
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

    # ---- advancing time

    def advance(self, limit_us: int = NEVER_US, budget: int = NO_LIMIT) -> Advance:
        """Advance virtual time up to and including ``limit_us``, or until a statement completes."""
        step, look = self.cluster.step, self._look
        state, finished = self.kernel.state, self.cluster.clients.state.finished
        queue, last_step = state.queue, state.steps + budget
        while True:
            wake_us, is_watchful, by_job = self._wake_us, self._is_watchful, self._awaits_jobs
            goal_us = min(limit_us, wake_us)
            while queue and queue[0][0] <= goal_us:
                if state.steps >= last_step:
                    return Advance.BUDGET
                step()
                if is_watchful and (finished or not by_job or state.now_us >= wake_us):
                    if look():
                        return Advance.ENDED
                    if wake_us != self._wake_us:
                        wake_us, is_watchful = self._wake_us, self._is_watchful
                        by_job = self._awaits_jobs
                        goal_us = min(limit_us, wake_us)
            if goal_us == NEVER_US:
                return Advance.IDLE
            state.now_us = max(state.now_us, goal_us)
            if self._wake_us > limit_us:
                return Advance.REACHED
            if look():
                return Advance.ENDED

    def run_until(self, time_us: int) -> None:
        """Advance virtual time up to and including ``time_us``, whatever completes on the way."""
        while self.advance(time_us) is not Advance.REACHED:
            pass

    def return_to(self, time_us: int, steps: int, budget: int = NO_LIMIT) -> bool:
        """Advance to a position between two kernel events that an earlier run has reached.

        The position is given by the number of ``steps`` dispatched and the time ``time_us``.
        Returns False if the ``budget`` was insufficient; call it again. A run that differs ends up
        near that position.
        """
        while True:
            remaining = min(budget, steps - self.steps)
            before = self.steps
            match self.advance(time_us, remaining):
                case Advance.REACHED:
                    return True
                case Advance.BUDGET:
                    return self.steps >= steps
            budget -= self.steps - before

    def _look(self) -> bool:
        """Complete the open statements that are finished; return whether there were any."""
        kernel, cluster = self.kernel, self.cluster
        state = kernel.state
        changed = ended = False
        for ticket in tuple(self.state.open):
            pending = ticket.pending
            assert pending is not None
            # A time limit is reached after all that is due at that microsecond has run: only so is
            # a script the same run at any speed, and in slices of any length.
            is_up = pending.wake_us <= state.now_us and not (
                state.queue and state.queue[0][0] <= state.now_us
            )
            if pending.by_time and not is_up:
                continue
            kernel.cause = ticket.root
            result = CHECKS[type(pending)](cluster, pending, is_up)
            if result is pending:
                continue
            changed = True
            if isinstance(result, Outcome):
                ended = True
                self.state.open.remove(ticket)
                self._end(ticket, result)
            else:
                ticket.pending = result
        kernel.cause = 0
        if changed:
            self._note_awaited()
        return ended

    def _note_awaited(self) -> None:
        """Update the next time limit of open statements, and what can complete one before it."""
        self._wake_us, self._is_watchful, self._awaits_jobs = NEVER_US, False, True
        for ticket in self.state.open:
            pending = ticket.pending
            assert pending is not None
            self._wake_us = min(self._wake_us, pending.wake_us)
            if not pending.by_time:
                self._is_watchful = True
                self._awaits_jobs = self._awaits_jobs and pending.by_job

    # ---- starting statements

    def _begin_table(self) -> dict[type, Begin]:
        admin, processes = self.admin, self.processes
        return {
            **processes.statements(),
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
            inputs.Mark: self._mark,
            inputs.InjectError: self._inject,
            inputs.ExpectError: self._expect_error,
            inputs.Expect: self._expect,
            inputs.ExpectEvents: self._expect_events,
            inputs.StopBroker: self._stop,
            inputs.StartBroker: self._start,
            inputs.Produce: self._produce,
            inputs.BeginTransaction: self._begin_transaction,
            inputs.ProduceInTransaction: self._produce_in_transaction,
            inputs.CommitTransaction: self._end_transaction,
            inputs.AbortTransaction: self._end_transaction,
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
        """Statements forwarded to the controller, and those invalid without ZooKeeper."""
        kraft = self.kraft_admin
        always: dict[type, Begin] = {
            inputs.AlterPartition: partial(_forward, kraft.alter_partition),
            inputs.ConfigureGroup: partial(_forward, kraft.configure_group),
            inputs.DescribeTopic: kraft.describe_topic,
        }
        if self.cluster.kraft is None:
            return always
        return always | {
            inputs.CreateTopic: partial(_forward, kraft.create_topic),
            inputs.AddPartitions: partial(_forward, kraft.add_partitions),
            inputs.ConfigureTopic: partial(_forward, kraft.configure_topic),
            inputs.ConfigureBroker: partial(_forward, kraft.configure_broker),
            inputs.DeleteTopic: partial(_forward, kraft.delete_topic),
            inputs.ElectPreferred: partial(_forward, kraft.elect_preferred),
            inputs.ElectUnclean: partial(_forward, kraft.elect_unclean),
            inputs.Reassign: partial(_forward, kraft.reassign),
            inputs.CancelReassignment: partial(_forward, kraft.cancel_reassignment),
            inputs.ZkCommand: kraft.refuse,
            inputs.ExpireSession: kraft.refuse,
        }

    def _change_controller(self, statement: inputs.ChangeController) -> Begun:
        chosen = self.processes.change_controller(statement)
        limit_us = self.now_us + OPERATION_LIMIT_US
        if statement.action == "start" and statement.wait:
            return ControllerActive(limit_us)
        if statement.action == "stop" and chosen:
            return ControllerStopped(limit_us, chosen[0])
        return None

    def _mark(self, statement: inputs.Mark) -> None:
        self.kernel.emit(events.BookmarkSet, statement.name, statement.note)

    def _inject(self, statement: inputs.InjectError) -> None:
        external = self.cluster.clients.external
        if statement.name in external.state.faults:
            raise RefusedError("INVALID_REQUEST", f"There is a fault {statement.name} already.")
        external.inject(statement)

    def _expect(self, statement: inputs.Expect) -> Outcome:
        failure = conditions.first_failure(self.cluster, statement.clauses)
        if failure is None:
            return Outcome(passed=True)
        clause, actual = failure
        message = f"{clause.text}: {actually(self.cluster, clause, actual)}"
        return Outcome(message=message, passed=False, actual=actual)

    def _expect_error(self, statement: inputs.ExpectError) -> Outcome:
        last = self.state.last_error
        passed = statement.error == last
        message = "" if passed else f"the last statement ended in {last}"
        return Outcome(message=message, passed=passed, actual=last)

    def _expect_events(self, statement: inputs.ExpectEvents) -> Outcome:
        """Return the caller's verdict, since a cluster keeps no history."""
        if statement.passed is None:
            raise RefusedError("INVALID_REQUEST", "Past events are not available here.")
        message = "" if statement.passed else statement.actual
        return Outcome(message=message, passed=statement.passed, actual=statement.actual)

    def _stop(self, statement: inputs.StopBroker) -> Begun:
        self.processes.stop(statement)
        if not statement.wait:
            return None
        return BrokerStopped(self.now_us + OPERATION_LIMIT_US, statement.broker)

    def _start(self, statement: inputs.StartBroker) -> Begun:
        self.processes.start(statement)
        if not statement.wait:
            return None
        return BrokerRegistered(self.now_us + OPERATION_LIMIT_US, statement.broker)

    def _ask_controller(self, ask: Callable[[Any], int]) -> Begin:
        """Start a statement with a request to the controller; the response completes it."""
        return lambda statement: ControllerAsked(NEVER_US, ask(statement), statement.tp)

    def _produce(self, statement: inputs.Produce) -> Begun:
        self.admin.check_produce(statement)
        job = self.cluster.clients.producers.start(statement)
        return None if statement.background else JobFinished(NEVER_US, job)

    def _begin_transaction(self, statement: inputs.BeginTransaction) -> JobFinished:
        self.admin.check_begin(statement)
        producers = self.cluster.clients.producers
        producer = producers.named(statement.producer)
        job = producers.transactions.begin(producer, statement)
        return JobFinished(NEVER_US, job, is_transaction=True)

    def _produce_in_transaction(self, statement: inputs.ProduceInTransaction) -> Begun:
        self.admin.check_in_transaction(statement.producer)
        fields = {name: getattr(statement, name) for name in statement.__struct_fields__}
        return self._produce(inputs.Produce(**fields, idempotent=True, transactional=True))

    def _end_transaction(
        self, statement: inputs.CommitTransaction | inputs.AbortTransaction
    ) -> JobFinished:
        self.admin.check_in_transaction(statement.producer)
        producers = self.cluster.clients.producers
        producer = producers.named(statement.producer)
        commit = isinstance(statement, inputs.CommitTransaction)
        job = producers.transactions.end(producer, commit=commit)
        return JobFinished(NEVER_US, job, is_transaction=True)

    def _consume(self, statement: inputs.Consume) -> JobFinished:
        self.admin.check_consume(statement)
        return JobFinished(NEVER_US, self.cluster.clients.consumers.start(statement))

    def _fetch(self, statement: inputs.FetchRound) -> FetchRounds:
        self.processes.check_fetch(statement.tp, statement.broker)
        limit_us = self.now_us + OPERATION_LIMIT_US
        return FetchRounds(limit_us, statement.tp, statement.broker, statement.times)

    def _tick(self, statement: inputs.Tick) -> TimePassing:
        self.processes.tick(statement)
        return TimePassing(self.now_us + TICK_US)

    def _wait(self, statement: inputs.Wait) -> TimePassing:
        return TimePassing(self.now_us + statement.duration_us)

    def _wait_until(self, statement: inputs.WaitUntil) -> Conditions:
        return Conditions(self.now_us + statement.within_us, statement.clauses)

    def _settle(self, statement: inputs.Settle) -> Quiet:
        now_us = self.now_us
        limit_us = now_us + SETTLE_LIMIT_US
        until_us = min(now_us + statement.quiet_us, limit_us)
        return Quiet(until_us, now_us, statement.quiet_us, limit_us)


def _forward(ask: Callable[[Any], int], statement: inputs.AnyInput) -> AdminResponded:
    """Start a statement with a request whose response is the statement's result."""
    return AdminResponded(NEVER_US, ask(statement))
