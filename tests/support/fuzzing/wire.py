"""Frames of the wire protocol: of each API and version from its schema, and with damaged bytes.

An attempt has a cluster of its own, of one of some releases, which gets frames on some connections.
Whatever they are, nothing is raised, and another client is answered: within a virtual second, and
none waits longer than a real one while a frame is handled.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, Final

from crc32c import crc32c

from emulator.clients.external.ids import uuid_bytes
from emulator.inputs.statements import CreateTopic
from emulator.wire.apis import API_NAMED, APIS
from emulator.wire.codec import encode_request
from emulator.wire.exceptions import UnwritableMessage, WireError
from emulator.wire.header import RequestHeader
from emulator.wire.messages.cluster import MetadataRequest, MetadataRequestTopic
from emulator.wire.records import memory_records, record_batch
from emulator.wire.records.compression import Compression
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import Producer
from emulator.wire.schema import Array, Field, Kind, fields_in, tagged_in
from emulator.wire.types import Message, Number, Sized
from sessions.gateway.frames import HEADER_BYTES_MIN, LENGTH_BYTES, BadFrameError, FrameBuffer
from tests.support.fuzzing import Attack
from tests.support.wire_client import WireLab

FRAMES: Final = 50
"""The frames of an attempt."""
CONNECTIONS: Final = 4
HANDLED_SECONDS_MAX: Final = 1.0
"""Processor time of one frame: of a real second there is little left on a busy machine."""
CLUSTERS: Final = (
    ("0.8.2", "zk"), ("0.10.2", "zk"), ("1.1", "zk"), ("2.8", "zk"), ("3.9", "zk"),
    ("3.3", "kraft"), ("3.9", "kraft"), ("4.1", "kraft"), ("4.4", "kraft"),
)  # fmt: skip
NUMBERS: Final = (0, 1, 2, 3, 5, 100, 1_000, 10_001, -1, -2, -3, -100, 500, 30_000, 199_999)
NAMES: Final = (
    "t", "u", "t", "u", "g", "h", "", "new", "new-0", "t-0", "t-", "-", "__consumer_offsets",
    "__transaction_state", "__cluster_metadata", ".", "..", "a/b", "é\U0001f600", "x" * 250,
    "x" * 30_000, "\0", "0", "1", "consumer", "range", "127.0.0.1", "retention.ms", "a b",
    "compression.type", "cleanup.policy", "min.insync.replicas", "segment.bytes",
)  # fmt: skip
VALUES: Final = ("1", "-1", "0", "gzip", "delete", "compact", "9" * 400, "", "1,2", "\0", "true")
SIZES: Final = (0, 1, 10, 100, 70_000)
DAMAGE: Final = (
    b"", b"\x00", b"\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\xff\xff\xff\xff", b"\x01",
    b"\xff\xff\xff\xff\x0f", b"\x00" * 9, b"\xff" * 9, b"\x80",
)  # fmt: skip


CRC_AT, CHECKED_FROM, LAST_OFFSET_DELTA_AT, COUNT_AT = 17, 21, 23, 57
"""Positions in a batch of format 2."""


@contextmanager
def target(folder: Path) -> Iterator[Attack]:
    """Attack clusters of this process."""
    del folder
    yield _attempt


def _attempt(chance: Random) -> None:
    """Send frames to a new cluster, and see that they and others are answered in time."""
    version, mode = chance.choice(CLUSTERS)
    lab = WireLab.made(version=version, mode=mode, brokers=chance.choice((1, 3)))
    lab.run(CreateTopic(topic="t", partitions=2, replication_factor=1))
    lab.run(CreateTopic(topic="u", replication_factor=len(lab.cluster.brokers)))
    lab.pass_time(2_000_000)
    attacker, other = Attacker(chance, lab), lab.connect()
    for number in range(FRAMES):
        frame = attacker.frame()
        _split(chance, frame)
        begun = process_time()
        lab.send_frame(attacker.connection(), frame)
        lab.pass_time(chance.choice((0, 1_000, 20_000, 1_000_000)))
        taken = process_time() - begun
        shown = f"frame {number} of {version}, {len(frame):,} bytes, {frame[:100].hex()}"
        assert taken < HANDLED_SECONDS_MAX, f"{shown}: takes {taken:.1f} s"
    oldest = lab.external.versions[API_NAMED["Metadata"].key][0]
    assert lab.ask(other, MetadataRequest([MetadataRequestTopic(name="t")]), oldest).topics


def _split(chance: Random, frame: bytes) -> None:
    """Take a frame with its length, or a wrong one, from a stream, in pieces."""
    wrong = chance.choice((0, 7, -1, 2**31 - 1, -(2**31), chance.getrandbits(31)))
    length = len(frame) if chance.random() < 0.9 else wrong
    stream = length.to_bytes(LENGTH_BYTES, signed=True) + frame
    buffer, frames = FrameBuffer(len(frame) + 1_000), []
    with suppress(BadFrameError):
        for piece in (stream[:3], stream[3:10], stream[10:]):
            frames += buffer.feed(piece)
    if length == len(frame) >= HEADER_BYTES_MIN:
        assert frames == [frame]


class Attacker:
    """Makes frames of what a cluster has: its APIs, versions, topic ids and producer ids."""

    def __init__(self, chance: Random, lab: WireLab) -> None:
        """Make them for the cluster of ``lab``."""
        self.chance = chance
        self._lab = lab
        self._connections: list[int] = []

    def connection(self) -> int:
        """Return one of some open connections."""
        closed = self._lab.closed
        self._connections = [each for each in self._connections if each not in closed]
        if len(self._connections) < CONNECTIONS:
            broker = self.chance.choice(list(self._lab.cluster.brokers))
            self._connections.append(self._lab.connect(broker))
        return self.chance.choice(self._connections)

    def frame(self) -> bytes:
        """Return a frame: half of them as their schema says, the others with damaged bytes."""
        chance = self.chance
        if chance.random() < 0.02:
            return chance.randbytes(chance.choice((8, 9, 20, 1_000)))
        served = self._lab.external.versions
        key = chance.choice(list(served if chance.random() < 0.98 else APIS))
        api = APIS[key]
        advertised = served.get(key, api.versions)
        version = chance.choice(advertised if chance.random() < 0.95 else api.versions)
        header = RequestHeader(key, version, chance.getrandbits(31), chance.choice(NAMES[:10]))
        is_flexible = api.is_flexible(version)
        request = self._message(api.request, version, is_flexible=is_flexible, depth=0)
        with suppress(UnwritableMessage):
            frame = encode_request(header, request)
            return frame if chance.random() < 0.5 else self._damaged(frame)
        return chance.randbytes(20)

    def _message(
        self, message: type[Message], version: int, *, is_flexible: bool, depth: int
    ) -> Message:
        fields = list(fields_in(message, version))
        if is_flexible:
            fields += tagged_in(message, version)
        values = {each.name: self._field(each, version, is_flexible, depth) for each in fields}
        return message(**values)

    def _field(self, field: Field, version: int, is_flexible: bool, depth: int) -> Any:  # noqa: ANN401
        if field.is_nullable(version) and self.chance.random() < 0.2:
            return None
        if self.chance.random() < 0.15:
            return field.default
        return self._value(field.name, field.kind, version, is_flexible, depth)

    def _value(self, name: str, kind: Kind, version: int, is_flexible: bool, depth: int) -> Any:  # noqa: ANN401
        chance = self.chance
        if isinstance(kind, Number):
            return self._number(name, kind)
        if kind is Sized.STRING:
            return chance.choice(VALUES if name == "value" else NAMES)
        if kind is Sized.BYTES:
            return self._batches() if name == "records" else chance.randbytes(chance.choice(SIZES))
        if isinstance(kind, Array):
            count = chance.choice((0, 1, 1, 1, 2, 3))
            if depth == 0 and chance.random() < 0.03:
                count = 300
            made = [
                self._value(name, kind.item, version, is_flexible, depth + 1) for _ in range(count)
            ]
            return made * 2 if chance.random() < 0.1 else made
        assert isinstance(kind, type)
        return self._message(kind, version, is_flexible=is_flexible, depth=depth + 1)

    def _number(self, name: str, kind: Number) -> int | bool | float | bytes:
        chance = self.chance
        if kind.code == "?":
            return chance.random() < 0.5
        if kind.code == "d":
            return chance.choice((0.0, -1.0, 1e308, float("inf"), float("nan")))
        if kind.code == "16s":
            ids = [uuid_bytes(text) for text in self._lab.external.state.topic_names]
            return chance.choice([*ids, bytes(16), b"\xff" * 16])
        if "epoch" in name and chance.random() < 0.7:
            return chance.choice((-1, 0, 1))
        low, high = (0, 1 << 16) if kind.code == "H" else _range(kind)
        wanted = chance.choice((*NUMBERS, low, high - 1)) if chance.random() < 0.6 else 0
        return max(low, min(high - 1, wanted))

    def _batches(self) -> bytes:
        """Return one batch or more in any format, with wrong counts, lengths and checksums."""
        chance = self.chance
        data = b"".join(self._batch() for _ in range(chance.choice((0, 1, 1, 1, 2))))
        return self._damaged(data) if data and chance.random() < 0.3 else data

    def _batch(self) -> bytes:
        chance = self.chance
        records = [
            Record(chance.choice((None, b"k", b"")), chance.choice((None, b"v", b"x" * 2_000)))
            for _ in range(chance.choice((1, 1, 2, 50)))
        ]
        compression = chance.choice((Compression.NONE, Compression.GZIP, *Compression))
        magic = chance.choice((0, 1, 2, 2, 2))
        if magic < record_batch.MAGIC:
            with suppress(WireError):
                return memory_records.build(records, magic, compression=compression)
        number, epoch, sequence = (chance.choice((-1, 0, 1, 1_000)) for _ in range(3))
        batch = record_batch.build(
            records,
            producer=Producer(number, epoch, sequence),
            compression=compression,
            is_transactional=chance.random() < 0.3,
            is_control=chance.random() < 0.1,
        )
        return _with_count(batch, chance.choice(NUMBERS)) if chance.random() < 0.3 else batch

    def _damaged(self, frame: bytes) -> bytes:
        """Return bytes of which some are changed, left out or repeated; the API most often not."""
        chance, content = self.chance, bytearray(frame)
        first = 0 if chance.random() < 0.1 else 8
        for _ in range(chance.choice((1, 2, 5))):
            at = chance.randrange(min(first, len(content)), len(content) + 1)
            content[at : at + chance.choice((0, 1, 4))] = chance.choice(DAMAGE)
        if chance.random() < 0.2:
            del content[chance.randrange(len(content) + 1) :]
        return bytes(content)


def _range(kind: Number) -> tuple[int, int]:
    bits = 8 * kind.size - 1
    return -(1 << bits), 1 << bits


def _with_count(batch: bytes, count: int) -> bytes:
    """Return a batch with another count of records, and a checksum that holds."""
    changed = bytearray(batch)
    struct.pack_into(">i", changed, LAST_OFFSET_DELTA_AT, count - 1)
    struct.pack_into(">i", changed, COUNT_AT, count)
    struct.pack_into(">I", changed, CRC_AT, crc32c(bytes(changed[CHECKED_FROM:])))
    return bytes(changed)
