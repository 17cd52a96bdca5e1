"""A request of a client outside, while brokers work on it."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from emulator.clients.external_state import Connection
from emulator.protocol import AnyMessage
from emulator.wire.header import RequestHeader
from emulator.wire.types import Message


class Call(NamedTuple):
    """A request with the connection that it came by; ``time_us`` is when it was begun."""

    number: int
    connection: Connection
    header: RequestHeader
    message: Message

    @property
    def client(self) -> str:
        """The name under which the client is known: its client id, or the connection's number."""
        return self.header.client_id or f"connection-{self.number}"


class Translator(Protocol):
    """Says what one API of the wire protocol asks of a broker, and how its answer is put."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """What is to be sent to the connection's broker.

        An answer in place of a request stands for what need not be sent. Nothing at all: the broker
        is only asked for a sign of life, as one that is frozen must not answer.
        """

    def answer(self, call: Call, answers: Sequence[AnyMessage]) -> Message | None:
        """The response, given the answers in the order of what was asked; None: there is none."""
