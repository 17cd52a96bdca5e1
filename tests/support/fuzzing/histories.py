"""Logs, snapshots, dumps and images of real clusters in which somebody's disk, or somebody, has
changed bytes.

Each attempt changes one file of a recording, of each kind that ``postmortem`` and ``import`` read,
and has both read it. Whatever the file becomes, it is read up to there with a note, or refused in
one sentence.
"""

import gzip
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random
from threading import Event
from typing import Final

import zstandard

from commands.exits import ExitCode
from emulator.wire.records.checksum import crc32c
from tests.sessions.own_cluster.test_tools import STRIMZI, STRIMZI_USERS
from tests.sessions.postmortem.logs import Log, cluster, fence, snapshot
from tests.support.fuzzing import Attack, FuzzError
from tests.support.fuzzing.sessions import call

SESSIONS: Final = Path(__file__).parents[2] / "sessions"
POSTMORTEM: Final = SESSIONS / "postmortem" / "recordings"
OWN: Final = SESSIONS / "own_cluster" / "recordings"
METADATA: Final = "__cluster_metadata-0"
SEGMENT: Final = f"{0:020}.log"
HEADER_BYTES: Final = 61
NUMBERS: Final = (0, 1, 127, 128, 255, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
TEXTS: Final = (
    b"0", b"-1", b"99999999999999999999", b"1e308", b"NaN", b"null", b"[", b"]", b"{", b"}", b'"',
    b"\n", b"\r", b"\0", b"\t", b"\x1b[2J", b"\xff\xfe", b"\xed\xa0\x80", b"[" * 5_000,
    b"1," * 9_000, b"0000-00-00 00:00:00,000", b"9999-12-31 23:59:59,999", b"x" * 70_000,
    b", ", b"=", b"/", b"..", b"7 " * 150_000, b"\xe9\xfc" * 9,
)  # fmt: skip
"""What somebody may write in the place of a piece of text."""


@contextmanager
def target(folder: Path) -> Iterator[Attack]:
    """Lay out a folder for each kind; each attempt changes a copy of one."""
    models = folder / "models"
    for name, lay_out in KINDS.items():
        (models / name).mkdir(parents=True)
        lay_out(models / name)

    def attack(chance: Random) -> None:
        kind, copy = chance.choice(tuple(KINDS)), folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(models / kind, copy)
        files = sorted(path for path in copy.rglob("*") if path.is_file())
        for _ in range(chance.choice((1, 1, 1, 2))):
            _change(chance, chance.choice(files))
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        named = chance.choice([copy, copy, copy, *files])
        with _growing(chance, chance.choice(files)) if chance.random() < 0.1 else nullcontext():
            for words in _commands(chance, kind, named, out):
                _hold(*words)

    yield attack


@contextmanager
def _growing(chance: Random, path: Path) -> Iterator[None]:
    """Let a file grow while it is read, as that of a running process does."""
    data = path.read_bytes() or b"x"
    pieces = [data[at : at + 500] for at in chance.choices(range(len(data)), k=200)]
    ended = Event()

    def grow() -> None:
        with path.open("ab", 0) as file:
            for piece in pieces:
                file.write(piece)
                if ended.wait(0.002):
                    return

    with ThreadPoolExecutor(1) as pool:
        pool.submit(grow)
        try:
            yield
        finally:
            ended.set()


def _hold(*words: object) -> None:
    """Call the program, which refuses in one sentence or not at all."""
    status, said = call(*words)
    sentences = [line for line in said.splitlines() if not line.startswith("note: ")]
    if status == ExitCode.UNREACHABLE and len(sentences) != 1:
        raise FuzzError(f"{words[:3]} says {len(sentences)} sentences: {said[:500]!r}")
    if any(not line.isprintable() for line in said.splitlines()):
        raise FuzzError(f"{words[:3]} says what a terminal obeys: {said[:500]!r}")


def _commands(chance: Random, kind: str, path: Path, out: Path) -> Iterator[tuple[object, ...]]:
    at = chance.choice(((), (), ("--at", "40"), ("--at", "2026-11-23T19:05:07.079Z")))
    if kind not in IMPORTED:
        shown: tuple[object, ...] = chance.choice(
            (("--json",), ("--report", out / "r.md"), ("--report", out / "r.html"))
        )
        if chance.random() < 0.1:
            shown += ("--what-if", "min.insync.replicas=2")
        if chance.random() < 0.3:
            shown += ("--record", out / "x.tide.db")
        yield "postmortem", path, *shown, *at
    if kind not in EXAMINED:
        yield "import", path, "--out", out / "x.cluster.json", *at


# ---- what is read


def _zombie_leader(folder: Path) -> None:
    """Several nodes, each with what a real one has."""
    shutil.copytree(POSTMORTEM / "incidents" / "zombie-leader", folder, dirs_exist_ok=True)
    quorum = OWN / "kraft-4.1.2" / "00" / "metadata"
    for name in ("quorum-state", "leader-epoch-checkpoint", "partition.metadata"):
        shutil.copy(quorum / name, folder / "node100" / METADATA)


def _metadata_log(folder: Path) -> None:
    shutil.copytree(OWN / "kraft-4.1.2" / "00" / "metadata", folder / METADATA)


def _segments(folder: Path) -> None:
    for path in sorted((POSTMORTEM / "faults-4.1.2").glob("*.log")):
        shutil.copy(path, folder)


def _snapshot(folder: Path) -> None:
    begun = cluster()
    (folder / f"{begun.offset:020}-{1:010}.checkpoint").write_bytes(snapshot(begun.data))
    Log(begun.offset, 1, 60).add(fence(2, 4), version=1).write(folder, begun.offset)


def _packed_metadata_log(folder: Path) -> None:
    data = (OWN / "kraft-4.0.2" / "00" / "metadata" / SEGMENT).read_bytes()
    (folder / f"{SEGMENT}.zst").write_bytes(zstandard.compress(data))


def _text_logs(folder: Path) -> None:
    """Plain ones, of both ways in which releases write them."""
    for release, node in (("1.1.1", "broker0"), ("4.1.2", "node0")):
        for path in sorted((POSTMORTEM / "text_logs" / release / node).glob("*.gz")):
            (folder / node).mkdir(exist_ok=True)
            data = gzip.decompress(path.read_bytes())
            (folder / node / path.stem).write_bytes(data[: 1 << 18])


def _packed_text_logs(folder: Path) -> None:
    shutil.copytree(POSTMORTEM / "text_logs" / "2.8.2", folder, dirs_exist_ok=True)


def _transaction_log(folder: Path) -> None:
    version = folder / "version-2"
    version.mkdir()
    packed = POSTMORTEM / "zookeeper" / "2.8.2" / "version-2" / "log.1.gz"
    (version / "log.1").write_bytes(gzip.decompress(packed.read_bytes()))


def _zookeeper(folder: Path) -> None:
    """A transaction log with the text logs of its cluster."""
    _packed_text_logs(folder)
    shutil.copytree(POSTMORTEM / "zookeeper" / "2.8.2" / "version-2", folder / "version-2")


def _zookeeper_snapshot(folder: Path) -> None:
    version = folder / "version-2"
    version.mkdir()
    shutil.copy(OWN / "zookeeper-2.8.2" / "snapshot.9d", version)


def _image(folder: Path) -> None:
    call("import", OWN / "kraft-4.1.2" / "00" / "metadata", "--out", folder / "a.cluster.json")


def _packed_image(folder: Path) -> None:
    source = OWN / "zookeeper-2.8.2" / "00" / "zookeeper.json"
    call("import", source, "--out", folder / "b.cluster.json.zst")


def _tools(case: Path) -> Callable[[Path], None]:
    """What Kafka's tools printed of a cluster."""

    def lay_out(folder: Path) -> None:
        for path in [*sorted(case.glob("*.*")), OWN / "groups" / "4.0.2.txt"]:
            if path.name != "state.json":
                shutil.copy(path, folder)
        (folder / "strimzi.yaml").write_text(f"{STRIMZI}---\n{STRIMZI_USERS}")

    return lay_out


KINDS: Final[dict[str, Callable[[Path], None]]] = {
    "nodes": _zombie_leader,
    "metadata-log": _metadata_log,
    "segments": _segments,
    "snapshot": _snapshot,
    "packed-metadata-log": _packed_metadata_log,
    "text-logs": _text_logs,
    "packed-text-logs": _packed_text_logs,
    "transaction-log": _transaction_log,
    "zookeeper": _zookeeper,
    "zookeeper-snapshot": _zookeeper_snapshot,
    "image": _image,
    "packed-image": _packed_image,
    "tools": _tools(OWN / "kraft-4.0.2" / "00"),
    "tools-with-zookeeper": _tools(OWN / "zookeeper-2.8.2" / "00"),
}
IMPORTED: Final = frozenset(
    ("zookeeper-snapshot", "image", "packed-image", "tools", "tools-with-zookeeper")
)
"""What only ``import`` reads."""
EXAMINED: Final = frozenset(("text-logs", "packed-text-logs"))
"""What only ``postmortem`` reads."""


# ---- what is changed


def _change(chance: Random, path: Path) -> None:
    """Change a file as it is, or what is packed in it."""
    data = bytearray(path.read_bytes())
    unpack, pack = _PACKED.get(path.suffix, (bytes, bytes))
    if chance.random() < 0.5:
        try:
            data = bytearray(unpack(bytes(data)))
        except (OSError, EOFError, zlib.error, zstandard.ZstdError):
            return  # an earlier change has damaged it
    else:
        pack = bytes
    chance.choice(CHANGES)(chance, data)
    if chance.random() < 0.5:
        _mend_checksums(data)
    path.write_bytes(pack(bytes(data)))


_PACKED: Final[dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]]] = {
    ".gz": (gzip.decompress, lambda data: gzip.compress(data, 1)),
    ".zst": (
        lambda data: zstandard.decompress(data, 1 << 26),
        zstandard.compress,
    ),
}


