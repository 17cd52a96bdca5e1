"""What a broker asks of itself: it is answered by a call, not over the network.

A coordinator's records are appended as a producer's would be, and it learns how that ended as one
would. Each request has a number, which says whose it is when the answer comes.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from emulator.protocol import AnyMessage


class OwnRequestsState(Struct, array_like=True):
    """Who asked, by the numbers of the requests that are not answered yet."""

    last: int = 0
    askers: dict[int, str] = field(default_factory=dict)


class OwnRequests:
    """Gives out numbers, and answers to whoever asked."""

    def __init__(self, state: OwnRequestsState) -> None:
        """Remember in ``state``."""
        self.state = state
        self._handlers: dict[str, Callable[[int, Any], None]] = {}

    def on_answer(self, asker: str, handler: Callable[[int, Any], None]) -> None:
        """Tell ``handler`` the answers to ``asker``: the number and the response."""
        self._handlers[asker] = handler

    def number(self, asker: str) -> int:
        """A number for a request that ``asker`` is about to make."""
        state = self.state
        state.last += 1
        state.askers[state.last] = asker
        return state.last

    def answered(self, number: int, response: AnyMessage) -> None:
        """Take a response."""
        self._handlers[self.state.askers.pop(number)](number, response)
