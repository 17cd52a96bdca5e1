"""Files as people have them: rotated, in zones, collected, compressed, wrong, damaged, hostile."""

import gzip
import multiprocessing
import random
import threading
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from sessions.own_cluster.reading import SourceError
from sessions.postmortem.text_logs import facts, log_file, merging
from sessions.postmortem.text_logs.blocks import LINE_BYTES_MAX
from sessions.postmortem.text_logs.log_file import Progress, entries_of, recognize
from sessions.postmortem.text_logs.merging import find_text_logs
from sessions.postmortem.text_logs.times import Clock
from tests.sessions.postmortem.text_logs.recorded import KRAFT, RECORDINGS, WITH_ZOOKEEPER

STARTED = "[{time}] INFO [KafkaServer id={node}] started (kafka.server.KafkaServer)\n"
SHRINK = (
    "[{time}] INFO [Partition t-0 broker={node}] Shrinking ISR from 1,2 to 1 "
    "(kafka.cluster.Partition)\n"
)


def written(path: Path, *lines: str, node: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(
        STARTED.format(time=line, node=node) if line[:1] == "2" else line for line in lines
    )
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def times_of(path: Path, zone: str = "UTC") -> list[str]:
    logs = find_text_logs([path], UTC if zone == "UTC" else ZoneInfo(zone))
    return [
        datetime.fromtimestamp(entry.time_us / 1e6, UTC).isoformat(timespec="milliseconds")[:23]
        for entry in logs.entries()
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-23 19:05:07,079", "2026-11-23T19:05:07.079"),
        ("2026-11-23 19:05:07.079", "2026-11-23T19:05:07.079"),
        ("2026-11-23T19:05:07.079Z", "2026-11-23T19:05:07.079"),
        ("2026-11-23T19:05:07.079123+01:00", "2026-11-23T18:05:07.079"),
        ("2026-11-23 19:05:07,079 -0530", "2026-11-24T00:35:07.079"),
        ("2026/11/23 19:05:07", "2026-11-23T19:05:07.000"),
        ("23 Nov 2026 19:05:07,079", "2026-11-23T19:05:07.079"),
    ],
)
def test_times_in_many_forms(text: str, expected: str) -> None:
    time_us = Clock().time_us(f"[{text}] INFO started".encode())
    assert time_us is not None
    moment = datetime.fromtimestamp(time_us / 1e6, UTC)
    assert moment.isoformat(timespec="milliseconds").removesuffix("+00:00") == expected


@pytest.mark.parametrize(
    "text", ["2026-13-23 19:05:07,079", "2026-11-23", "19:05:07,079", "x" * 200]
)
def test_what_is_no_time(text: str) -> None:
    assert Clock().time_us(text.encode()) is None


def test_a_zone_is_applied_to_times_that_do_not_say_theirs(tmp_path: Path) -> None:
    path = written(tmp_path / "server.log", "2026-07-01 12:00:00,000", "2026-11-01 12:00:00,000")
    assert times_of(path, "Europe/Berlin") == ["2026-07-01T10:00:00.000", "2026-11-01T11:00:00.000"]
    logs = find_text_logs([path], ZoneInfo("Europe/Berlin"))
    assert logs.zone_note == (
        "the times of 1 text log say no time zone: taken as Europe/Berlin (--tz ZONE)"
    )
    zoned = written(tmp_path / "zoned.log", "2026-07-01T12:00:00.000+02:00")
    assert find_text_logs([zoned]).zone_note is None


def test_the_hour_that_occurs_twice_is_told_apart_by_the_order_of_lines(tmp_path: Path) -> None:
    path = written(
        tmp_path / "server.log",
        "2026-10-25 02:50:00,000",
        "2026-10-25 02:10:00,000",
        "2026-10-25 03:00:00,000",
    )
    assert times_of(path, "Europe/Berlin") == [
        "2026-10-25T00:50:00.000",
        "2026-10-25T01:10:00.000",
        "2026-10-25T02:00:00.000",
    ]


def test_rotated_and_compressed_files_are_read_in_the_order_of_their_times(tmp_path: Path) -> None:
    written(tmp_path / "server.log", "2026-11-23 21:00:00,000")
    written(tmp_path / "server.log.2026-11-23-19", "2026-11-23 19:00:00,000")
    written(tmp_path / "server.log.2026-11-23-20.gz", "2026-11-23 20:00:00,000")
    written(tmp_path / "server.log.1", "2026-11-23 18:00:00,000")
    logs = find_text_logs([tmp_path])
    assert [file.kind for file in logs.files] == ["server.log"] * 4
    assert [time[11:13] for time in times_of(tmp_path)] == ["18", "19", "20", "21"]


