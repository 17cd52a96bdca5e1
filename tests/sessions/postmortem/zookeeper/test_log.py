"""The reader of ZooKeeper's transaction logs, against ZooKeeper's own tool and a real server."""

import io
import random
import re
import struct
import zlib
from datetime import UTC, datetime

import pytest

from sessions.own_cluster.content import Content
from sessions.own_cluster.formats import zookeeper_log as log
from sessions.own_cluster.formats.zookeeper_log import Torn, Transaction, read_transactions
from sessions.own_cluster.places import US_PER_MS, time_text
from sessions.own_cluster.reading import FormatError
from sessions.own_cluster.zookeeper_history.znode_tree import ZnodeTree
from tests.sessions.postmortem.zookeeper.recorded import RELEASES, history, printed, raw, znodes

LINE = re.compile(
    r"(\d+/\d+/\d+), (\d+:\d+:\d+)\s([AP]M) UTC session (0x\w+) cxid (0x\w+) zxid (0x\w+) (\w+)(.*)"
)


def transactions(data: bytes) -> list[Transaction | Torn]:
    return list(read_transactions(Content("log.1", io.BytesIO(data))))


def told(transaction: Transaction) -> tuple[str, ...]:
    moment = datetime.fromtimestamp(transaction.time_ms // 1000, UTC)
    hour = moment.hour % 12 or 12
    return (
        f"{moment.month}/{moment.day}/{moment:%y}",
        f"{hour}:{moment:%M:%S}",
        f"{moment:%p}",
        f"{transaction.session & 0xFFFFFFFFFFFFFFFF:#x}",
        f"{transaction.cxid & 0xFFFFFFFF:#x}",
        f"{transaction.zxid:#x}",
        log.NAMES[transaction.type],
    )


@pytest.mark.parametrize("release", RELEASES)
def test_each_transaction_is_the_one_that_zookeepers_tool_prints(release: str) -> None:
    expected = LINE.findall(printed(release))
    found = list(history(release).transactions(0))
    assert [told(transaction) for transaction in found] == [line[:7] for line in expected]
    assert f"EOF reached after {len(found)} txns" in printed(release)
    for transaction, line in zip(found, expected, strict=True):
        rest = line[7]
        (first, *_) = transaction.operations
        if transaction.type in {log.CREATE, log.CREATE2, log.SET_DATA, log.DELETE}:
            assert re.match(f" '?{re.escape(first.path)}", rest)
            if first.data is not None:
                assert first.data.decode() in printed(release)
        elif transaction.type == log.ERROR:
            assert rest == f" {first.error}"
        elif transaction.type == log.CREATE_SESSION:
            assert rest == f" {first.timeout_ms}"
        elif transaction.type == log.CLOSE_SESSION and first.paths is not None:
            assert re.findall(r"'([^,}]+)", rest) == list(first.paths)


def test_a_time_that_no_calendar_has_is_read_as_the_last_one() -> None:
    data = raw(RELEASES[0])
    length = int.from_bytes(data[24:28])
    entry = bytearray(data[28 : 28 + length])
    entry[20:28] = (9_000_000_000_000_000_000).to_bytes(8)
    head = zlib.adler32(entry).to_bytes(8) + length.to_bytes(4)
    (transaction, *_) = transactions(data[:16] + head + entry + data[28 + length :])
    assert isinstance(transaction, Transaction)
    assert time_text(transaction.time_ms * US_PER_MS) == "9999-12-31T23:59:59.999Z"


@pytest.mark.parametrize("release", RELEASES)
def test_the_tree_at_the_end_is_that_of_a_real_server(release: str) -> None:
    tree = ZnodeTree()
    for transaction in history(release).transactions(0):
        tree.apply(transaction)
    found = {
        path: {
            "data": znode.text,
            "version": znode.version,
            "czxid": znode.czxid,
            "mzxid": znode.mzxid,
            "ctime": znode.ctime_ms,
            "mtime": znode.mtime_ms,
            "ephemeralOwner": znode.owner,
        }
        for path, znode in tree.znodes.items()
    }
    assert found == znodes(release)


def entry(body: bytes) -> bytes:
    return struct.pack(">qi", zlib.adler32(body), len(body)) + body + b"B"


def text(value: str) -> bytes:
    return struct.pack(">i", len(value)) + value.encode()


def header(kind: int, zxid: int = 1) -> bytes:
    return struct.pack(">qiqqi", 7, 1, zxid, 1_790_000_000_000, kind)


START = struct.pack(">4siq", b"ZKLG", 2, 0)
ANYONE = struct.pack(">ii", 1, 31) + text("world") + text("anyone")


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        (
            log.CREATE_TTL,
            text("/t") + text("x") + ANYONE + struct.pack(">iq", 1, 500),
            log.Operation(log.CREATE_TTL, "/t", b"x"),
        ),
        (
            log.CREATE_CONTAINER,
            text("/c") + struct.pack(">i", -1) + ANYONE + struct.pack(">i", 1),
            log.Operation(log.CREATE_CONTAINER, "/c"),
        ),
        (log.DELETE_CONTAINER, text("/c"), log.Operation(log.DELETE_CONTAINER, "/c")),
        (
            log.SET_ACL,
            text("/a") + ANYONE + struct.pack(">i", 3),
            log.Operation(log.SET_ACL, "/a", version=3),
        ),
        (
            log.RECONFIG,
            text("/zookeeper/config") + text("x") + struct.pack(">i", 2),
            log.Operation(log.RECONFIG, "/zookeeper/config", b"x", version=2),
        ),
        (log.CLOSE_SESSION, b"", log.Operation(log.CLOSE_SESSION)),
    ],
    ids=lambda value: log.NAMES.get(value) if isinstance(value, int) else None,
)
def test_types_that_the_recordings_lack(kind: int, body: bytes, expected: log.Operation) -> None:
    (found,) = transactions(START + entry(header(kind) + body) + bytes(100))
    assert isinstance(found, Transaction)
    assert found.operations == (expected,)


