"""Kafka's own share consumer (KIP-932), while leaders die and members freeze."""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.wire.clients import Confluent
from tests.wire.members import eventually
from tidegauge.kafka_cluster import KafkaCluster

LIBS: Final = os.environ.get("KAFKA_LIBS")
PROGRAM: Final = Path(__file__).with_name("ShareFollower.java")
QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
TOPIC: Final = "orders"
PARTITIONS: Final = 2
SETTINGS: Final = {
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "300",
    "group.share.min.session.timeout.ms": "1000",
    "group.share.session.timeout.ms": "6000",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "3000",
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
}
START_S: Final = 120
LIMIT: Final = 5
"""group.share.delivery.count.limit."""

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(
        LIBS is None or shutil.which("java") is None, reason="KAFKA_LIBS names no jars of Kafka"
    ),
]


class Delivered(NamedTuple):
    """A record that a member acknowledged: where, what, and for which time it was delivered."""

    partition: int
    offset: int
    value: str
    deliveries: int


class ShareFollower:
    """The program ``ShareFollower.java``."""

    def __init__(self, servers: str, group: str) -> None:
        self.stored: list[Delivered] = []
        words = ["-cp", str(Path(LIBS or "") / "*"), str(PROGRAM), servers, group, TOPIC]
        self.process = subprocess.Popen(
            ["java", *QUICK, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._started = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            kind, *told = line.split()
            if kind == "started":
                self._started.set()
            elif kind == "stored":
                self.stored.append(Delivered(int(told[0]), int(told[1]), told[2], int(told[3])))

    def wait_for_start(self) -> None:
        """Wait until the program is compiled and runs, which takes long on a busy machine."""
        assert self._started.wait(START_S)

    def kill(self) -> None:
        """End it with no chance to leave its group."""
        self.process.kill()
        self.process.communicate()
        self._reader.join()


@pytest.fixture
def followers(kafka_cluster: KafkaCluster) -> Iterator[list[ShareFollower]]:
    """Two members of a share group, which have begun with both partitions."""
    kafka_cluster.run(f"topic create {TOPIC} --partitions {PARTITIONS} --replication-factor 3")
    with ExitStack() as ended:
        members = [ShareFollower(kafka_cluster.bootstrap_servers, "billing") for _ in range(2)]
        for member in members:
            ended.callback(member.kill)
        for member in members:
            member.wait_for_start()
        begun = 0

        def has_begun() -> bool:
            nonlocal begun
            begun += 1
            send(kafka_cluster, [f"first{begun}-{number}" for number in range(PARTITIONS)])
            seen = {each.partition for member in members for each in member.stored}
            return seen == set(range(PARTITIONS))

        eventually(has_begun, "both partitions are read from their ends on")
        yield members


def send(cluster: KafkaCluster, values: list[str]) -> None:
    client = Confluent(cluster.bootstrap_servers)
    with client.sender(idempotent=True) as sender:
        for number, value in enumerate(values):
            sender.send(TOPIC, number % PARTITIONS, value)
    assert sender.failed == []


def values(followers: list[ShareFollower], prefix: str) -> list[str]:
    return [e.value for each in followers for e in each.stored if e.value.startswith(prefix)]


@pytest.mark.kafka(version="4.2", config=SETTINGS)
def test_records_outlive_their_leader_and_a_frozen_member(
    followers: list[ShareFollower], kafka_cluster: KafkaCluster
) -> None:
    one, two = followers
    wanted = [f"v{number}" for number in range(40)]
    send(kafka_cluster, wanted[:20])
    eventually(lambda: set(values(followers, "v")) == set(wanted[:20]), "all is read")
    kafka_cluster.crash(kafka_cluster.leader(TOPIC, 0))
    send(kafka_cluster, wanted[20:])
    eventually(lambda: set(values(followers, "v")) == set(wanted), "all is read at the next leader")
    one.process.send_signal(signal.SIGSTOP)
    more = [f"w{number}" for number in range(20)]
    send(kafka_cluster, more)
    eventually(lambda: set(values([two], "w")) == set(more), "the other member gets what it held")
    one.process.send_signal(signal.SIGCONT)
    kafka_cluster.assert_nothing_lost()


@pytest.mark.kafka(version="4.4", config=SETTINGS)
def test_a_record_that_nobody_accepts_is_delivered_as_often_as_is_allowed(
    followers: list[ShareFollower], kafka_cluster: KafkaCluster
) -> None:
    send(kafka_cluster, ["poison"])
    send(kafka_cluster, ["after0", "after1"])

    def deliveries() -> list[int]:
        return sorted(e.deliveries for f in followers for e in f.stored if e.value == "poison")

    eventually(lambda: len(deliveries()) >= LIMIT, "it is delivered again and again")
    eventually(lambda: set(values(followers, "after")) == {"after0", "after1"}, "what follows")
    assert deliveries() == list(range(1, LIMIT + 1))
