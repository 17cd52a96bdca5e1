"""Running statements: what each begins, when it is over, and how it ended."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from emulator import events
from emulator.coordinator import offsets_topic
from emulator.inputs import statements as inputs
from emulator.inputs.statements import Statement
from emulator.scenario import conditions
from emulator.scenario.admin import Admin, RefusedError
from emulator.scenario.faults import Processes

if TYPE_CHECKING:
    from emulator.cluster import Cluster

SETTLE_LIMIT_US = 20_000_000
OPERATION_LIMIT_US = 120_000_000
"""How long `broker start`, `broker stop` and `fetch` may take before they are given up."""


class Outcome(Struct, frozen=True):
    """How a statement ended.

    ``error`` is a Kafka or ZooKeeper error's name or ``NONE``; ``message`` says it in a sentence.
    ``output`` and ``result`` are what a ``zk`` statement prints, as text and as plain data.
    ``passed`` is an assertion's verdict, ``actual`` its left side's value. ``refused`` statements
    count as failed expectations unless the next one expects their error.
    """

    error: str = "NONE"
    message: str = ""
    output: str | None = None
    result: Any = None
    passed: bool | None = None
    actual: Any = None
    refused: bool = False


class Ticket:
    """A statement that was submitted: ``done`` once it has ended, with its ``outcome``.

    ``wake_us`` is a time at which it has to be looked at even if nothing is due by then.
    """

    def __init__(self, statement: Statement) -> None:
        """For ``statement``, under way."""
        self.statement = statement
        self.outcome: Outcome | None = None
        self.wake_us: int | None = None
        self.check: Callable[[], Outcome | None] | None = None
        self.root = 0

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.outcome is not None


Begun = Outcome | Callable[[], Outcome | None]
"""A statement's end, or how to find out whether it has come."""


