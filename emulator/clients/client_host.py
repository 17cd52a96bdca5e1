"""All producers and consumers: one host that talks to the brokers."""

from emulator.clients.consumer import Consumers
from emulator.clients.context import ClientContext
from emulator.clients.network_client import NetworkClient
from emulator.clients.producer import Producers
from emulator.protocol import (
    AnyMessage,
    ConnectionLost,
    FetchResponse,
    GroupResponse,
    InitProducerIdResponse,
    MetadataResponse,
    OffsetsForLeaderEpochResponse,
    ProduceResponse,
    Timer,
)


class ClientHost:
    """Gives each message to the clients that it is for."""

    def __init__(self, context: ClientContext) -> None:
        """Make the clients that stand on ``context``."""
        self.context = context
        self.state = context.state
        self.value_of = context.ledger.value_of
        connections = NetworkClient(context)
        self.producers = Producers(context, connections)
        self.consumers = Consumers(context, connections)
        self.fetcher = self.consumers.fetcher
        self.offsets = self.consumers.group
        self.members = self.offsets.members
        self._tasks = {
            "producer": self.producers.timer,
            "consumer": self.fetcher.timer,
            "group": self.members.timer,
            "heartbeat": self.members.beat,
            "group-limit": self.offsets.out_of_time,
        }

    def handle(self, source: int, message: AnyMessage) -> None:
        """Take one message."""
        match message:
            case ProduceResponse():
                self.producers.answered(source, message)
            case InitProducerIdResponse():
                self.producers.identified(source, message)
            case FetchResponse():
                self.fetcher.fetched(source, message)
            case OffsetsForLeaderEpochResponse():
                self.fetcher.validated(source, message)
            case MetadataResponse():
                asked = self.producers.told(source, message) or self.members.told(source, message)
                if not asked:
                    self.fetcher.told(source, message)
            case ConnectionLost():
                self.producers.connection_lost(message)
                self.fetcher.connection_lost(message)
                self.members.connection_lost(message)
            case Timer():
                self._tasks[message.task](message.key, message.number)
            case _:
                if isinstance(message, GroupResponse):
                    self.members.answered(source, message)