def _bytes(chance: Random, data: bytearray) -> None:
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        if data:
            data[chance.randrange(len(data))] = chance.randrange(256)


def _number(chance: Random, data: bytearray) -> None:
    """Write a number that is a limit, as files have them: in 1 to 8 bytes."""
    size = chance.choice((1, 2, 4, 8))
    at = chance.randrange(max(1, len(data) - size))
    number = chance.choice(NUMBERS) % (1 << 8 * size)
    data[at : at + size] = number.to_bytes(size, "big")


def _text(chance: Random, data: bytearray) -> None:
    at = chance.randrange(len(data) + 1)
    data[at : at + chance.choice((0, 1, 5))] = chance.choice(TEXTS)


def _end(chance: Random, data: bytearray) -> None:
    del data[chance.randrange(len(data) + 1) :]


def _gap(chance: Random, data: bytearray) -> None:
    at = chance.randrange(len(data) + 1)
    del data[at : at + chance.choice((1, 4, 100, 4_096))]


def _again(chance: Random, data: bytearray) -> None:
    """Repeat a piece, there or elsewhere."""
    at, size = chance.randrange(len(data) + 1), chance.choice((4, 100, 4_096))
    piece, to = data[at : at + size], chance.choice((at, chance.randrange(len(data) + 1)))
    data[to:to] = piece * chance.choice((1, 1, 50))


