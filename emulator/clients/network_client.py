"""Which broker a client asks: what it learns from connections, and nothing else.

A client begins with bootstrap.servers, which name all brokers. It does not know which of them run:
a connection is refused, breaks, or stays silent, and from then on the client prefers those that
work (``NetworkClient.leastLoadedNode`` of the Java client: a ready node before one to which it
would have to connect, and none at all whose reconnect backoff is not over).
"""

from typing import Final

from emulator.clients.context import ClientContext
from emulator.clients.state import Connections, Question
from emulator.protocol import MetadataResponse

ANSWER_US: Final = 3_000_000
"""How long a broker is waited for that any other could stand in for."""
RECONNECT_US: Final = 1_000_000
"""When a broker that refused or closed a connection is tried again (reconnect.backoff.max.ms)."""
SILENCE_US: Final = 10_000_000
"""When a broker that did not answer is tried again (socket.connection.setup.timeout.ms)."""
UNKNOWN: Final = "UNKNOWN_TOPIC_OR_PARTITION"
NO_LEADER: Final = "LEADER_NOT_AVAILABLE"


class NetworkClient:
    """Chooses the brokers that clients ask, by what each has seen of its own connections."""

    def __init__(self, context: ClientContext) -> None:
        """Choose among the brokers of bootstrap.servers."""
        self.context = context

    def candidates(self, connections: Connections) -> list[int]:
        """The brokers to ask in turn: those that work in id order, then those worth another try.

        If none of either kind is left: all.
        """
        bootstrap, failed = self.context.bootstrap, connections.failed
        if not failed:
            return list(bootstrap)
        now = self.context.now
        again = [broker for broker in bootstrap if failed.get(broker, now + 1) <= now]
        return [broker for broker in bootstrap if broker not in failed] + again or list(bootstrap)

    def begin(self, connections: Connections, question: Question) -> None:
        """Put a question to one broker after another, from the first on."""
        question.left, question.asked = self.candidates(connections), -1
        question.error = "NONE"

    # ---- what a client sees of its connections

    def answered(self, connections: Connections, broker: int) -> None:
        """A broker said something."""
        if broker not in connections.open:
            connections.open[broker] = None
            connections.failed.pop(broker, None)

    def broke(self, connections: Connections, broker: int) -> None:
        """A connection was refused, or closed by the broker."""
        connections.open.pop(broker, None)
        connections.failed[broker] = self.context.now + RECONNECT_US

    def is_silent(self, connections: Connections, broker: int) -> None:
        """A broker did not answer in time: the client closes the connection."""
        connections.open.pop(broker, None)
        connections.failed[broker] = self.context.now + SILENCE_US


def note_answer(question: Question, answer: MetadataResponse, partition: int) -> None:
    """Keep what an answer without a leader says of a partition; one that knows it counts most."""
    told = answer.error
    if told == "NONE":
        found = answer.partitions.get(partition)
        told = UNKNOWN if found is None else found.error
    if question.error != NO_LEADER:
        question.error = told
