"""A broker's channel to the active controller: one request at a time, retried until it times out.

Requests go to the first leader of the quorum that the broker knew, even long after there is a new
one. If that node is unreachable, silent, or answers that it is not the active controller, the
broker looks the leader up again.
Source: ``NodeToControllerChannelManager`` and ``NodeToControllerRequestThread`` 3.9 to 4.1.
"""

from collections.abc import Callable
from typing import Any, Final

from emulator.broker.kraft_membership.state import ChannelState, Pending
from emulator.broker_context import BrokerContext
from emulator.protocol import AnyMessage, ConnectionLost

RETRY_US: Final = 50_000
"""How long a broker waits before it looks up the controller again."""
NOT_CONTROLLER: Final = "NOT_CONTROLLER"

OnResponse = Callable[[Pending, Any], None]
"""Handles a request and its response; None if it timed out."""


class ControllerChannel:
    """Sends one kind of request to the active controller."""

    def __init__(
        self,
        context: BrokerContext,
        state: ChannelState,
        name: str,
        timeout_us: Callable[[], int],
        on_response: OnResponse,
    ) -> None:
        """Send in ``context``; ``name`` prefixes the names of its timers.

        ``timeout_us`` is the timeout of a single attempt.
        """
        self.context = context
        self.state = state
        self.retry_task = f"{name}-retry"
        self.timeout_task = f"{name}-timeout"
        self.timeout_us = timeout_us
        self.on_response = on_response

    def ask(
        self, message: AnyMessage, patience_us: int, source: int = -1, client_request: int = 0
    ) -> None:
        """Send a request, retrying for up to ``patience_us``."""
        deadline_us = self.context.kernel.now + patience_us
        self.state.queue.append(Pending(message, deadline_us, source, client_request))
        self.pump()

    def controller_known(self) -> None:
        """Remember the quorum's leader, unless another node is still presumed to be it."""
        if self.state.controller < 0:
            self.state.controller = self.context.process.known_controller

    def pump(self) -> None:
        """Send the next request if none is in flight and the controller is known."""
        state, context = self.state, self.context
        now_us = context.kernel.now
        while state.queue and not state.request and state.queue[0].deadline_us <= now_us:
            self.on_response(state.queue.pop(0), None)
        if state.request or not state.queue:
            return
        self.controller_known()
        if state.controller < 0:
            context.later(self.retry_task, RETRY_US)
            return
        message = state.queue[0].message
        state.request = context.network.send(context.id, state.controller, message)
        at_us = now_us + self.timeout_us()
        context.timers.set_deadline(self.timeout_task, "", at_us)

    def take(self, request: int, response: Any) -> bool:  # noqa: ANN401 - a response of any kind
        """Handle a response if it belongs to this channel; return whether it does."""
        state = self.state
        if not state.request or state.request != request:
            return False
        state.request = 0
        if getattr(response, "error", "") == NOT_CONTROLLER:
            self._look_again()
        else:
            self.on_response(state.queue.pop(0), response)
            self.pump()
        return True

    def connection_lost(self, message: ConnectionLost) -> None:
        """Handle a broken or refused connection to the controller."""
        state = self.state
        is_ours = message.request in (0, state.request)
        if state.request and message.peer == state.controller and is_ours:
            self._look_again()

    def check_timeout(self) -> None:
        """Retry if the controller has not answered in time."""
        if self.context.timers.overdue(self.timeout_task) and self.state.request:
            self.context.network.give_up(self.context.id, self.state.controller)
            self._look_again()

    def _look_again(self) -> None:
        """Retry with the quorum's leader; after a backoff if that is the node which failed."""
        state = self.state
        failed, state.request, state.controller = state.controller, 0, -1
        if self.context.process.known_controller in (-1, failed):
            self.context.later(self.retry_task, RETRY_US)
        else:
            self.pump()
