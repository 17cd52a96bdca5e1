"""What open statements are waiting for, as plain data, and checks for their completion.

Each struct has a function in :data:`CHECKS`. It is called with the cluster, the struct, and whether
the struct's time limit has been reached; it returns the statement's outcome, or what it is waiting
for from now on (the same struct if nothing has changed).
"""

from collections.abc import Callable
from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from emulator.cluster import Cluster
from emulator.coordinator.internal_topics import OFFSETS, TRANSACTIONS, InternalTopic, hindrance
from emulator.inputs.conditions import Clause, Value
from emulator.scenario import conditions
from emulator.scenario.outcome import Outcome
from emulator.scenario.refusals import why_no_value

NEVER_US: Final = 1 << 62
"""A time that is never reached."""
LOOK_US: Final = 75_000
"""The delay until a condition that has become true is noticed, in KRaft mode.

A client that polls the committed log ten times a second and reacts to it does so when brokers have
had time to read it.
"""


class Pending(Struct, frozen=True, tag=True):
    """The condition that a statement waits for, until ``wake_us`` (virtual microseconds) at most.

    One that ends ``by_time`` need not be checked before that, and one that ends ``by_job`` not
    before a client has finished a job.
    """

    by_time: ClassVar[bool] = False
    by_job: ClassVar[bool] = False

    wake_us: int


class TimePassing(Pending, frozen=True):
    """`wait` and `tick`: only time."""

    by_time = True


class Quiet(Pending, frozen=True):
    """`settle`: only idle traffic for ``quiet_us``, or until ``limit_us``, whichever is first."""

    by_time = True

    begun_us: int
    quiet_us: int
    limit_us: int


class Conditions(Pending, frozen=True):
    """`wait until`: all clauses are true.

    ``seen`` is the number of the latest event at the last check: it is not repeated until there is
    another event.
    """

    clauses: list[Clause]
    seen: int = -1


class BrokerStopped(Pending, frozen=True):
    """`broker stop`: the process has ended."""

    broker: int


class BrokerRegistered(Pending, frozen=True):
    """`broker start`: the broker has registered, and in KRaft mode is unfenced."""

    broker: int


class JobFinished(Pending, frozen=True):
    """`produce`, `consume` and transactions: the client has recorded the end of this job."""

    by_job = True

    job: int
    is_transaction: bool = False


class ControllerAsked(Pending, frozen=True):
    """`election unclean` and `reassign cancel`: the admin client has the controller's response."""

    by_job = True

    job: int
    tp: str


class AdminResponded(Pending, frozen=True):
    """A statement that brokers forward to the controller (KRaft): its result is the response."""

    by_job = True

    job: int


class ControllerActive(Pending, frozen=True):
    """`controller start`: the quorum has a leader."""


class ControllerStopped(Pending, frozen=True):
    """`controller stop`: the process has ended."""

    controller: int


class FetchRounds(Pending, frozen=True):
    """`fetch`: the current round is complete, and so are the ``left`` further ones."""

    tp: str
    broker: int
    left: int


AnyPending = (
    TimePassing
    | Quiet
    | Conditions
    | BrokerStopped
    | BrokerRegistered
    | JobFinished
    | ControllerAsked
    | AdminResponded
    | ControllerActive
    | ControllerStopped
    | FetchRounds
)
"""Every kind, as the type that codecs decode."""


def _time_passing(_cluster: Cluster, pending: TimePassing, is_up: bool) -> Outcome | TimePassing:
    return Outcome() if is_up else pending


def _quiet(cluster: Cluster, pending: Quiet, is_up: bool) -> Outcome | Quiet:
    since_us = max(pending.begun_us, cluster.state.kernel.activity_us)
    until_us = min(pending.limit_us, since_us + pending.quiet_us)
    if until_us > pending.wake_us:
        return replace(pending, wake_us=until_us)
    return Outcome() if is_up else pending


def _conditions(
    cluster: Cluster, pending: Conditions, is_up: bool
) -> Outcome | Conditions | TimePassing:
    if cluster.sequence == pending.seen and not is_up:
        return pending
    failure = conditions.first_failure(cluster, pending.clauses)
    if failure is None:
        is_first_look = pending.seen < 0
        if cluster.kraft is None or is_first_look:
            return Outcome()
        return TimePassing(cluster.state.kernel.now_us + LOOK_US)
    if not is_up:
        return replace(pending, seen=cluster.sequence)
    clause, actual = failure
    message = f"{clause.text} did not come to hold: {actually(cluster, clause, actual)}"
    return Outcome("REQUEST_TIMED_OUT", message, passed=False, actual=actual, refused=True)


def _broker_stopped(
    cluster: Cluster, pending: BrokerStopped, is_up: bool
) -> Outcome | BrokerStopped:
    if cluster.brokers[pending.broker].state.state != "controlled_shutdown":
        return Outcome()
    return _late(f"Stopping broker {pending.broker}") if is_up else pending


def _broker_registered(
    cluster: Cluster, pending: BrokerRegistered, is_up: bool
) -> Outcome | BrokerRegistered:
    if cluster.is_up(pending.broker):
        return Outcome()
    return _late(f"Starting broker {pending.broker}") if is_up else pending


def _job_finished(cluster: Cluster, pending: JobFinished, _is_up: bool) -> Outcome | JobFinished:
    error = cluster.clients.state.finished.pop(pending.job, None)
    if error is None:
        return pending
    topic = TRANSACTIONS if pending.is_transaction else OFFSETS
    return Outcome(error, _hidden_reason(cluster, error, topic))


