"""Kafka's admin client: finds the controller through a broker and sends it requests.

A broker that returns NOT_CONTROLLER, times out or cannot be reached costs an attempt; another one
is then tried until ``default.api.timeout.ms`` expires. Source: ``KafkaAdminClient`` 2.4 to 3.9.
"""

from emulator.clients.context import ClientContext
from emulator.clients.network_client import NetworkClient
from emulator.clients.state import AdminCall, AdminRequest
from emulator.protocol import (
    AdminResponse,
    AlterPartitionResponse,
    ConnectionLost,
    DescribeClusterRequest,
    DescribeClusterResponse,
    TopicsResponse,
)

API_TIMEOUT_US = 60_000_000
"""The timeout of a call (default.api.timeout.ms)."""
REQUEST_TIMEOUT_US = 30_000_000
"""The timeout of a request (request.timeout.ms)."""
BACKOFF_US = 100_000
"""The backoff before a retry (retry.backoff.ms)."""

TASK = "admin"
"""The name of the admin client's timers."""


class AdminClient:
    """Performs administrators' calls."""

    def __init__(self, context: ClientContext, connections: NetworkClient) -> None:
        """Send through ``context``; ``connections`` selects brokers to ask for the controller."""
        self.context = context
        self.state = context.state.admin
        self.connections = connections

    def call(self, request: AdminRequest, tp: str) -> int:
        """Send a request about one partition to the controller; return the job's number."""
        job = self.context.new_id()
        self.state.calls[job] = AdminCall(request, tp, self.context.now + API_TIMEOUT_US)
        self.context.later(TASK, "limit", job, API_TIMEOUT_US)
        self._look_for_controller(job)
        return job

    def ask(
        self, request: AdminRequest, timeout_us: int, controller: int = -1, broker: int = -1
    ) -> int:
        """Send a request to a broker, or directly to a controller (KRaft), within ``timeout_us``.

        ``broker`` is the first to be tried (-1: any). Returns the job's number; when the call has
        completed, its errors are in ``responses``.
        """
        job = self.context.new_id()
        deadline_us = self.context.now + timeout_us
        self.state.calls[job] = AdminCall(
            request, "", deadline_us, error="NETWORK_EXCEPTION", controller=controller
        )
        self.context.later(TASK, "limit", job, timeout_us)
        self._look_for_controller(job, broker)
        return job

    def _look_for_controller(self, job: int, first: int = -1) -> None:
        call = self.state.calls[job]
        if call.controller >= 0:
            call.asked = call.controller
            call.request = self.context.send(call.asked, call.message)
            self._await(job, call)
            return
        candidates = self.connections.candidates(self.state.connections)
        call.asked = candidates[0] if first < 0 else first
        call.request = self.context.send(call.asked, DescribeClusterRequest())
        self._await(job, call)

    def _await(self, job: int, call: AdminCall) -> None:
        call.sent_us = self.context.now
        self.context.later(TASK, "request", job, REQUEST_TIMEOUT_US)

    def response_received(
        self,
        source: int,
        message: DescribeClusterResponse | AdminResponse | AlterPartitionResponse | TopicsResponse,
    ) -> None:
        self.connections.responded(self.state.connections, source)
        if isinstance(message, DescribeClusterResponse):
            self._described(message)
        elif isinstance(message, AlterPartitionResponse):
            errors = {tp: error for tp, (error, _) in message.partitions.items()}
            self._on_response(AdminResponse(message.request, message.error, errors))
        elif isinstance(message, TopicsResponse):
            response = AdminResponse(message.request, "NONE", message.errors, message.messages)
            self._on_response(response)
        else:
            self._on_response(message)

    def _described(self, message: DescribeClusterResponse) -> None:
        """Send the call to the controller named by a broker."""
        for job, call in self.state.calls.items():
            if call.request == message.request:
                if message.controller < 0:
                    self._try_again(job)
                    return
                call.asked = message.controller
                call.request = self.context.send(call.asked, call.message)
                self._await(job, call)
                return

    def _on_response(self, message: AdminResponse) -> None:
        """Handle the response of the presumed controller."""
        for job, call in self.state.calls.items():
            if call.request == message.request:
                error = message.errors.get(call.tp, message.error)
                if error == "NOT_CONTROLLER" and call.controller < 0:
                    call.error = error
                    self._try_again(job)
                elif not call.tp:
                    self.state.responses[job] = {
                        name: (error, message.messages.get(name, ""))
                        for name, error in message.errors.items()
                    }
                    self._end(job, message.error)
                else:
                    self._end(job, error)
                return

    def connection_lost(self, message: ConnectionLost) -> None:
        """Retry the requests of a broken connection, possibly with another broker."""
        for job, call in list(self.state.calls.items()):
            concerned = message.request in (0, call.request)
            if call.request and call.asked == message.peer and concerned:
                self.connections.broke(self.state.connections, message.peer)
                self._try_again(job)

    def _try_again(self, job: int) -> None:
        self.state.calls[job].request = 0
        self.context.later(TASK, "retry", job, BACKOFF_US)

    def timer(self, what: str, job: int) -> None:
        """Handle a call's timer; the call may have completed since."""
        call, now_us = self.state.calls.get(job), self.context.now
        if call is None:
            return
        if now_us >= call.deadline_us:
            self._end(job, call.error)
        elif what == "retry" and not call.request:
            self._look_for_controller(job)
        elif what == "request" and call.request and now_us - call.sent_us >= REQUEST_TIMEOUT_US:
            self.context.withdraw(call.asked, call.request)
            self.connections.is_silent(self.state.connections, call.asked)
            self._try_again(job)

    def _end(self, job: int, error: str) -> None:
        del self.state.calls[job]
        self.context.state.finished[job] = error
