"""The Java client while the cluster is broken; it runs where ``KAFKA_LIBS`` names its jars."""

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import pytest

from tests.wire.clients import WAIT_SECONDS, Sender, Stored
from tests.wire.test_faults import FAULTS, KRAFT, PARTITIONS, assert_kept, send_through
from tidegauge.kafka_cluster import KafkaCluster

LIBS: Final = os.environ.get("KAFKA_LIBS")
PROGRAM: Final = Path(__file__).with_name("Faults.java")
TOPIC: Final = "orders"
COORDINATING: Final = 20
"""The partition of __transaction_state to which the id "x" belongs: its hash code modulo 50."""
QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(
        LIBS is None or shutil.which("java") is None, reason="KAFKA_LIBS names no jars of Kafka"
    ),
    pytest.mark.kafka(config={"min.insync.replicas": 2}),
]


class JavaSender(Sender):
    """The program ``Faults.java``, whose producer is idempotent.

    It sends what it is given, and reads everything back at the end.
    """

    def __init__(self, servers: str) -> None:
        super().__init__()
        self.read: list[Stored] = []
        words = [str(PROGRAM), servers, TOPIC]
        self._process = subprocess.Popen(
            ["java", *QUICK, "-cp", str(Path(LIBS or "") / "*"), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._reader = threading.Thread(target=self._listen)
        self._reader.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            kind, told = line.rstrip().split(" ", 1)
            if kind == "failed":
                self.failed.append(told)
            else:
                partition, offset, value = told.split(" ")
                stored = Stored(int(partition), int(offset), value)
                (self.read if kind == "read" else self.acknowledged).append(stored)

    def send(self, topic: str, partition: int, value: str) -> None:
        assert topic == TOPIC
        assert self._process.stdin is not None
        self._process.stdin.write(f"{partition} {value}\n")
        self._process.stdin.flush()

    def flush(self) -> None:
        """Send the rest, and have everything read back: the program ends."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(2 * WAIT_SECONDS) == 0
        self._reader.join()

    def close(self) -> None:
        """End the program, whatever it is at."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


@pytest.fixture(params=["zk", pytest.param("kraft", marks=KRAFT)])
def sender(request: pytest.FixtureRequest, kafka_cluster: KafkaCluster) -> Iterator[JavaSender]:
    kafka_cluster.run(f"topic create {TOPIC} --partitions {PARTITIONS} --replication-factor 3")
    with closing(JavaSender(kafka_cluster.bootstrap_servers)) as made:
        yield made


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_every_record_that_the_java_client_is_acknowledged_outlives_the_fault(
    sender: JavaSender, kafka_cluster: KafkaCluster, fault: Callable[[KafkaCluster], None]
) -> None:
    send_through(fault, kafka_cluster, sender)
    sender.flush()
    assert_kept(sender, sender.read, idempotent=True)
    kafka_cluster.assert_nothing_lost()


NEWER: Final = pytest.mark.kafka(version="4.1", config={"min.insync.replicas": 2})


@pytest.mark.parametrize("bumps", [False, pytest.param(True, marks=NEWER)], ids=["3.9", "4.1"])
def test_transactions_of_the_java_client_are_atomic(
    kafka_cluster: KafkaCluster, bumps: bool
) -> None:
    """From 4.0 on it uses transactions of version 2 (KIP-890): each has an epoch of its own."""
    kafka_cluster.run(f"topic create {TOPIC} --partitions 2 --replication-factor 3")
    program = PROGRAM.with_name("Transactions.java")
    words = [str(program), kafka_cluster.bootstrap_servers, TOPIC]
    process = subprocess.Popen(
        ["java", *QUICK, "-cp", str(Path(LIBS or "") / "*"), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    typed, printed = process.stdin, process.stdout
    assert typed is not None
    assert printed is not None

    def transact(outcome: str, value: str) -> int:
        typed.write(f"{outcome} {value}\n")
        typed.flush()
        kind, epoch = printed.readline().split()
        assert kind == "epoch"
        return int(epoch)

    with process:
        epochs = [transact("commit", "a"), transact("abort", "b"), transact("commit", "c")]
        kafka_cluster.crash(kafka_cluster.leader("__transaction_state", COORDINATING))
        epochs += [transact("commit", "d"), transact("abort", "e")]
        told, _ = process.communicate(timeout=2 * WAIT_SECONDS)
    assert epochs == (list(range(epochs[0], epochs[0] + 5)) if bumps else [epochs[0]] * 5)
    assert told.splitlines()[0] == "committed 4"
    assert sorted(told.splitlines()[1:]) == [f"read {v}" for v in "acd" for _ in range(2)]
    kafka_cluster.assert_nothing_lost()
