"""Other files, damaged ones and hostile ones: one sentence each, and no more memory than needed."""

import gzip
import io
import json
import random
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from sessions.own_cluster import content
from sessions.own_cluster.content import Content
from sessions.own_cluster.importing import import_sources, read_source
from sessions.own_cluster.reading import SourceError
from sessions.own_cluster.recognition import read
from tests.sessions.own_cluster.recorded import CASES, RECORDINGS

KRAFT = RECORDINGS / "kraft-4.1.2" / "00" / "metadata"
SOURCES = [
    KRAFT / "00000000000000000000.log",
    *sorted((RECORDINGS / "kraft-4.0.2" / "00").glob("*.*")),
    RECORDINGS / "zookeeper-2.8.2" / "00" / "zookeeper.json",
    RECORDINGS / "groups" / "4.0.2.txt",
]


def refused(data: bytes, name: str = "file") -> str:
    with pytest.raises(SourceError) as error:
        read(Content(name, io.BytesIO(data)))
    message = str(error.value)
    assert message.startswith(name)
    assert "\n" not in message
    assert len(message) < 400
    return message


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("0.snapshot", b"\0\1" + bytes(8), "the state of producers"),
        ("copy", b"\0\1" + bytes(4) + struct.pack(">i", 2) + bytes(92), "the state of producers"),
        ("00000000000000000000.timeindex", bytes(24), "an index of a log by time"),
        ("log.1", b"ZKLG" + bytes(20), "a transaction log of ZooKeeper"),
        ("x.tide.db", b"SQLite format 3\0" + bytes(80), "a session of tidegauge"),
        ("logs.tar", bytes(257) + b"ustar\0" + bytes(100), "a tar archive"),
        ("old.log", bytes(8) + struct.pack(">iIb", 30, 7, 1) + bytes(30), "never had"),
        ("zeros", bytes(1000), "a binary file"),
        ("server.log", b"[2026-11-25 20:00:00,123] INFO started (kafka.server)\n", "a text log"),
        ("server.properties", b"# x\nbroker.id=1\nlog.dirs=/tmp\n", "a configuration of a broker"),
        ("meta.properties", b"#\nnode.id=1\nversion=1\n", "a meta.properties"),
        (
            "kcat.txt",
            b"Metadata for all topics (from broker 1: h:1/1):\n",
            "wanted is what kcat -L",
        ),
        ("x.json", b'{"hello": 1}', "JSON of an unknown kind"),
        ("page", b"<html>", "XML or HTML"),
        ("notes.txt", b"orders\npayments\n", "a text of an unknown kind"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else None,
)
def test_another_file_is_named_with_the_one_that_is_wanted(
    name: str, data: bytes, what: str
) -> None:
    message = refused(data, name)
    assert what in message
    assert "wanted is" in message


@pytest.mark.parametrize("name", ["leader-epoch-checkpoint", "partition.metadata", "quorum-state"])
def test_the_files_beside_a_metadata_log_are_known(name: str) -> None:
    with pytest.raises(SourceError, match="wanted is the folder"):
        read_source(str(KRAFT / name))


def test_a_folder_without_a_log_and_a_device_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="a folder without a metadata log"):
        read_source(str(tmp_path))
    with pytest.raises(SourceError, match="a device"):
        read_source("/dev/zero")


def outcome_of(data: bytes) -> str:
    """The sentence with which it is refused; nothing if it can be read."""
    try:
        read(Content("copy", io.BytesIO(data)))
    except SourceError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_damaged_copy_is_refused_or_read_and_nothing_else(path: Path) -> None:
    data, drawn = path.read_bytes(), random.Random(path.name)
    for _ in range(60):
        mutated = bytearray(data)
        for _ in range(drawn.randint(0, 3)):
            at = drawn.randrange(len(mutated))
            mutated[at : at + drawn.randint(0, 9)] = drawn.randbytes(drawn.randint(0, 9))
        if drawn.random() < 0.5:
            del mutated[drawn.randrange(len(mutated)) :]
        message = outcome_of(bytes(mutated))
        assert len(message) < 600
        assert message.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        '[{"id": 1}, {"id": 1}]',
        '[{"id": -1}]',
        '[{"id": 99999999999}]',
        '{"version":1,"partitions":[{"topic":"a b","partition":0,"replicas":[1]}]}',
        '{"version":1,"partitions":[{"topic":"t","partition":-1,"replicas":[1]}]}',
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,1]}]}',
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1]},'
        '{"topic":"t","partition":0,"replicas":[2]}]}',
        '{"version":2,"partitions":[{"topic":"t","partition":0,"replicas":[1]}]}',
        '{"/brokers/ids/x": {"data": "{}"}}',
        '{"/zookeeper": {"data": null}}',
        '{"/brokers/topics/t": {"data": "{\\"partitions\\":{\\"x\\":[1]}}"}}',
        '{"brokers":[{"broker":1,"logDirs":[{"logDir":"/a","partitions":'
        '[{"partition":"t","size":1}]}]}]}',
        '{"originating_broker":{},"brokers":[],"topics":[{"topic":"\\u001b[2J"}]}',
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nspec: {partitions: x}",
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nspec: {partitions: 999999999}",
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: [",
        "apiVersion: kafka.strimzi.io/v1beta2\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nspec: {kafka: 7}",
        "CurrentVoters: [1,\nLeaderEpoch: x",
        "GROUP  TOPIC  PARTITION  CURRENT-OFFSET\ng  t",
        "GROUP  TOPIC  PARTITION  CURRENT-OFFSET\ng      t      0          x",
        "Dynamic configs for broker x are:\n",
        "Dynamic configs for topic t are:\n  what",
    ],
)
def test_content_that_no_cluster_has_is_refused(text: str) -> None:
    refused(text.encode())