class Execution:
    """Begins statements and notes their ends."""

    def __init__(self, cluster: "Cluster") -> None:
        """Act on ``cluster``."""
        self.cluster = cluster
        self.kernel = cluster.kernel
        self.admin = Admin(cluster)
        self.processes = Processes(cluster)
        self.last_error = "NONE"
        self.open: list[Ticket] = []
        self._table: dict[type, Callable[[Any, Ticket], Begun]] = self._begin_table()

    def submit(self, statement: Statement) -> Ticket:
        """Begin a statement."""
        ticket = Ticket(statement)
        kernel = self.kernel
        kernel.cause = 0
        ticket.root = kernel.cause = kernel.emit(
            events.InputReceived, statement.text, statement.line, self.cluster.steps
        )
        try:
            begun = self._table[type(statement.input)](statement.input, ticket)
        except RefusedError as error:
            begun = Outcome(error.name, str(error), refused=True)
        if isinstance(begun, Outcome):
            self._end(ticket, begun)
        else:
            ticket.check = begun
            self.open.append(ticket)
            self.poll()
        kernel.cause = 0
        self.cluster.look()
        return ticket

    def poll(self) -> None:
        """Look whether open statements have ended."""
        for ticket in list(self.open):
            assert ticket.check is not None
            self.kernel.cause = ticket.root
            outcome = ticket.check()
            if outcome is not None:
                self.open.remove(ticket)
                self._end(ticket, outcome)
        self.kernel.cause = 0

    def _end(self, ticket: Ticket, outcome: Outcome) -> None:
        ticket.outcome = outcome
        self.cluster.audit.settle()
        statement = ticket.statement
        kind = type(statement.input)
        self.kernel.cause = ticket.root
        if outcome.refused:
            if outcome.error != statement.expected_error:
                actual = outcome.error if outcome.passed is None else outcome.actual
                self._checked(statement, False, actual)
        elif outcome.passed is not None:
            self._checked(statement, outcome.passed, outcome.actual)
        if kind not in (inputs.Expect, inputs.ExpectError, inputs.Mark):
            self.last_error = outcome.error
        self.kernel.emit(events.InputFinished, statement.text, statement.line, outcome.error)

    def _checked(self, statement: Statement, passed: bool, actual: object) -> None:
        shown = msgspec.json.encode(actual).decode()
        text = statement.text.removeprefix("expect").strip()
        self.kernel.emit(events.ExpectationChecked, text, statement.line, passed, shown)

    def _begin_table(self) -> dict[type, Callable[[Any, Ticket], Begun]]:
        def at_once(work: Callable[[Any], Outcome | None]) -> Callable[[Any, Ticket], Begun]:
            return lambda wanted, ticket: work(wanted) or Outcome()

        admin, processes = self.admin, self.processes
        return {
            inputs.CreateTopic: at_once(admin.create_topic),
            inputs.AddPartitions: at_once(admin.add_partitions),
            inputs.ConfigureTopic: at_once(admin.configure_topic),
            inputs.ConfigureBroker: at_once(admin.configure_broker),
            inputs.DeleteTopic: at_once(admin.delete_topic),
            inputs.ElectPreferred: at_once(admin.elect_preferred),
            inputs.ElectUnclean: at_once(admin.elect_unclean),
            inputs.Reassign: at_once(admin.reassign),
            inputs.CancelReassignment: at_once(admin.cancel_reassignment),
            inputs.ZkCommand: at_once(self._zk),
            inputs.ExpireSession: at_once(admin.expire_session),
            inputs.CrashBroker: at_once(processes.crash),
            inputs.FreezeBroker: at_once(processes.freeze),
            inputs.ThawBroker: at_once(processes.thaw),
            inputs.PauseReplica: at_once(processes.pause_replica),
            inputs.ResumeReplica: at_once(processes.resume_replica),
            inputs.CutLink: at_once(processes.cut),
            inputs.HealLinks: at_once(processes.heal),
            inputs.DelayLink: at_once(processes.delay),
            inputs.DropOnLink: at_once(processes.drop),
            inputs.IsolateBroker: at_once(processes.isolate),
            inputs.HoldMessages: at_once(processes.hold),
            inputs.ReleaseMessages: at_once(processes.release),
            inputs.Mark: at_once(self._mark),
            inputs.ExpectError: at_once(self._expect_error),
            inputs.Expect: at_once(self._expect),
            inputs.StopBroker: self._stop,
            inputs.StartBroker: self._start,
            inputs.Produce: self._produce,
            inputs.Consume: self._consume,
            inputs.FetchRound: self._fetch,
            inputs.Tick: self._tick,
            inputs.Wait: self._wait,
            inputs.WaitUntil: self._wait_until,
            inputs.Settle: self._settle,
        }

    # ---- assertions and bookmarks

    def _mark(self, wanted: inputs.Mark) -> None:
        self.kernel.emit(events.BookmarkSet, wanted.name, wanted.note)

    def _expect(self, wanted: inputs.Expect) -> Outcome:
        failure = conditions.first_failure(self.cluster, wanted.clauses)
        if failure is None:
            return Outcome(passed=True)
        clause, actual = failure
        message = f"{clause.text}: it is {_shown(actual)}"
        return Outcome(message=message, passed=False, actual=actual)

    def _expect_error(self, wanted: inputs.ExpectError) -> Outcome:
        passed = wanted.error == self.last_error
        message = "" if passed else f"the last statement ended in {self.last_error}"
        return Outcome(message=message, passed=passed, actual=self.last_error)

    def _zk(self, wanted: inputs.ZkCommand) -> Outcome:
        done = self.admin.zk_command(wanted)
        return Outcome(done.error, done.message, done.output, done.result)

    # ---- processes

    def _limited(self, ticket: Ticket, what: str) -> Callable[[], Outcome | None]:
        """A check that gives up after two minutes."""
        limit_us = self.cluster.now_us + OPERATION_LIMIT_US
        ticket.wake_us = limit_us

        def late() -> Outcome | None:
            if self.cluster.now_us < limit_us:
                return None
            return Outcome("REQUEST_TIMED_OUT", f"{what} took longer than 120 s.", refused=True)

        return late

    def _stop(self, wanted: inputs.StopBroker, ticket: Ticket) -> Begun:
        broker = self.processes.stop(wanted)
        late = self._limited(ticket, f"Stopping broker {wanted.broker}")
        return lambda: Outcome() if broker.state.state != "controlled_shutdown" else late()

    def _start(self, wanted: inputs.StartBroker, ticket: Ticket) -> Begun:
        broker = self.processes.start(wanted)
        late = self._limited(ticket, f"Starting broker {wanted.broker}")
        return lambda: Outcome() if broker.state.broker_epoch else late()

    # ---- clients

    def _produce(self, wanted: inputs.Produce, _ticket: Ticket) -> Begun:
        self.admin.check_produce(wanted)
        job = self.cluster.clients.producers.start(wanted)
        return Outcome() if wanted.background else self._finished(job)

    def _consume(self, wanted: inputs.Consume, _ticket: Ticket) -> Begun:
        self.admin.check_consume(wanted)
        return self._finished(self.cluster.clients.consumers.start(wanted))

    def _finished(self, number: int) -> Callable[[], Outcome | None]:
        finished = self.cluster.clients.state.finished

        def check() -> Outcome | None:
            error = finished.pop(number, None)
            return None if error is None else Outcome(error, self._why(error))

        return check

    def _why(self, error: str) -> str:
        """What a client cannot know of its error: that the topic for groups cannot be made."""
        running = [b for b in self.cluster.brokers.values() if b.state.state == "running"]
        unavailable = error == "COORDINATOR_NOT_AVAILABLE"
        return offsets_topic.hindrance(running[0].context) if running and unavailable else ""

    # ---- replication by hand

    def _fetch(self, wanted: inputs.FetchRound, ticket: Ticket) -> Begun:
        broker = self.processes.fetching(wanted.tp, wanted.broker)
        replica = broker.state.replicas[wanted.tp]
        left = wanted.times
        late = self._limited(ticket, "The fetch")

        def check() -> Outcome | None:
            nonlocal left
            if wanted.tp in broker.state.fetchers.single_rounds.values():
                if self._stuck(broker.id, wanted.tp):
                    return Outcome()
                return late()
            if left == 0:
                return Outcome()
            left -= 1
            broker.rounds.start(replica)
            return None

        return check

    def _stuck(self, broker: int, tp: str) -> bool:
        """Whether a round's request or answer is held, cut or waits for a frozen process."""
        leader = self.cluster.brokers[broker].state.replicas[tp].leader
        links = self.cluster.state.network.links
        waits = any(
            link.waiting
            for key, link in links.items()
            if key in ((broker, leader), (leader, broker))
        )
        hosts = self.cluster.state.kernel.hosts
        return waits or any(hosts[h].frozen for h in (broker, leader))

    def _tick(self, wanted: inputs.Tick, ticket: Ticket) -> Begun:
        self.processes.tick(wanted)
        until_us = self.cluster.now_us + 5_000
        ticket.wake_us = until_us
        return lambda: Outcome() if self.cluster.now_us >= until_us else None

    # ---- time

    def _wait(self, wanted: inputs.Wait, ticket: Ticket) -> Begun:
        until_us = self.cluster.now_us + wanted.duration_us
        ticket.wake_us = until_us
        return lambda: Outcome() if self.cluster.now_us >= until_us else None

    def _wait_until(self, wanted: inputs.WaitUntil, ticket: Ticket) -> Begun:
        cluster = self.cluster
        limit_us = cluster.now_us + wanted.within_us
        ticket.wake_us = limit_us
        looked_at = -1

        def check() -> Outcome | None:
            nonlocal looked_at
            if cluster.sequence == looked_at and cluster.now_us < limit_us:
                return None
            looked_at = cluster.sequence
            failure = conditions.first_failure(cluster, wanted.clauses)
            if failure is None:
                return Outcome()
            if cluster.now_us < limit_us:
                return None
            clause, actual = failure
            message = f"{clause.text} did not come to hold: it is {_shown(actual)}"
            return Outcome("REQUEST_TIMED_OUT", message, passed=False, actual=actual, refused=True)

        return check

    def _settle(self, wanted: inputs.Settle, ticket: Ticket) -> Begun:
        cluster = self.cluster
        begun_us = cluster.now_us
        limit_us = begun_us + SETTLE_LIMIT_US
        ticket.wake_us = begun_us + wanted.quiet_us

        def check() -> Outcome | None:
            since_us = max(begun_us, cluster.state.kernel.activity_us)
            quiet_until_us = min(limit_us, since_us + wanted.quiet_us)
            ticket.wake_us = quiet_until_us
            return Outcome() if cluster.now_us >= quiet_until_us else None

        return check


def _shown(value: object) -> str:
    """A value as a message shows it."""
    return "nothing" if value is None else msgspec.json.encode(value).decode()
