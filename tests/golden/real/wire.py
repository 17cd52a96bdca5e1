"""Kafka's wire protocol as a client speaks it: as few requests, and as old, as will do.

Every release up to 3.9 answers the oldest versions of Metadata, Produce and Fetch.
"""

import socket
import struct
from typing import NamedTuple

ANY = -1
PRODUCE, FETCH, METADATA, INIT_PRODUCER_ID = 0, 1, 3, 22
ELECT_LEADERS, ALTER_PARTITION_REASSIGNMENTS = 43, 45
CORRELATION_ID = 7
CLIENT = "recorder"
FETCH_BYTES = 1 << 20
Assigned = list[int] | None
"""The replicas wanted of a partition; None: those it had before it was moved."""


class WireError(ConnectionError):
    """No response, or none that could be read."""


class Told(NamedTuple):
    """What a broker tells clients of one partition."""

    error: int
    leader: int
    isr: list[int]


class Fetched(NamedTuple):
    """A fetch's response; ``preferred`` is the replica a leader sends the consumer to, or -1."""

    error: int
    high_watermark: int
    records: bytes
    preferred: int = -1


def string(text: str) -> bytes:
    """A string with its length."""
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def one(item: bytes) -> bytes:
    """An array of one item."""
    return struct.pack(">i", 1) + item


class Reader:
    """Reads a response from its beginning."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, kind: str) -> int:
        """The next number, by its format letter."""
        (value,) = struct.unpack_from(">" + kind, self.data, self.at)
        self.at += struct.calcsize(">" + kind)
        return int(value)

    def skip(self, kinds: str) -> None:
        """Pass over so many numbers; ``s`` is a string."""
        for kind in kinds:
            if kind == "s":
                self.pass_over(self.take("h"))
            else:
                self.take(kind)

    def pass_over(self, size: int) -> None:
        """Skip so many bytes; a negative number is none."""
        self.at += max(size, 0)

    def numbers(self) -> list[int]:
        """An array of 4-byte numbers."""
        return [self.take("i") for _ in range(self.take("i"))]

    def rest(self) -> bytes:
        """Bytes with their length."""
        size = max(self.take("i"), 0)
        self.at += size
        return self.data[self.at - size : self.at]


def call(port: int, api: int, version: int, body: bytes, timeout: float = 5.0) -> Reader:
    """One request on a connection of its own, and its response.

    Raises:
        OSError: nobody is there, or there is no response in time.
    """
    with _sent(port, api, version, body, timeout) as connection:
        (size,) = struct.unpack(">i", _received(connection, 4))
        return Reader(_received(connection, size)[4:])


def tell(port: int, api: int, version: int, body: bytes, timeout: float = 5.0) -> None:
    """One request that has no response."""
    _sent(port, api, version, body, timeout).close()


def _sent(port: int, api: int, version: int, body: bytes, timeout: float) -> socket.socket:
    head = struct.pack(">hhi", api, version, CORRELATION_ID) + string(CLIENT)
    connection = socket.create_connection(("127.0.0.1", port), timeout=timeout)
    connection.sendall(struct.pack(">i", len(head + body)) + head + body)
    return connection


def _received(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        got = connection.recv(size - len(data))
        if not got:
            raise WireError("the broker closed the connection")
        data += got
    return data


def metadata(port: int, topic: str, timeout: float = 3.0) -> dict[int, Told]:
    """What a broker tells of each partition of a topic (Metadata v0)."""
    response = call(port, METADATA, 0, one(string(topic)), timeout)
    for _ in range(response.take("i")):
        response.skip("isi")
    told: dict[int, Told] = {}
    for _ in range(response.take("i")):
        response.skip("hs")
        for _ in range(response.take("i")):
            error, partition, leader = response.take("h"), response.take("i"), response.take("i")
            response.numbers()
            told[partition] = Told(error, leader, response.numbers())
    return told


def produce(
    port: int, topic: str, partition: int, batch: bytes, *, acks: int, timeout_ms: int, version: int
) -> int:
    """The error that a batch's append was answered with (Produce v0, or v3 for batches of v2)."""
    transaction = struct.pack(">h", -1) if version >= 3 else b""
    records = struct.pack(">ii", partition, len(batch)) + batch
    body = transaction + struct.pack(">hi", acks, timeout_ms) + one(string(topic) + one(records))
    patience = timeout_ms / 1000 + 2
    if acks == 0:
        tell(port, PRODUCE, version, body, patience)
        return 0
    response = call(port, PRODUCE, version, body, patience)
    response.skip("isii")
    return response.take("h")


