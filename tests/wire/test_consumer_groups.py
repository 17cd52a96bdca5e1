"""Real clients with ``group.protocol=consumer`` (KIP-848), while members and coordinators die."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Protocol

import pytest

from tests.wire.clients import NEW_PROTOCOL, Confluent, Stored
from tests.wire.members import Member, eventually
from tidegauge.kafka_cluster import KafkaCluster

LIBS: Final = os.environ.get("KAFKA_LIBS")
PROGRAM: Final = Path(__file__).with_name("Follower.java")
QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
TOPIC: Final = "orders"
PARTITIONS: Final = 4
SETTINGS: Final = {
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "3000",
    "offsets.topic.num.partitions": "1",
}
START_S: Final = 120

pytest.importorskip("confluent_kafka")

pytestmark = pytest.mark.clients


class Follower(Protocol):
    """A member of a group: its partitions, and what it has read and committed."""

    assigned: list[int]
    records: list[Stored]

    def kill(self) -> None:
        """End it with no chance to leave its group."""


class JavaFollower:
    """The program ``Follower.java``."""

    def __init__(self, servers: str, group: str, topic: str, protocol: str = "consumer") -> None:
        self.assigned: list[int] = []
        self.records: list[Stored] = []
        words = ["-cp", str(Path(LIBS or "") / "*"), str(PROGRAM), servers, group, topic, protocol]
        self._process = subprocess.Popen(
            ["java", *QUICK, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._started = threading.Event()
        self._reader.start()

    def wait_for_start(self) -> None:
        """Wait until the program is compiled and runs, which takes long on a busy machine."""
        assert self._started.wait(START_S)

    def _read(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "started\n"
        self._started.set()
        for line in self._process.stdout:
            kind, *told = line.split()
            if kind == "assigned":
                self.assigned = sorted(int(each) for each in "".join(told).split(",") if each)
            elif kind == "read":
                self.records.append(Stored(int(told[0]), int(told[1]), told[2]))

    def kill(self) -> None:
        """End it with no chance to leave its group."""
        self._process.kill()
        self._process.communicate()
        self._reader.join()


NEEDS_JAVA: Final = pytest.mark.skipif(
    LIBS is None or shutil.which("java") is None, reason="KAFKA_LIBS names no jars of Kafka"
)


def made(name: str, servers: str) -> Follower:
    client, _, protocol = name.partition(" ")
    if client == "java":
        return JavaFollower(servers, "billing", TOPIC, protocol)
    return Member(name, servers, "billing", TOPIC)


@pytest.fixture
def followers(
    request: pytest.FixtureRequest, kafka_cluster: KafkaCluster
) -> Iterator[list[Follower]]:
    """Two members of a group, each of the client that the test names."""
    kafka_cluster.run(f"topic create {TOPIC} --partitions {PARTITIONS} --replication-factor 3")
    with ExitStack() as ended:
        members = [made(name, kafka_cluster.bootstrap_servers) for name in request.param]
        for member in members:
            ended.callback(member.kill)
        for member in members:
            if isinstance(member, JavaFollower):
                member.wait_for_start()
        yield members


def send(cluster: KafkaCluster, count: int, first: int = 0) -> None:
    client = Confluent(cluster.bootstrap_servers)
    with client.sender(idempotent=True) as sender:
        for number in range(first, first + count):
            sender.send(TOPIC, number % PARTITIONS, f"v{number}")
    assert sender.failed == []


def coordinator(cluster: KafkaCluster) -> int:
    """The broker that coordinates the group."""
    return cluster.leader("__consumer_offsets", 0)


@pytest.mark.kafka(version="4.1", config=SETTINGS)
@pytest.mark.parametrize(
    "followers",
    [[NEW_PROTOCOL, NEW_PROTOCOL], pytest.param(["java consumer"] * 2, marks=NEEDS_JAVA)],
    indirect=True,
    ids=["librdkafka", "java"],
)
def test_a_group_outlives_its_coordinator_and_its_members(
    followers: list[Follower], kafka_cluster: KafkaCluster
) -> None:
    one, two = followers
    eventually(
        lambda: sorted(one.assigned + two.assigned) == [0, 1, 2, 3] and len(one.assigned) == 2,
        f"each has two partitions: {one.assigned} {two.assigned}",
    )
    send(kafka_cluster, 20)
    eventually(lambda: len(one.records + two.records) == 20, "all is read")
    before = one.assigned, two.assigned
    kafka_cluster.crash(coordinator(kafka_cluster))
    send(kafka_cluster, 20, first=20)
    eventually(lambda: len(set(one.records + two.records)) == 40, "all is read without it, too")
    assert (one.assigned, two.assigned) == before, "the next coordinator knows who owns what"
    one.kill()
    eventually(lambda: two.assigned == [0, 1, 2, 3], f"the other gets the rest: {two.assigned}")
    send(kafka_cluster, 20, first=40)
    eventually(lambda: len(set(one.records + two.records)) == 60, "all is read by the other")
    kafka_cluster.assert_nothing_lost()


@pytest.mark.kafka(version="4.1", config=SETTINGS | {"group.min.session.timeout.ms": "1000"})
@pytest.mark.parametrize(
    "followers",
    [
        ["confluent-kafka", NEW_PROTOCOL],
        pytest.param(["java classic", "java consumer"], marks=NEEDS_JAVA),
    ],
    indirect=True,
    ids=["librdkafka", "java"],
)
def test_members_of_both_protocols_share_a_group(
    followers: list[Follower], kafka_cluster: KafkaCluster
) -> None:
    classic, modern = followers
    eventually(
        lambda: (
            sorted(classic.assigned + modern.assigned) == [0, 1, 2, 3]
            and len(classic.assigned) == 2
        ),
        f"each has two partitions: {classic.assigned} {modern.assigned}",
    )
    send(kafka_cluster, 20)
    eventually(lambda: len(set(classic.records + modern.records)) == 20, "all is read")
    kafka_cluster.crash(coordinator(kafka_cluster))
    send(kafka_cluster, 20, first=20)
    eventually(
        lambda: len(set(classic.records + modern.records)) == 40, "all is read without it, too"
    )
    modern.kill()
    eventually(
        lambda: classic.assigned == [0, 1, 2, 3], f"the other gets the rest: {classic.assigned}"
    )
    send(kafka_cluster, 20, first=40)
    eventually(lambda: len(set(classic.records + modern.records)) == 60, "all is read by the other")
    kafka_cluster.assert_nothing_lost()