def test_a_small_file_that_unpacks_to_a_large_text_takes_no_memory() -> None:
    line = b"\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1"
    text = (line + b" " * 2_000 + b"\n") * 1_000
    packed = zstandard.ZstdCompressor().compress(text)
    tracemalloc.start()
    try:
        image = read(Content("topics.txt.zst", io.BytesIO(packed))).image
        assert image.partition_count == 1
        assert tracemalloc.get_traced_memory()[1] < len(text)
    finally:
        tracemalloc.stop()
    assert "damaged" in refused(packed[:-20])


def test_a_compressed_file_that_is_cut_off_is_damaged_wherever_a_line_ends() -> None:
    text = (CASES[0] / "topics.txt").read_bytes()
    whole, begun = zstandard.compress(text), zstandard.compress(text)[:-7]
    for packed in (begun, whole + begun[:9], gzip.compress(text)[:-9]):
        assert "is damaged" in refused(packed)
    assert read(Content("f", io.BytesIO(whole + zstandard.compress(b"\n")))).image.topics


def test_yaml_that_is_nested_deeply_is_refused_at_once() -> None:
    text = b"apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nspec: " + b"[" * 200_000
    assert "nested" in refused(text)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_json_that_is_too_large_takes_no_more_memory_than_the_limit(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 1 << 24
    monkeypatch.setattr(content, "WHOLE_BYTES_MAX", limit)
    packed = pack(b'[{"id":1}' + b" " * 3 * limit)
    tracemalloc.start()
    try:
        assert "larger than 16 MiB" in refused(packed)
        assert tracemalloc.get_traced_memory()[1] < 1.6 * limit
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["topics.txt", "quorum.txt", "configs.txt"])
def test_a_text_with_a_hole_is_damaged(name: str) -> None:
    text = (CASES[0] / name).read_bytes()
    lines = text.count(b"\n", 0, 400) + 1
    message = refused(text[:400] + bytes(64) + text[464:])
    assert f"line {lines} has NUL bytes" in message


def test_json_whose_values_would_take_gigabytes_is_refused_before() -> None:
    many = (
        b'{"version":1,"partitions":[' + b'{"topic":"t","partition":0,"replicas":[1]},' * 2_000_000
    )
    message = refused(many + b"]}")
    assert "may take" in message


def test_a_snapshot_with_a_billion_sessions_is_damaged() -> None:
    start = b"ZKSN" + struct.pack(">iqi", 2, 0, 1_000_000_000)
    assert "1,000,000,000 sessions" in refused(start + bytes(1000))
    assert "truncated" in refused(start[:16] + struct.pack(">i", 9))


def test_an_image_of_a_newer_version_is_refused() -> None:
    document = {"format": "tidegauge cluster image", "schema": 9}
    assert "schema is 9" in refused(json.dumps(document).encode())


def test_names_of_files_are_shown_with_their_control_characters_escaped(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J.txt"
    path.write_text("what")
    with pytest.raises(SourceError) as error:
        import_sources([str(path)])
    assert "\x1b" not in str(error.value)


def test_the_same_sources_in_any_order_give_the_same_image() -> None:
    names = ("topics.txt", "kcat.json", "brokers.json", "log-dirs.json")
    paths = [str(CASES[0] / name) for name in names]
    assert import_sources(paths).image == import_sources(paths[::-1]).image