def _zeros(chance: Random, data: bytearray) -> None:
    at, size = chance.randrange(len(data) + 1), chance.choice((16, 512, 4_096))
    data[at : at + size] = bytes(size)


def _encoding(chance: Random, data: bytearray) -> None:
    """Write the file, or what is behind a place in it, as another program would."""
    at = chance.choice((0, chance.randrange(len(data) + 1)))
    data[at:] = data[at:].decode("latin-1").encode(chance.choice(("utf-8", "utf-16", "utf-7")))


def _bomb(chance: Random, data: bytearray) -> None:
    """Append, or put in its place, what unpacks to 64 MiB."""
    content = chance.choice((b"\0", b"x", b"1,", b"[2026-11-23 19:05:07,079] INFO "))
    bomb = gzip.compress(content * ((64 << 20) // len(content)), 1)
    data[chance.choice((0, len(data))) :] = bomb


CHANGES: Final = (
    *(_bytes, _bytes, _bytes, _number, _number, _text, _end, _gap, _again, _zeros),
    *(_bytes, _bytes, _bytes, _number, _number, _text, _end, _gap, _again, _encoding, _bomb),
)


def _mend_checksums(data: bytearray) -> None:
    """Give record batches and ZooKeeper's transactions the checksums that they then need."""
    if data.startswith(b"ZKLG"):
        at = 16
        while at + 12 <= len(data):
            (size,) = struct.unpack_from(">i", data, at + 8)
            if size <= 0 or at + 12 + size > len(data):
                return
            checksum = zlib.adler32(data[at + 12 : at + 12 + size])
            struct.pack_into(">q", data, at, checksum)
            at += 12 + size + 1
        return
    at = 0
    while at + HEADER_BYTES <= len(data) and data[at + 16] == 2:
        (length,) = struct.unpack_from(">i", data, at + 8)
        end = at + 12 + length
        if length < HEADER_BYTES - 12 or end > len(data):
            return
        struct.pack_into(">I", data, at + 17, crc32c(bytes(data[at + 21 : end])))
        at = end
