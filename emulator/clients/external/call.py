"""A request of an external client in progress."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from emulator.clients.external_state import Connection
from emulator.protocol import AnyMessage
from emulator.wire.header import RequestHeader
from emulator.wire.types import Message

Request = TypeVar("Request", bound=Message)


class Call(NamedTuple, Generic[Request]):
    """A request and the connection it was received on; ``time_us`` is when processing began."""

    number: int
    connection: Connection
    header: RequestHeader
    message: Request

    @property
    def client(self) -> str:
        """The client's name: its client id, or the connection's number."""
        return self.header.client_id or f"connection-{self.number}"


AnyCall = Call[Any]


class Translator(Protocol):
    """Translates one wire API into messages to a broker, and their responses into a response."""

    def ask(self, call: AnyCall) -> list[AnyMessage]:
        """Return the messages to send to the connection's broker.

        A response in place of a request is used as it is, and nothing is sent for it. If the result
        is empty, only a probe is sent to the broker, since a frozen broker must not respond.
        """

    @property
    def respond(self) -> Callable[..., Message | None]:
        """Called with the call, and with the brokers' responses in the order of the requests.

        It returns the response, or None if there is none.
        """
