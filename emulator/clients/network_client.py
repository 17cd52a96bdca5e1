"""Broker selection: a client only uses what it learns from its own connections.

A client starts with bootstrap.servers, which lists all brokers. It does not know which of them are
running: a connection is refused, breaks or times out, and from then on the client prefers working
brokers (``NetworkClient.leastLoadedNode`` of the Java client: a ready node is preferred to one that
needs a new connection, and nodes in reconnect backoff are skipped).
"""

from typing import Final

from msgspec import Struct

from emulator.clients.context import ClientContext
from emulator.clients.state import Connections, Question
from emulator.protocol import MetadataResponse

RESPONSE_US: Final = 3_000_000
"""The timeout of a request that any other broker could handle."""
RECONNECT_US: Final = 1_000_000
"""The reconnect backoff after a refused or closed connection (reconnect.backoff.max.ms)."""
SILENCE_US: Final = 10_000_000
"""The reconnect backoff after a timeout (socket.connection.setup.timeout.ms)."""
UNKNOWN: Final = "UNKNOWN_TOPIC_OR_PARTITION"
NO_LEADER: Final = "LEADER_NOT_AVAILABLE"


class NetworkClient(Struct, eq=False):
    """Selects the brokers for a client's requests, based on the state of its own connections."""

    context: ClientContext

    def candidates(self, connections: Connections) -> list[int]:
        """The brokers to try in turn: working ones in id order, then those past their backoff.

        If neither kind is left, all of them.
        """
        bootstrap, failed = self.context.bootstrap, connections.failed
        if not failed:
            return list(bootstrap)
        now = self.context.now
        again = [broker for broker in bootstrap if failed.get(broker, now + 1) <= now]
        return [broker for broker in bootstrap if broker not in failed] + again or list(bootstrap)

    def begin(self, connections: Connections, question: Question) -> None:
        """Start a request that is sent to one broker after another."""
        question.left, question.asked = self.candidates(connections), -1
        question.error = "NONE"

    # ---- observing connections

    def responded(self, connections: Connections, broker: int) -> None:
        if broker not in connections.open:
            connections.open[broker] = None
            connections.failed.pop(broker, None)

    def broke(self, connections: Connections, broker: int) -> None:
        """A connection was refused or closed by the broker."""
        connections.open.pop(broker, None)
        connections.failed[broker] = self.context.now + RECONNECT_US

    def is_silent(self, connections: Connections, broker: int) -> None:
        """A request timed out: the client closes the connection."""
        connections.open.pop(broker, None)
        connections.failed[broker] = self.context.now + SILENCE_US


def note_response(question: Question, response: MetadataResponse, partition: int) -> None:
    """Keep an error about a partition; one from a broker that knows it takes precedence."""
    error = response.error
    if error == "NONE":
        description = response.partitions.get(partition)
        error = UNKNOWN if description is None else description.error
    if question.error != NO_LEADER:
        question.error = error