def test_what_two_files_of_a_node_say_alike_counts_once(tmp_path: Path) -> None:
    written(tmp_path / "server.log", "2026-11-23 21:00:00,000", "2026-11-23 22:00:00,000")
    written(tmp_path / "kafkaServer.out", "2026-11-23 21:00:00,000", "OpenJDK warning\n")
    assert len(times_of(tmp_path)) == 2


def test_a_node_is_found_in_lines_then_in_names(tmp_path: Path) -> None:
    silent = (
        "[2026-11-23 21:00:00,000] INFO zookeeper state changed (Expired) "
        "(org.I0Itec.zkclient.ZkClient)\n"
    )
    named = written(tmp_path / "kafka-7" / "server.log", silent)
    both = written(tmp_path / "kafka-8" / "server.log", "2026-11-23 21:00:00,000", node=3)
    nobody = written(tmp_path / "logs" / "other.log", silent)
    assert [recognize(path, str(path)).node for path in (named, both, nobody)] == [7, 3, None]


def test_lines_of_several_nodes_in_one_file_belong_to_each(tmp_path: Path) -> None:
    lines = [STARTED.format(time=f"2026-11-23 21:00:0{node},000", node=node) for node in (1, 2, 3)]
    path = written(tmp_path / "all.log", *lines)
    entries = list(entries_of(recognize(path, "all.log")))
    assert [entry.node for entry in entries] == [1, 2, 3]


def test_what_is_repeated_many_times_a_second_is_told_every_ten_seconds(tmp_path: Path) -> None:
    lines = [SHRINK.format(time=f"2026-11-23 21:00:{n:02},000", node=1) for n in range(60)]
    logs = find_text_logs([written(tmp_path / "server.log", *lines)])
    assert len(list(logs.entries())) == 1
    assert logs.progress.repeated == 59


def shifted(source: Path, target: Path, seconds: int) -> None:
    """A copy of a node's logs whose clock was ahead."""
    target.mkdir()
    for path in source.iterdir():
        lines = []
        for written_line in gzip.decompress(path.read_bytes()).decode().split("\n"):
            line = written_line
            if line[:3] == "[20":
                moment = datetime.strptime(line[1:20], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
                later = datetime.fromtimestamp(moment.timestamp() + seconds, UTC)
                line = f"[{later:%Y-%m-%d %H:%M:%S}{line[20:]}"
            lines.append(line)
        (target / path.name.removesuffix(".gz")).write_text("\n".join(lines))


@pytest.mark.parametrize("release", [*WITH_ZOOKEEPER, *KRAFT])
def test_a_clock_that_is_ahead_is_found_and_one_that_is_not_is_not(
    tmp_path: Path, release: str
) -> None:
    logs = find_text_logs([RECORDINGS / release])
    assert list(logs.entries())
    assert not [found.sentence for found in logs.clock_differences if found.is_significant]
    for folder in (RECORDINGS / release).iterdir():
        shifted(folder, tmp_path / folder.name, 90 if folder.name.endswith("1") else 0)
    logs = find_text_logs([tmp_path])
    assert list(logs.entries())
    ahead = {found.node: found for found in logs.clock_differences}
    if 1 in ahead:
        assert ahead[1].is_significant
        assert ahead[1].ahead_us / 1e6 == pytest.approx(90, abs=8)
    else:  # it is the one that the others are compared with
        assert all(found.ahead_us / 1e6 == pytest.approx(-90, abs=8) for found in ahead.values())


WRONG = [
    ("topics.txt", b"Topic: t\tPartitionCount: 1\n", "a text of an unknown kind"),
    ("0.log", bytes(100), "a binary file"),
    ("log.1", b"ZKLG" + bytes(20), "a transaction log of ZooKeeper"),
    ("server.log", b"19:05:07,079 INFO started\n" * 3, "a time of day and no date"),
    ("dates.log", b"2026-11-23 19:05:07,079 x\n", "unknown kind"),
    ("empty.log", b"", "empty"),
    ("bomb.log.gz", gzip.compress(bytes(1 << 22)), "a binary file"),
]


@pytest.mark.parametrize(("name", "data", "expected"), WRONG, ids=[name for name, _, _ in WRONG])
def test_a_file_that_is_no_text_log_is_refused_in_one_sentence(
    tmp_path: Path, name: str, data: bytes, expected: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SourceError) as error:
        find_text_logs([tmp_path / name])
    assert expected in str(error.value)
    assert "\n" not in str(error.value)
    assert not find_text_logs([tmp_path]).files  # in a folder it is left out


def test_a_small_file_that_unpacks_to_endless_zeros_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_file, "UNTIMED_BYTES_MAX", 1 << 23)
    line = STARTED.format(time="2026-11-23 21:00:00,000", node=1).encode()
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(line + bytes(1 << 26), 9))
    logs = find_text_logs([path])
    tracemalloc.start()
    try:
        assert len(list(logs.entries())) == 1
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()
    assert len(logs.notes) == 1
    assert "it is no log" in logs.notes[0]
    assert logs.progress.bytes < 1 << 25


