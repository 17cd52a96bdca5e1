"""All producers and consumers.

One host that talks to the brokers and keeps the ledger of what was produced.
"""

from emulator.broker_context import World
from emulator.clients.admin import AdminClient
from emulator.clients.consumer import Consumers
from emulator.clients.group_member import Groups
from emulator.clients.producer import Producers
from emulator.clients.state import ClientsState
from emulator.events import CLIENTS
from emulator.protocol import (
    AdminResponse,
    AnyMessage,
    ConnectionLost,
    DescribeClusterResponse,
    FetchResponse,
    GroupResponse,
    InitProducerIdResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceResponse,
    Timer,
)
from emulator.storage.record_ledger import LedgerEntry


class Clients:
    """The clients' behaviour."""

    def __init__(self, state: ClientsState, world: World) -> None:
        """Act on ``state`` in ``world``."""
        self.state = state
        self.world = world
        self.kernel = world.kernel
        world.ledger = self
        self.producers = Producers(self)
        self.consumers = Consumers(self)
        self.groups = Groups(self)
        self.admin = AdminClient(
            state.admin,
            world.network,
            new_id=self.new_id,
            brokers=self.askable,
            later=self.later,
            finish=self._finish,
        )
        self._tasks = {
            "admin": self.admin.timer,
            "producer": self.producers.timer,
            "consumer": self.consumers.timer,
            "group": self.groups.timer,
            "heartbeat": self.groups.beat,
            "group-limit": self.groups.positions.out_of_time,
        }

    def handle(self, source: int, message: AnyMessage) -> None:
        """Take one message."""
        match message:
            case ProduceResponse():
                self.producers.answered(message)
            case InitProducerIdResponse():
                self.producers.identified(message)
            case FetchResponse():
                self.consumers.fetched(message)
            case MetadataResponse():
                if not (self.producers.told(source, message) or self.groups.told(message)):
                    self.consumers.told(source, message)
            case ConnectionLost():
                self.producers.connection_lost(message)
                self.consumers.connection_lost(message.peer, message.request)
                self.groups.connection_lost(message)
                self.admin.connection_lost(message)
            case Timer():
                self._tasks[message.task](message.key, message.number)
            case _:
                if isinstance(message, GroupResponse):
                    self.groups.answered(message)
                elif isinstance(message, DescribeClusterResponse | AdminResponse):
                    self.admin.told(message)

    def _finish(self, job: int, error: str) -> None:
        """A job that somebody waits for has ended."""
        self.state.finished[job] = error

    # ---- shared by producers and consumers

    def new_id(self) -> int:
        """A number for a statement or a timer's token."""
        self.state.next_id += 1
        return self.state.next_id

    def askable(self) -> list[int]:
        """The running, unfrozen brokers in id order: who can be asked for metadata."""
        hosts = self.kernel.state.hosts
        return [
            number for number, h in sorted(hosts.items()) if number >= 0 and h.up and not h.frozen
        ]

    def ask(self, broker: int, topic: str) -> int:
        """Ask a broker for the leaders of a topic; returns the request's number."""
        return self.world.network.send(CLIENTS, broker, MetadataRequest(topic))

    def no_leader_error(self, topic: str) -> str:
        """The error when no broker names a leader: there is none yet, or there is no such topic."""
        find = self.world.zookeeper.find
        exists = find(f"/brokers/topics/{topic}") is not None
        going = find(f"/admin/delete_topics/{topic}") is not None
        return "LEADER_NOT_AVAILABLE" if exists and not going else "UNKNOWN_TOPIC_OR_PARTITION"

    def later(self, task: str, name: str, token: int, delay_us: int) -> None:
        """Let a client be told after ``delay_us``."""
        self.kernel.timer(CLIENTS, delay_us, task, name, token)

    # ---- the ledger

    def name_records(
        self, writer: str, tp: str, keys: list[str | None], values: list[str], /
    ) -> int:
        """Enter records that no producer sends (a coordinator's); returns the id of the first."""
        state = self.state
        first, state.next_record = state.next_record, state.next_record + len(values)
        state.ledger.append(LedgerEntry(first, writer, tp, keys, values, -1))
        return first

    def entry_of(self, record: int) -> LedgerEntry:
        """The ledger's entry that holds a record id."""
        ledger = self.state.ledger
        return ledger[ledger.bisect_right(record, _first_record) - 1]

    def value_of(self, record: int, /) -> str:
        """A record's value."""
        entry = self.entry_of(record)
        return entry.values[record - entry.first_record]


def _first_record(entry: LedgerEntry) -> int:
    return entry.first_record
