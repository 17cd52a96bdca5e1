"""A client of the wire protocol for tests: requests as bytes into the emulator, and out of it."""

from typing import Any, Final

from emulator.clients.external.external_clients import Delivery
from emulator.cluster import Cluster
from emulator.inputs.statements import (
    AdvertiseListeners,
    AnyInput,
    CloseConnection,
    CreateCluster,
    OpenConnection,
    ReceiveRequest,
    Statement,
)
from emulator.scenario.runner import Runner
from emulator.wire.apis import API_NAMED
from emulator.wire.codec import decode_response, encode_request
from emulator.wire.header import RequestHeader
from emulator.wire.records import memory_records
from emulator.wire.records.record import Record
from emulator.wire.types import Message

STEP_US: Final = 1_000
FAST: Final = {"offsets.topic.num.partitions": "1"}


class WireLab(Delivery):
    """A cluster with connections, driven by hand: nothing passes but virtual time."""

    def __init__(self, runner: Runner) -> None:
        """Talk to ``runner``'s cluster."""
        self.runner = runner
        self.cluster = runner.cluster
        self.external = self.cluster.clients.external
        self.external.delivery = self
        self.given: list[tuple[int, int, Statement]] = []
        self.responses: dict[int, list[bytes]] = {}
        self.closed: dict[int, str] = {}
        self._asked: dict[int, list[tuple[int, int]]] = {}
        self._numbers = 0

    @classmethod
    def made(cls, **spec: Any) -> "WireLab":
        """A new cluster with fast links."""
        config = {**FAST, **spec.pop("config", {})}
        lab = cls(Runner(Cluster(CreateCluster(latency_us=20, config=config, **spec))))
        ports = {broker: ("127.0.0.1", 9092 + broker) for broker in lab.cluster.brokers}
        lab.give(AdvertiseListeners(listeners=ports))
        return lab

    # ---- what a server does

    def respond(self, connection: int, frame: bytes) -> None:
        self.responses.setdefault(connection, []).append(frame)

    def close(self, connection: int, reason: str) -> None:
        self.closed[connection] = reason

    def fail(self, connection: int, reason: str) -> None:
        self.closed[connection] = reason

    def give(self, wanted: AnyInput, text: str = "") -> None:
        statement = Statement(wanted, text)
        self.given.append((self.runner.now_us, self.runner.steps, statement))
        self.runner.submit(statement)

    def run(self, text: AnyInput) -> str:
        """Give a statement and let it end; the error that it ends in."""
        statement = Statement(text, "")
        self.given.append((self.runner.now_us, self.runner.steps, statement))
        return self.runner.execute(statement).error

    def pass_time(self, us: int) -> None:
        self.runner.run_until(self.runner.now_us + us)

    # ---- what a client does

    def connect(
        self, broker: int = 0, listener: str = "PLAINTEXT", subject: str | None = None
    ) -> int:
        self._numbers += 1
        self.give(
            OpenConnection(
                connection=self._numbers, broker=broker, listener=listener, subject=subject
            )
        )
        self.responses[self._numbers], self._asked[self._numbers] = [], []
        return self._numbers

    def hang_up(self, connection: int) -> None:
        self.give(CloseConnection(connection=connection))

    def send(self, connection: int, request: Message, version: int, client: str = "me") -> None:
        key = API_NAMED[type(request).__name__.removesuffix("Request")].key
        self._asked[connection].append((key, version))
        header = RequestHeader(key, version, len(self._asked[connection]), client)
        self.send_frame(connection, encode_request(header, request))

    def send_frame(self, connection: int, frame: bytes) -> None:
        """Send whatever bytes, as one request."""
        self.give(ReceiveRequest(connection=connection, frame=frame))

    def received(self, connection: int, within_us: int = 5_000_000) -> Any:  # noqa: ANN401
        """The next response, for which as much virtual time passes as it takes."""
        end_us = self.runner.now_us + within_us
        while not self.responses[connection]:
            assert self.runner.now_us < end_us, "there is no response"
            self.pass_time(STEP_US)
        key, version = self._asked[connection].pop(0)
        _, message = decode_response(key, version, self.responses[connection].pop(0))
        return message

    def ask(self, connection: int, request: Message, version: int) -> Any:  # noqa: ANN401
        self.send(connection, request, version)
        return self.received(connection)


def batch_of(*values: str, magic: int = 2, timestamp: int = 1_700_000_000_000) -> bytes:
    """Records as a producer sends them."""
    return memory_records.build([Record(None, v.encode(), timestamp) for v in values], magic)


def values_in(records: bytes) -> list[tuple[int, str]]:
    """Offset and value of each record."""
    return [(each.offset, (each.value or b"").decode()) for each in memory_records.decode(records)]
