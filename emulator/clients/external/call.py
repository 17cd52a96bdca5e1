"""A request of an external client in progress."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from emulator.clients.external_state import Connection
from emulator.protocol import AnyMessage
from emulator.wire.header import RequestHeader
from emulator.wire.types import Message


class Call(NamedTuple):
    """A request and the connection it was received on; ``time_us`` is when processing began."""

    number: int
    connection: Connection
    header: RequestHeader
    message: Message

    @property
    def client(self) -> str:
        """The client's name: its client id, or the connection's number."""
        return self.header.client_id or f"connection-{self.number}"


class Translator(Protocol):
    """Translates one wire API into messages to a broker, and their responses into a response."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Return the messages to send to the connection's broker.

        A response in place of a request is used as it is, and nothing is sent for it. If the result
        is empty, only a probe is sent to the broker, since a frozen broker must not respond.
        """

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message | None:
        """The response, from the brokers' responses in request order; None if there is none."""