def fetch(port: int, topic: str, partition: int, offset: int, timeout: float = 3.0) -> Fetched:
    """What a leader gives a consumer (Fetch v0)."""
    wanted = struct.pack(">iqi", partition, offset, FETCH_BYTES)
    body = struct.pack(">iii", ANY, 100, 0) + one(string(topic) + one(wanted))
    response = call(port, FETCH, 0, body, timeout)
    response.skip("isii")
    error, high_watermark = response.take("h"), response.take("q")
    return Fetched(error, high_watermark, response.rest())


def fetch_from_rack(port: int, topic: str, partition: int, offset: int, rack: str) -> Fetched:
    """What a broker gives a consumer that says where it is (Fetch v11, KIP-392)."""
    wanted = struct.pack(">iiqqi", partition, -1, offset, -1, FETCH_BYTES)
    limits = struct.pack(">iiiibii", ANY, 100, 0, FETCH_BYTES, 0, 0, -1)
    body = limits + one(string(topic) + one(wanted)) + struct.pack(">i", 0) + string(rack)
    response = call(port, FETCH, 11, body)
    response.skip("ihiisii")
    error, high_watermark = response.take("h"), response.take("q")
    response.skip("qq")
    for _ in range(max(response.take("i"), 0)):
        response.skip("qq")
    return Fetched(error, high_watermark, preferred=response.take("i"), records=response.rest())


def init_producer_id(port: int) -> tuple[int, int, int]:
    """An error, and a new producer id with its epoch (InitProducerId v0)."""
    response = call(port, INIT_PRODUCER_ID, 0, struct.pack(">hi", -1, 60_000))
    response.skip("i")
    return response.take("h"), response.take("q"), response.take("h")


def elect_unclean(port: int, topic: str, partition: int) -> int:
    """Ask the controller for an unclean election (ElectLeaders v1); the partition's error."""
    wanted = one(string(topic) + one(struct.pack(">i", partition)))
    response = call(
        port, ELECT_LEADERS, 1, struct.pack(">b", 1) + wanted + struct.pack(">i", 20_000), 25
    )
    response.skip("i")
    error = response.take("h")
    if error or not response.take("i"):
        return error
    response.skip("sii")
    return response.take("h")


def alter_reassignment(port: int, topic: str, partition: int, replicas: Assigned) -> int:
    """Ask the controller to move a partition, or (None) no longer to (v0); the error."""
    listed = b"\0" if replicas is None else _compact([struct.pack(">i", each) for each in replicas])
    wanted = _compact([struct.pack(">i", partition) + listed + b"\0"])
    name = bytes([len(topic) + 1]) + topic.encode()
    body = b"\0" + struct.pack(">i", 20_000) + _compact([name + wanted + b"\0"]) + b"\0"
    response = call(port, ALTER_PARTITION_REASSIGNMENTS, 0, body, 25)
    response.skip("bi")
    error = response.take("h")
    response.pass_over(response.take("b") - 1)
    if error or response.take("b") < 2:
        return error
    response.pass_over(response.take("b") - 1)
    response.skip("bi")
    return response.take("h")


def _compact(items: list[bytes]) -> bytes:
    """A compact array of fewer than 127 items."""
    return bytes([len(items) + 1]) + b"".join(items)
