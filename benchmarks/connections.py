"""Many connections at once: ``python -m benchmarks.connections [TREE ..]``.

200 connections ask a served cluster for metadata once a second each, alone and while
confluent-kafka writes as fast as it can. Alone, the server's processor time is told too, for each
request. TREE names other copies of the program, such as a git
worktree of an older commit; their servers are measured in turns with this one's.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

import msgspec
from confluent_kafka import Producer

from emulator.wire.apis import API_NAMED
from emulator.wire.codec import encode_request
from emulator.wire.header import RequestHeader
from emulator.wire.messages.cluster import MetadataRequest, MetadataRequestTopic
from tests.support.background import background

CONNECTIONS: Final = 200
SECONDS: Final = 8
VERSION: Final = 9
REQUEST: Final = MetadataRequest([MetadataRequestTopic(name="t")])
METADATA: Final = API_NAMED["Metadata"].key
VALUE: Final = bytes(100)
ROOT: Final = Path(__file__).parents[1]


@contextmanager
def served(tree: Path) -> Iterator[tuple[str, int]]:
    """A cluster served by the program in a folder; yields its bootstrap servers and process."""
    command = [sys.executable, "-P", "-m", "tidegauge", "serve", "--port", "0", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        try:
            where = msgspec.json.decode(process.stdout.readline(), type=dict[str, Any])
            yield where["bootstrap_servers"], process.pid
        finally:
            process.terminate()


async def asked(host: str, port: int, begin: float, taken: list[float]) -> None:
    """Ask once a second on a connection of its own."""
    reader, writer = await asyncio.open_connection(host, port)
    frame = encode_request(RequestHeader(METADATA, VERSION, 1, "benchmark"), REQUEST)
    for second in range(SECONDS):
        await asyncio.sleep(max(0.0, begin + second - time.perf_counter()))
        sent = time.perf_counter()
        writer.write(len(frame).to_bytes(4) + frame)
        await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
        taken.append(time.perf_counter() - sent)
    writer.close()


async def measured(servers: str) -> list[float]:
    """Return the seconds that each request took; connections are spread over a second."""
    addresses = [address.rsplit(":", 1) for address in servers.split(",")]
    taken: list[float] = []
    begin = time.perf_counter() + 1
    async with asyncio.TaskGroup() as group:
        for number in range(CONNECTIONS):
            host, port = addresses[number % len(addresses)]
            group.create_task(asked(host, int(port), begin + number / CONNECTIONS, taken))
    return taken


def write(servers: str, ended: threading.Event) -> None:
    """Write as fast as records are acknowledged."""
    producer = Producer({"bootstrap.servers": servers, "acks": "all", "log_level": 0})
    while not ended.is_set():
        try:
            producer.produce("t", VALUE)
        except BufferError:
            producer.poll(0.05)
    producer.purge()
    producer.flush(SECONDS)


def processor_seconds(process: int) -> float:
    """Return the processor time that a process has used."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def told(name: str, taken: Sequence[float], more: str = "") -> None:
    """Print the median, the 99th percentile and the maximum, in milliseconds."""
    cuts = quantiles(taken, n=100)
    figures = (cuts[49], cuts[98], max(taken))
    p50, p99, most = (f"{seconds * 1_000:.1f}" for seconds in figures)
    print(f"  {name}: p50 {p50} ms, p99 {p99} ms, longest {most} ms{more}", flush=True)


def main() -> None:
    """Measure each tree twice, in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path, help="folders of other versions")
    trees = [ROOT, *parser.parse_args().trees]
    for tree in (*trees, *trees):
        print(tree)
        with served(tree) as (servers, process):
            Producer({"bootstrap.servers": servers}).list_topics("t", SECONDS)
            used = processor_seconds(process)
            taken = asyncio.run(measured(servers))
            each_us = (processor_seconds(process) - used) / len(taken) * 1_000_000
            told("alone", taken, f", {each_us:.0f} us of processor time each")
            with background(partial(write, servers)):
                told("under load", asyncio.run(measured(servers)))


if __name__ == "__main__":
    main()
