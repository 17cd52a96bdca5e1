"""What a session file costs, by page size, flush interval and chunk size; today's values marked.

``python -m benchmarks.sessions [--rounds N]``. Three recordings are made again and again of the
same events: a busy cluster at full speed, the same at a live console's pace (400 events a second),
and a short campaign run. Time is the recorder's own CPU time in microseconds an event, the median
of N rounds (3). A seek is one to a random event, from nothing in memory, without the open chunk.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import (
    AnyInput,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    Produce,
    StartBroker,
    Statement,
    Wait,
)
from emulator.scenario.runner import Runner
from sessions.format import writer
from sessions.format.chunks import Chunks
from sessions.format.file import SessionFile
from sessions.format.metadata import Origin
from sessions.garbage_collection import collect_seldom
from sessions.playback.replay import Replay
from sessions.recording import recorder as recording
from sessions.recording.recorder import Recorder

SECOND_US = 1_000_000
LIVE_EVENTS_PER_S = 400
SEEKS = 30
PAGES = (512, 1024, 2048, 4096, 8192)
FLUSHES = (0.05, 0.1, 0.2, 0.5, 1.0)
CHUNKS = (1024, 2048, 4096, 8192, 16384)


def busy() -> tuple[CreateCluster, list[AnyInput]]:
    """Six brokers and forty partitions that are written to, while brokers crash and return."""
    statements: list[AnyInput] = [
        CreateTopic(topic="t", partitions=40, replication_factor=3),
        Wait(duration_us=2 * SECOND_US),
    ]
    for turn in range(6):
        statements += [
            Produce(topic="t", value="value", count=20_000, acks=-1, batch=10),
            CrashBroker(broker=turn % 6),
            Wait(duration_us=20 * SECOND_US),
            StartBroker(broker=turn % 6),
            Wait(duration_us=20 * SECOND_US),
        ]
    return CreateCluster(brokers=6), statements


def short() -> tuple[CreateCluster, list[AnyInput]]:
    """A run such as a campaign has thousands of."""
    return CreateCluster(brokers=3), [
        CreateTopic(topic="t", partitions=1, replication_factor=3),
        Produce(topic="t", value="v", count=20, acks=-1),
        CrashBroker(broker=0),
        Wait(duration_us=30 * SECOND_US),
        StartBroker(broker=0),
        Wait(duration_us=10 * SECOND_US),
    ]


def events_of(spec: CreateCluster, statements: Sequence[AnyInput]) -> tuple[list[Event], float]:
    """What happens, and the CPU seconds that emulating it takes."""
    events: list[Event] = []
    begin = time.process_time()
    runner = Runner(Cluster(spec, (events.append,)))
    for each in statements:
        runner.execute(Statement(each, type(each).__name__))
    return events, time.process_time() - begin


@contextmanager
def configured(page: int, flush: float, chunk: int) -> Iterator[None]:
    """Record with other bytes a page, seconds between flushes and events a chunk."""
    with (
        patch.object(writer, "PAGE_BYTES", page),
        patch.object(recording, "FLUSH_SECONDS", flush),
        patch.object(recording, "CHUNK_EVENTS_MAX", chunk),
    ):
        yield


def recorded(events: list[Event], events_per_s: float, path: Path) -> float:
    """CPU seconds that recording takes where events come at this pace."""
    came = [0]
    with patch.object(recording, "monotonic", lambda: came[0] / events_per_s):
        begin = time.process_time()
        recorder = Recorder(path, Origin("bench", "bench", "3.9", 1, CreateCluster()))
        for event in events:
            came[0] += 1
            recorder(event)
        recorder.close()
        return time.process_time() - begin


def seek_ms(path: Path, last: int) -> float:
    """The 95th percentile of seeks to random events."""
    chance, taken = random.Random(1), []
    for _ in range(SEEKS):
        with SessionFile(path, check=False) as session:
            begin = time.process_time()
            Replay(Chunks(session)).seek_seq(chance.randrange(1, last))
            taken.append((time.process_time() - begin) * 1_000)
    return sorted(taken)[int(SEEKS * 0.95)]


def measured(events: list[Event], pace: float, rounds: int, folder: Path) -> tuple[float, ...]:
    """Microseconds and bytes an event, and milliseconds a seek."""
    seconds = []
    for number in range(rounds):
        path = folder / f"{number}.tide.db"
        path.unlink(missing_ok=True)
        seconds.append(recorded(events, pace, path))
    count = len(events)
    figures = statistics.median(seconds) / count * 1e6, path.stat().st_size / count
    return *figures, seek_ms(path, count)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    collect_seldom()
    today = (writer.PAGE_BYTES, recording.FLUSH_SECONDS, recording.CHUNK_EVENTS_MAX)
    many, seconds = events_of(*busy())
    few, _ = events_of(*short())
    speed = len(many) / seconds
    live = many[: len(many) // 8]
    print(f"busy: {len(many):,} events, {seconds / len(many) * 1e6:.1f} us each to emulate")
    print(f"live: {len(live):,} events at {LIVE_EVENTS_PER_S}/s; short: {len(few):,} events")
    titles = "page  flush  chunk | busy us  bytes  seek ms | live us  bytes | short us  bytes"
    print(titles)
    choices = [
        *((page, *today[1:]) for page in PAGES),
        *((today[0], flush, today[2]) for flush in FLUSHES),
        *((*today[:2], chunk) for chunk in CHUNKS),
    ]
    with tempfile.TemporaryDirectory() as name:
        for choice in dict.fromkeys(choices):
            with configured(*choice):
                one = measured(many, speed, rounds, Path(name))
                two = measured(live, LIVE_EVENTS_PER_S, rounds, Path(name))
                three = measured(few, speed, rounds, Path(name))
            page, flush, chunk = choice
            mark = "  <- today" if choice == today else ""
            print(
                f"{page:>4}  {flush:>5}  {chunk:>5} | {one[0]:>7.2f} {one[1]:>6.2f} "
                f"{one[2]:>8.0f} | {two[0]:>7.2f} {two[1]:>6.2f} | {three[0]:>8.1f} "
                f"{three[1]:>6.1f}{mark}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