def test_two_processes_read_what_one_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RECORDINGS / "2.4.1"
    logs = find_text_logs([folder])
    alone = list(logs.entries())
    figures = logs.progress, logs.counts, logs.clock_differences
    monkeypatch.setattr(merging, "FORKED_BYTES_MIN", 0)
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # other tests leave some behind
    assert list(logs.entries()) == alone
    assert (logs.progress, logs.counts, logs.clock_differences) == figures


def test_the_other_process_ends_with_whoever_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for node in (1, 2):
        times = [f"2026-11-23 21:00:00,{number % 1000:03}" for number in range(5_000)]
        written(tmp_path / f"node{node}" / "server.log", *times, node=node)
    monkeypatch.setattr(merging, "FORKED_BYTES_MIN", 0)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    reading = find_text_logs([tmp_path]).entries()
    next(reading)
    assert multiprocessing.active_children()  # it waits: the pipe holds less
    reading.close()
    assert not multiprocessing.active_children()


def test_notes_of_the_other_process_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for node in (1, 2):
        times = [f"2026-11-23 21:00:0{second},000" for second in range(9)]
        written(tmp_path / f"node{node}" / "server.log.gz", *times, node=node)
    logs = find_text_logs([tmp_path])
    path = tmp_path / "node1" / "server.log.gz"
    path.write_bytes(path.read_bytes()[:-20])
    monkeypatch.setattr(merging, "FORKED_BYTES_MIN", 0)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert {entry.node for entry in logs.entries()} >= {2}
    assert len(logs.notes) == 1
    assert "node1/server.log.gz" in logs.notes[0]
    assert "damaged" in logs.notes[0]


@pytest.mark.parametrize("filler", [b"x", b"\0", b"(", b"[Partition ", b"Shrinking ISR from 1,"])
def test_lines_of_any_length_take_neither_memory_nor_time(tmp_path: Path, filler: bytes) -> None:
    line = STARTED.format(time="2026-11-23 21:00:00,000", node=1).encode()
    head = b"[2026-11-23 21:00:01,000] INFO Partition [t,0] on broker 1: Shrinking ISR "
    long = head + filler * (3 * LINE_BYTES_MAX // len(filler)) + b" (kafka.cluster.Partition)\n"
    path = tmp_path / "server.log"
    path.write_bytes(line + long + line)
    progress = Progress()
    entries = list(entries_of(recognize(path, "server.log"), progress=progress))
    assert [entry.line for entry in entries] == [1, 3]
    assert progress.lines == 3


def test_a_last_line_without_an_end_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    lines = [STARTED.format(time=f"2026-11-23 21:00:0{n},000", node=1) for n in range(3)]
    path = tmp_path / "server.log"
    path.write_bytes("".join(lines).replace("\n", "\r\n").removesuffix("\r\n").encode())
    assert [entry.line for entry in entries_of(recognize(path, "x"))] == [1, 2, 3]


def test_random_mutations_are_read_or_refused_in_one_sentence(tmp_path: Path) -> None:
    drawn = random.Random("text logs")
    sources = sorted(RECORDINGS.rglob("*.gz"))
    for number in range(150):
        data = drawn.choice(sources).read_bytes()
        is_packed = number % 3 == 0
        mutated = bytearray(data if is_packed else gzip.decompress(data)[:40_000])
        for _ in range(drawn.randint(1, 12)):
            at = drawn.randrange(len(mutated))
            mutated[at : at + drawn.randint(0, 40)] = drawn.randbytes(drawn.randint(0, 40))
        path = tmp_path / f"{number}.log"
        path.write_bytes(mutated)
        try:
            logs = find_text_logs([path])
        except SourceError as error:
            sentences = [str(error)]
        else:
            entries = list(logs.entries())
            sentences = [*logs.notes, *(entry.sentence for entry in entries)]
            assert all(isinstance(entry.fact, facts.Fact) for entry in entries)
        assert all(len(sentence) < 3_000 and "\n" not in sentence for sentence in sentences)