def _hidden_reason(cluster: Cluster, error: str, topic: InternalTopic) -> str:
    """The reason that a client cannot know: a coordinator's topic cannot be created."""
    if error != "COORDINATOR_NOT_AVAILABLE":
        return ""
    running = [broker for broker in cluster.brokers.values() if broker.state.state == "running"]
    if not running:
        return ""
    context = running[0].context
    return hindrance(context, topic)


def _controller_asked(
    cluster: Cluster, pending: ControllerAsked, _is_up: bool
) -> Outcome | ControllerAsked:
    error = cluster.clients.state.finished.pop(pending.job, None)
    if error is None:
        return pending
    if error == "NONE":
        return Outcome()
    sentence = REFUSALS.get(error, "The controller refused: {error} at {tp}.")
    return Outcome(error, sentence.format(error=error, tp=pending.tp), refused=True)


def _admin_responded(
    cluster: Cluster, pending: AdminResponded, _is_up: bool
) -> Outcome | AdminResponded:
    """Return the controller's response as the result, since scripts may check for its errors."""
    state = cluster.clients.state
    error = state.finished.pop(pending.job, None)
    if error is None:
        return pending
    errors = state.admin.responses.pop(pending.job, {})
    if error != "NONE":
        return Outcome(error, output=error, result=error)
    first, message = next(
        (outcome for outcome in errors.values() if outcome[0] != "NONE"), ("NONE", "")
    )
    by_name = {name or "default": code for name, (code, _) in errors.items()}
    # Of an election of all partitions, the response has those that were not led by the preferred.
    text = "\n".join(f"{name}: {code}" for name, code in by_name.items()) or "nothing to do"
    return Outcome(first, message, output=text, result=by_name)


def _controller_active(
    cluster: Cluster, pending: ControllerActive, is_up: bool
) -> Outcome | ControllerActive:
    if cluster.active_controller() is not None:
        return Outcome()
    return _late("Electing a controller") if is_up else pending


def _controller_stopped(
    cluster: Cluster, pending: ControllerStopped, is_up: bool
) -> Outcome | ControllerStopped:
    if cluster.controllers[pending.controller].state.status == "stopped":
        return Outcome()
    return _late(f"Stopping controller {pending.controller}") if is_up else pending


REFUSALS: Final = {
    "ELECTION_NOT_NEEDED": "{tp} has a leader.",
    "ELIGIBLE_LEADERS_NOT_AVAILABLE": "No replica of {tp} is alive.",
    "NO_REASSIGNMENT_IN_PROGRESS": "{tp} is not being reassigned.",
    "NOT_CONTROLLER": "There was no controller for 60 s.",
    "REQUEST_TIMED_OUT": "No controller responded for 60 s.",
}
"""The admin client's errors, each as a sentence."""


def _fetch_rounds(cluster: Cluster, pending: FetchRounds, is_up: bool) -> Outcome | FetchRounds:
    """Check whether the round is complete, and start the next one."""
    broker = cluster.brokers[pending.broker]
    if broker.state.core.fetchers.has_round(pending.tp):
        if _is_stuck(cluster, pending):
            return Outcome()
        return _late("The fetch") if is_up else pending
    if not pending.left:
        return Outcome()
    replica = broker.state.replicas.get(pending.tp)
    if replica is None:
        message = f"Broker {broker.id} has no replica of {pending.tp} any more."
        return Outcome("UNKNOWN_TOPIC_OR_PARTITION", message, refused=True)
    broker.core.rounds.start(replica)
    return replace(pending, left=pending.left - 1)


def _is_stuck(cluster: Cluster, pending: FetchRounds) -> bool:
    """Whether a round's messages are held or partitioned, or wait for a frozen process."""
    broker = pending.broker
    replica = cluster.replica(pending.tp, broker)
    if replica is None:
        return False
    leader = replica.leader
    ends = ((broker, leader), (leader, broker))
    waits = any(link.waiting for key, link in cluster.state.network.links.items() if key in ends)
    hosts = cluster.state.kernel.hosts
    return waits or any(hosts[host].frozen for host in (broker, leader))


def _late(operation: str) -> Outcome:
    return Outcome("REQUEST_TIMED_OUT", f"{operation} took longer than 120 s.", refused=True)


def actually(cluster: Cluster, clause: Clause, actual: Value) -> str:
    """Say what a condition that does not hold finds instead, or why it finds nothing."""
    if actual is conditions.NOTHING and not clause.joins:
        reason = why_no_value(cluster, clause.left)
        if reason:
            return f"{reason[0].lower()}{reason[1:].removesuffix('.')}"
    return f"it is {shown(actual)}"


def shown(value: object) -> str:
    """A value as displayed in messages."""
    return "nothing" if value is None else msgspec.json.encode(value).decode()


Check = Callable[[Cluster, Any, bool], Outcome | AnyPending]

CHECKS: Final[dict[type[Pending], Check]] = {
    TimePassing: _time_passing,
    Quiet: _quiet,
    Conditions: _conditions,
    BrokerStopped: _broker_stopped,
    BrokerRegistered: _broker_registered,
    JobFinished: _job_finished,
    ControllerAsked: _controller_asked,
    AdminResponded: _admin_responded,
    ControllerActive: _controller_active,
    ControllerStopped: _controller_stopped,
    FetchRounds: _fetch_rounds,
}
