"""Kafka's admin client: asks a broker who is controller, and the controller to do something.

A broker that says NOT_CONTROLLER, does not answer or cannot be reached costs a try; then another
one is asked, until ``default.api.timeout.ms`` is over. Source: ``KafkaAdminClient`` 2.4 to 3.9.
"""

from collections.abc import Callable

from msgspec import Struct, field

from emulator.events import CLIENTS
from emulator.protocol import (
    AdminResponse,
    AlterPartitionReassignmentsRequest,
    ConnectionLost,
    DescribeClusterRequest,
    DescribeClusterResponse,
    ElectLeadersRequest,
)
from emulator.simulation.network import Network

API_TIMEOUT_US = 60_000_000
"""When a call is given up (default.api.timeout.ms)."""
REQUEST_TIMEOUT_US = 30_000_000
"""How long one request may take (request.timeout.ms)."""
BACKOFF_US = 100_000
"""How long the client waits before the next try (retry.backoff.ms)."""

TASK = "admin"
"""The name of its timers."""

AdminRequest = ElectLeadersRequest | AlterPartitionReassignmentsRequest


class AdminCall(Struct, array_like=True):
    """A call that has not ended: what is asked, about which partition.

    ``request`` is the one under way (0: none), sent to broker ``asked`` at ``sent_us``; ``tries``
    counts how many brokers were asked who is controller. ``error`` is what the last try ended in.
    """

    wanted: AdminRequest
    tp: str
    deadline_us: int
    request: int = 0
    asked: int = -1
    sent_us: int = 0
    tries: int = 0
    error: str = "REQUEST_TIMED_OUT"


class AdminState(Struct, array_like=True):
    """The calls under way, by job."""

    calls: dict[int, AdminCall] = field(default_factory=dict)


class AdminClient:
    """Makes administrators' calls."""

    def __init__(
        self,
        state: AdminState,
        network: Network,
        *,
        new_id: Callable[[], int],
        brokers: Callable[[], list[int]],
        later: Callable[[str, str, int, int], None],
        finish: Callable[[int, str], None],
    ) -> None:
        """Act on ``state``.

        ``new_id`` gives numbers of jobs, ``brokers`` the bootstrap servers; ``later`` sets a timer
        (task, name, token, delay), and ``finish`` is told a job's error when it has ended.
        """
        self.state = state
        self.network = network
        self.kernel = network.kernel
        self.new_id = new_id
        self.brokers = brokers
        self.later = later
        self.finish = finish

    def call(self, wanted: AdminRequest, tp: str) -> int:
        """Ask the controller about one partition; returns the job's number."""
        job = self.new_id()
        self.state.calls[job] = AdminCall(wanted, tp, self.kernel.now + API_TIMEOUT_US)
        self.later(TASK, "limit", job, API_TIMEOUT_US)
        self._look_for_controller(job)
        return job

    def _look_for_controller(self, job: int) -> None:
        call = self.state.calls[job]
        brokers = self.brokers()
        if not brokers:
            self._try_again(job)
            return
        call.asked = brokers[call.tries % len(brokers)]
        call.tries += 1
        call.request = self.network.send(CLIENTS, call.asked, DescribeClusterRequest())
        self._await(job, call)

    def _await(self, job: int, call: AdminCall) -> None:
        call.sent_us = self.kernel.now
        self.later(TASK, "request", job, REQUEST_TIMEOUT_US)

    def told(self, message: DescribeClusterResponse | AdminResponse) -> None:
        """A broker answered."""
        if isinstance(message, DescribeClusterResponse):
            self._described(message)
        else:
            self._answered(message)

    def _described(self, message: DescribeClusterResponse) -> None:
        """A broker said who is controller: ask that one."""
        for job, call in self.state.calls.items():
            if call.request == message.request:
                if message.controller < 0:
                    self._try_again(job)
                    return
                call.asked = message.controller
                call.request = self.network.send(CLIENTS, call.asked, call.wanted)
                self._await(job, call)
                return

    def _answered(self, message: AdminResponse) -> None:
        """The broker that was taken for the controller answered."""
        for job, call in self.state.calls.items():
            if call.request == message.request:
                error = message.errors.get(call.tp, message.error)
                if error == "NOT_CONTROLLER":
                    call.error = error
                    self._try_again(job)
                else:
                    self._end(job, error)
                return

    def connection_lost(self, message: ConnectionLost) -> None:
        """A connection broke: what was asked there is asked again, perhaps of another broker."""
        for job, call in list(self.state.calls.items()):
            concerned = message.request in (0, call.request)
            if call.request and call.asked == message.peer and concerned:
                self._try_again(job)

    def _try_again(self, job: int) -> None:
        self.state.calls[job].request = 0
        self.later(TASK, "retry", job, BACKOFF_US)

    def timer(self, what: str, job: int) -> None:
        """A timer of a call fired; what it was for may have ended since."""
        call, now_us = self.state.calls.get(job), self.kernel.now
        if call is None:
            return
        if now_us >= call.deadline_us:
            self._end(job, call.error)
        elif what == "retry" and not call.request:
            self._look_for_controller(job)
        elif what == "request" and call.request and now_us - call.sent_us >= REQUEST_TIMEOUT_US:
            self.network.withdraw(CLIENTS, call.asked, (call.request,))
            self._try_again(job)

    def _end(self, job: int, error: str) -> None:
        del self.state.calls[job]
        self.finish(job, error)
