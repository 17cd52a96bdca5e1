"""A real broker is imported and attached to, through a proxy that records what it is asked.

It needs Java, and runs where ``KAFKA_LIBS`` names a folder with Kafka's jars (``make clients``).
The broker advertises the proxy's address, so clients have no other way to it.
"""

import gc
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from emulator import events
from sessions.own_cluster.importing import import_sources
from sessions.own_cluster.read_only_client import READ_REQUESTS
from tests.wire.members import eventually
from tests.wire.test_attached import looking, of

LIBS: Final = os.environ.get("KAFKA_LIBS")
JAVA: Final = ("java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
SECONDS: Final = 60.0
SERVER: Final = """\
process.roles=broker,controller
node.id=1
broker.rack=a
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{proxy}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
"""

pytest.importorskip("kafka")
pytestmark = [
    pytest.mark.clients,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(
        LIBS is None or shutil.which("java") is None, reason="KAFKA_LIBS names no jars of Kafka"
    ),
]


class RecordingProxy:
    """Passes bytes on between clients and a broker, and records the API keys of all requests."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self.keys: list[int] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._connections: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    broker = socket.create_connection(self.target, SECONDS)
                except OSError:
                    client.close()
                    continue
                self._connections += [client, broker]
                for ends in ((client, broker, True), (broker, client, False)):
                    threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, records: bool) -> None:
        with suppress(OSError), source.makefile("rb") as stream:
            while size := stream.read(4):
                frame = stream.read(int.from_bytes(size, "big"))
                if records:
                    self.keys.append(int.from_bytes(frame[:2], "big"))
                target.sendall(size + frame)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    found = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in found]
    for each in found:
        each.close()
    return ports


@contextmanager
def real_broker(folder: Path) -> Iterator[RecordingProxy]:
    """A broker that is its own controller, behind a proxy."""
    broker, controller = free_ports(2)
    proxy = RecordingProxy(("127.0.0.1", broker))
    properties = folder / "server.properties"
    properties.write_text(
        SERVER.format(broker=broker, controller=controller, proxy=proxy.port, folder=folder)
    )
    command = [*JAVA, "-cp", str(Path(LIBS or "") / "*")]
    subprocess.run(
        [*command, "kafka.tools.StorageTool", "format", "-t", "A" * 22, "-c", str(properties)],
        check=True,
        capture_output=True,
        timeout=SECONDS,
    )
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "kafka.Kafka", str(properties)], stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield proxy
    finally:
        proxy.close()
        process.terminate()
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def fill(servers: str) -> None:
    """Create a topic, produce to it, and let a group read it."""
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.admin import KafkaAdminClient

    admin = KafkaAdminClient(bootstrap_servers=servers)
    wanted = {"num_partitions": 1, "replication_factor": 1, "configs": {"retention.ms": "9000000"}}
    admin.create_topics({"orders": wanted})
    admin.close()
    producer = KafkaProducer(bootstrap_servers=servers)
    for _ in range(3):
        producer.send("orders", b"v").get(SECONDS)
    producer.close()
    consumer = KafkaConsumer(
        "orders", bootstrap_servers=servers, group_id="readers", auto_offset_reset="earliest"
    )
    eventually(lambda: bool(consumer.poll(1_000)), "the consumer was given records")
    consumer.commit()
    consumer.close()


def answers(servers: str) -> bool:
    """Whether the broker knows itself as alive."""
    from kafka.admin import KafkaAdminClient
    from kafka.errors import KafkaError

    try:
        admin = KafkaAdminClient(bootstrap_servers=servers, bootstrap_timeout_ms=1_000)
    except KafkaError:
        return False
    try:
        return bool(admin.describe_cluster()["brokers"])
    finally:
        admin.close()


def test_a_real_broker_is_read_and_watched_and_asked_nothing_but_reads(tmp_path: Path) -> None:
    with real_broker(tmp_path) as proxy:
        servers = f"127.0.0.1:{proxy.port}"
        eventually(lambda: answers(servers), "the broker is alive")
        fill(servers)
        gc.collect()  # what the library left open is told here, where it is no failure
        proxy.keys.clear()

        result = import_sources([f"kafka://{servers}"])
        image = result.image
        assert (image.release, image.mode) == ("4.1", "kraft")
        [broker] = image.brokers
        assert (broker.id, broker.rack, broker.up, broker.fenced) == (1, "a", True, False)
        assert image.quorum is not None
        assert (image.quorum.leader, [each.id for each in image.quorum.controllers]) == (1, [1])
        orders = image.partition("orders", 0)
        assert orders is not None
        assert (orders.replicas, orders.leader, orders.isr, orders.elr) == ((1,), 1, (1,), ())
        assert (orders.log_start, orders.log_end, orders.high_watermark) == (0, 3, 3)
        [log] = orders.logs
        assert (log.size or 0) > 0
        topic = image.topic("orders")
        assert topic is not None
        assert topic.configs == {"retention.ms": "9000000"}
        [group] = image.groups
        assert (group.id, group.state) == ("readers", "Empty")
        assert [(each.topic, each.partition, each.offset) for each in group.offsets] == [
            ("orders", 0, 3)
        ]
        assert [note for note in result.readings[0].notes if "left out" in note] == []
        asked = {*proxy.keys}

        with looking(f"kafka://{servers}") as looked:
            partition = looked.view.partitions["orders-0"]
            assert (partition.leader, partition.isr) == (1, [1])
            leader = partition.leader_replica
            assert leader is not None
            assert leader.log_end_offset == 3
            assert looked.view.counts().brokers_up == 1
            assert looked.view.state.groups["readers"].offsets == {"orders-0": 3}
            assert of(events.PartitionStateChanged, looked.look(all_parts=True)) == []
            asked |= {*proxy.keys}

    assert asked <= READ_REQUESTS.keys()
    assert {3, 2, 9, 32, 35, 55, 60} <= asked
