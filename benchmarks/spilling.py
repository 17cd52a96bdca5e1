"""Memory of a server under gigabytes of traffic: ``python -m benchmarks.spilling [GIGABYTES]``.

A producer writes records of 100 kB, in batches of 1 MB, as fast as they are acknowledged. Then a
consumer reads everything from the beginning, while the server's memory is watched.
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

import msgspec
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

RECORD_BYTES: Final = 100_000
PARTITIONS: Final = 3
TOPIC: Final = "traffic"
SECONDS: Final = 60
FAST: Final = {
    "log_level": 0,
    "acks": "all",
    "linger.ms": 5,
    "batch.size": 1_000_000,
    "message.max.bytes": 2_000_000,
    "queue.buffering.max.kbytes": 65_536,
    "fetch.message.max.bytes": 8_000_000,
    "queued.max.messages.kbytes": 65_536,
}


class Watch(threading.Thread):
    """Looks at the resident memory of a process ten times a second."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._path = Path(f"/proc/{process}/statm")
        self.peak = 0

    def run(self) -> None:
        """Look until the process ends."""
        while True:
            try:
                pages = int(self._path.read_text().split()[1])
            except (OSError, IndexError):
                return
            self.peak = max(self.peak, pages * os.sysconf("SC_PAGE_SIZE"))
            time.sleep(0.1)


def value_of(number: int) -> bytes:
    """A record that is like no other."""
    return number.to_bytes(8) * (RECORD_BYTES // 8)


def written(client: dict[str, Any], count: int) -> float:
    """Write ``count`` records; return the seconds that it took."""
    failed: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer(client)
    begin = time.perf_counter()
    for number in range(count):
        record = (TOPIC, value_of(number), number.to_bytes(8))
        while True:
            try:
                producer.produce(*record, partition=number % PARTITIONS, on_delivery=delivered)
                break
            except BufferError:
                producer.poll(0.1)
    left = producer.flush(10 * SECONDS)
    if failed or left:
        raise SystemExit(f"{len(failed)} records failed, {left} were not sent: {failed[:1]}")
    return time.perf_counter() - begin


def read(client: dict[str, Any], count: int) -> float:
    """Read everything from the first offsets on and compare; return the seconds that it took."""
    consumer = Consumer({**client, "group.id": "reader", "enable.auto.commit": False})
    consumer.assign([TopicPartition(TOPIC, partition, 0) for partition in range(PARTITIONS)])
    begin, seen = time.perf_counter(), 0
    while seen < count:
        messages = consumer.consume(1_000, SECONDS)
        if not messages:
            raise SystemExit(f"only {seen:,} of {count:,} records can be read")
        for message in messages:
            if message.error() or message.value() != value_of(int.from_bytes(message.key() or b"")):
                raise SystemExit(f"offset {message.offset()} is not what was written")
            seen += 1
    consumer.close()
    return time.perf_counter() - begin


def main() -> None:
    """Print the peak of the server's memory and the rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gigabytes", type=float, nargs="?", default=10.0)
    parser.add_argument("options", nargs="*", help="further options of 'tidegauge serve'")
    given = parser.parse_args()
    count = round(given.gigabytes * 1e9 / RECORD_BYTES)
    command = [sys.executable, "-m", "tidegauge", "serve", "--port", "0", "--json", *given.options]
    configuration = ["--config", f"num.partitions={PARTITIONS}"]
    with subprocess.Popen([*command, *configuration], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        where = msgspec.json.decode(server.stdout.readline(), type=dict[str, Any])
        client = {"bootstrap.servers": where["bootstrap_servers"], **FAST}
        watch = Watch(server.pid)
        watch.start()
        try:
            for name, work in (("written", written), ("read", read)):
                seconds = work(client, count)
                rate = given.gigabytes * 1e3 / seconds
                peak = watch.peak / (1 << 20)
                print(f"{name}: {given.gigabytes} GB in {seconds:.0f} s, {rate:.0f} MB/s,", end=" ")
                print(f"peak of the server's memory {peak:.0f} MiB", flush=True)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