def test_a_multi_with_an_error_changes_nothing() -> None:
    create = text("/a") + text("x") + ANYONE + struct.pack(">?i", False, 1)
    parts = struct.pack(">i", 2)
    for kind, body in ((log.CREATE, create), (log.ERROR, struct.pack(">i", -110))):
        parts += struct.pack(">ii", kind, len(body)) + body
    (found,) = transactions(START + entry(header(log.MULTI) + parts))
    assert isinstance(found, Transaction)
    assert found.is_failed
    assert not ZnodeTree().apply(found)


def test_a_torn_end_is_told_and_what_is_before_is_read() -> None:
    data = raw("2.4.1").rstrip(b"\0")
    count = len(transactions(data))
    for cut in (1, 5, 40):
        found = transactions(data[:-cut])
        assert isinstance(found[-1], Torn)
        assert len(found) == count
        assert len(transactions(data[:-cut] + bytes(5_000))) == count


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ZKLG", "its header is not whole"),
        (struct.pack(">4siq", b"ZKLG", 9, 0), "unknown version 9"),
        (START + struct.pack(">qi", 1, -5), "would have -5 bytes"),
        (START + struct.pack(">qi", 1, 1 << 30), "would have 1,073,741,824 bytes"),
        (START + entry(header(99)), "the unknown type 99"),
        (START + entry(header(log.CREATE)), "in the middle of a field"),
        (
            START + struct.pack(">qi", 5, 4) + b"abcdB" + entry(header(log.CLOSE_SESSION)),
            "a wrong checksum",
        ),
        (START + struct.pack(">qi", 5, 4) + b"abcdX" + b"more" * 9, "no end"),
    ],
)
def test_a_damaged_log_is_refused_in_one_sentence(data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        transactions(data)


def test_random_mutations_end_in_one_sentence_or_are_read() -> None:
    drawn = random.Random("transactions")
    for _ in range(150):
        mutated = bytearray(raw(drawn.choice(RELEASES)).rstrip(b"\0"))
        for _ in range(drawn.randint(1, 6)):
            at = drawn.randrange(len(mutated))
            mutated[at : at + drawn.randint(0, 9)] = drawn.randbytes(drawn.randint(0, 9))
        sentence = ""
        try:
            tree = ZnodeTree()
            for found in transactions(bytes(mutated)):
                if isinstance(found, Transaction):
                    tree.apply(found)
        except FormatError as error:
            sentence = str(error)
        assert len(sentence) < 300
        assert "\n" not in sentence
