"""A broker's requests to itself, answered by a function call instead of over the network.

A coordinator's records are appended like a producer's, and it receives the outcome like one. Each
request has a number, which identifies the requesting component in the response.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from emulator.protocol import AnyMessage


class OwnRequestsState(Struct, array_like=True):
    """The requesting components, by the numbers of unanswered requests."""

    last: int = 0
    askers: dict[int, str] = field(default_factory=dict)


class OwnRequests:
    """Allocates request numbers, and dispatches responses to the requesting component."""

    def __init__(self, state: OwnRequestsState) -> None:
        self.state = state
        self._handlers: dict[str, Callable[[int, Any], None]] = {}

    def on_response(self, asker: str, handler: Callable[[int, Any], None]) -> None:
        """Pass responses to ``asker``'s requests to ``handler``, with number and response."""
        self._handlers[asker] = handler

    def number(self, asker: str) -> int:
        """Allocate a number for a request of ``asker``."""
        state = self.state
        state.last += 1
        state.askers[state.last] = asker
        return state.last

    def receive(self, number: int, response: AnyMessage) -> None:
        self._handlers[self.state.askers.pop(number)](number, response)
