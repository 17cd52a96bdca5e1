"""kcat while the cluster is broken; it runs where kcat is installed."""

import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import IO, Final

import pytest

from tests.wire.clients import WAIT_SECONDS, Sender, Stored
from tests.wire.test_faults import FAULTS, KRAFT, PARTITIONS, assert_kept, send_through
from tidegauge.kafka_cluster import KafkaCluster

TOPIC: Final = "orders"
DELIVERED: Final = re.compile(r"Message delivered to partition (\d+) \(offset (\d+)\)")

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed"),
    pytest.mark.kafka(config={"min.insync.replicas": 2}),
]


class KcatSender(Sender):
    """A kcat for each partition: it sends each line that it is given, and tells the offset.

    It tells offsets in the order of the lines, because the producer is idempotent.
    kcat ends when it has lost every connection, also to brokers that it does not need at the time:
    without sparse connections it connects again to those, too.
    """

    def __init__(self, servers: str) -> None:
        super().__init__()
        self._processes: list[subprocess.Popen[str]] = []
        self._readers: list[threading.Thread] = []
        self._sent: list[list[str]] = [[] for _ in range(PARTITIONS)]
        for partition in range(PARTITIONS):
            process = subprocess.Popen(
                [
                    *("kcat", "-P", "-v", "-v", "-b", servers, "-t", TOPIC, "-p", str(partition)),
                    *("-X", "enable.idempotence=true", "-X", "acks=all", "-X", "linger.ms=2"),
                    *("-X", "enable.sparse.connections=false"),
                    *("-X", "reconnect.backoff.max.ms=200"),
                ],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert process.stderr is not None
            reader = threading.Thread(target=self._listen, args=(process.stderr, partition))
            reader.start()
            self._processes.append(process)
            self._readers.append(reader)

    def _listen(self, told: IO[str], partition: int) -> None:
        sent = iter(self._sent[partition])
        for line in told:
            if "Delivery failed" in line:
                self.failed.append(line)
            elif found := DELIVERED.search(line):
                assert int(found[1]) == partition
                self.acknowledged.append(Stored(partition, int(found[2]), next(sent)))

    def send(self, topic: str, partition: int, value: str) -> None:
        assert topic == TOPIC
        stdin = self._processes[partition].stdin
        assert stdin is not None
        self._sent[partition].append(value)
        stdin.write(value + "\n")
        stdin.flush()

    def flush(self) -> None:
        """Send the rest: the processes end."""
        for process, reader in zip(self._processes, self._readers, strict=True):
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(WAIT_SECONDS) == 0
            reader.join()

    def close(self) -> None:
        """End the processes, whatever they are at."""
        for process, reader in zip(self._processes, self._readers, strict=True):
            process.kill()
            process.wait()
            reader.join()
            for stream in (process.stdin, process.stderr):
                assert stream is not None
                with suppress(BrokenPipeError):
                    stream.close()


def read(servers: str) -> list[Stored]:
    """Everything from the beginning to the high watermark."""
    words = ["kcat", "-C", "-b", servers, "-t", TOPIC, "-o", "beginning", "-e", "-q"]
    done = subprocess.run(
        [*words, "-f", "%p %o %s\\n"], capture_output=True, text=True, timeout=60, check=True
    )
    rows = [line.split(" ") for line in done.stdout.splitlines()]
    return [Stored(int(partition), int(offset), value) for partition, offset, value in rows]


@pytest.fixture(params=["zk", pytest.param("kraft", marks=KRAFT)])
def sender(request: pytest.FixtureRequest, kafka_cluster: KafkaCluster) -> Iterator[KcatSender]:
    kafka_cluster.run(f"topic create {TOPIC} --partitions {PARTITIONS} --replication-factor 3")
    with closing(KcatSender(kafka_cluster.bootstrap_servers)) as made:
        yield made


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_every_record_that_kcat_is_acknowledged_outlives_the_fault(
    sender: KcatSender, kafka_cluster: KafkaCluster, fault: Callable[[KafkaCluster], None]
) -> None:
    send_through(fault, kafka_cluster, sender)
    sender.flush()
    assert_kept(sender, read(kafka_cluster.bootstrap_servers), idempotent=True)
    kafka_cluster.assert_nothing_lost()
