"""A real ZooKeeper and real brokers, as processes on loopback with a folder of their own."""

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from kazoo.protocol.states import ZnodeStat

from emulator.inputs.statements import CreateCluster

LOOPBACK = "127.0.0.1"
BOOT_SECONDS = 60
STOP_SECONDS = 60
NO_HOST_NAME = (3, 0)
"""The first release that no longer knows ``host.name`` and ``port``."""
LISTENERS = (0, 9)
LOG4J = """\
log4j.rootLogger=INFO, S
log4j.appender.S=org.apache.log4j.ConsoleAppender
log4j.appender.S.layout=org.apache.log4j.PatternLayout
log4j.appender.S.layout.ConversionPattern=%d %p %c{1} %m%n
"""
JAVA = (
    *("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djava.net.preferIPv4Stack=true"),
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)


class RealClusterError(RuntimeError):
    """Kafka cannot be run, or does not come up."""


def release_in(kafka: Path) -> str:
    """The release whose jars lie in ``libs`` of a folder, such as ``3.9.1``.

    Raises:
        RealClusterError: there are none.
    """
    for jar in sorted((kafka / "libs").glob("kafka_*.jar")):
        if found := re.fullmatch(r"kafka_\d\.\d+-(\d+(\.\d+)+)\.jar", jar.name):
            return found[1]
    raise RealClusterError(f"{kafka} has no libs/kafka_SCALA-RELEASE.jar: it is no Kafka release")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


class RealCluster:
    """Brokers as a ``cluster`` statement wants them; their release is the one in ``kafka``."""

    def __init__(self, kafka: Path, spec: CreateCluster) -> None:
        self.kafka, self.spec = kafka.resolve(), spec
        self.release = release_in(kafka)
        self.version = tuple(int(each) for each in self.release.split("."))
        self.ids = list(range(spec.first_id, spec.first_id + spec.brokers))
        self.ports = {broker: free_port() for broker in self.ids}
        self.states = dict.fromkeys(self.ids, "stopped")
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.folder = Path(tempfile.mkdtemp(prefix=f"real-{self.release}-"))
        (self.folder / "log4j.properties").write_text(LOG4J)
        self.zookeeper_port = free_port()
        self.zookeeper_at = f"{LOOPBACK}:{self.zookeeper_port}"
        self.zookeeper = self._start_zookeeper(self.zookeeper_port)
        logging.getLogger("kazoo").setLevel(logging.CRITICAL)
        self.zk = KazooClient(hosts=self.zookeeper_at, timeout=10)
        try:
            self._await_port(self.zookeeper_port)
            self.zk.start(timeout=BOOT_SECONDS)
            for broker in self.ids:
                self.start(broker)
        except BaseException:
            self.close()
            raise

    # ---- processes

    def _start_zookeeper(self, port: int) -> "subprocess.Popen[bytes]":
        settings = self.folder / "zookeeper.properties"
        settings.write_text(
            f"dataDir={self.folder}/zookeeper\nclientPort={port}\nclientPortAddress={LOOPBACK}\n"
            "tickTime=1000\nmaxClientCnxns=0\nadmin.enableServer=false\n"
        )
        main = "org.apache.zookeeper.server.ZooKeeperServerMain"
        return self._java("zookeeper", "128m", main, settings)

    def _java(
        self, name: str, heap: str, main: str, file: Path, group: int | None = None
    ) -> "subprocess.Popen[bytes]":
        own = (
            f"-Xmx{heap}",
            f"-Dlog4j.configuration=file:{self.folder}/log4j.properties",
            f"-Dkafka.logs.dir={self.folder}",
        )
        command = [*JAVA, *own, "-cp", f"{self.kafka}/libs/*", main, str(file)]
        with (self.folder / f"{name}.out").open("ab") as out:
            group = group if os.geteuid() == 0 else None
            return subprocess.Popen(command, stdout=out, stderr=out, cwd=self.folder, group=group)

    def _settings(self, broker: int) -> dict[str, str]:
        port = self.ports[broker]
        settings = {
            "broker.id": str(broker),
            "log.dirs": str(self.data(broker)),
            "zookeeper.connect": self.zookeeper_at,
            "auto.create.topics.enable": "false",
            "offsets.topic.replication.factor": str(min(3, len(self.ids))),
            "offsets.topic.num.partitions": "3",
            "log.cleaner.enable": "false",
            "num.network.threads": "2",
            "num.io.threads": "4",
        }
        if self.version < NO_HOST_NAME:
            settings |= {"host.name": LOOPBACK, "port": str(port)}
        if self.version >= LISTENERS:
            settings["listeners"] = f"PLAINTEXT://{LOOPBACK}:{port}"
        if self.spec.racks:
            settings["broker.rack"] = self.spec.racks[broker - self.spec.first_id]
        return settings | self.spec.config

    def start(self, broker: int) -> None:
        """Start a broker; done when it has registered and listens."""
        file = self.folder / f"broker{broker}.properties"
        settings = self._settings(broker)
        file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        self.processes[broker] = self._java(
            f"broker{broker}", "256m", "kafka.Kafka", file, self.ports[broker]
        )
        self.states[broker] = "running"
        deadline = time.monotonic() + BOOT_SECONDS
        while time.monotonic() < deadline and self.processes[broker].poll() is None:
            registered = self.zk.exists(f"/brokers/ids/{broker}")
            if registered and self.listens(self.ports[broker]) and self.zk.exists("/controller"):
                return
            time.sleep(0.05)
        last = (self.folder / f"broker{broker}.out").read_text()[-1500:]
        raise RealClusterError(f"broker {broker} did not come up: {last}")

    def wipe(self, broker: int) -> None:
        """Give a broker that is down an empty disk."""
        shutil.rmtree(self.data(broker))

    def crash(self, broker: int) -> None:
        """Kill a broker's process."""
        self.signal(broker, signal.SIGKILL, "crashed")
        self.processes[broker].wait()

    def stop(self, broker: int, *, wait: bool = True) -> None:
        """Shut a broker down; done when its process has ended, or at once."""
        if not wait:  # it is up until it is gone
            self.processes[broker].send_signal(signal.SIGTERM)
            return
        self.signal(broker, signal.SIGTERM, "stopped")
        self.processes[broker].wait(STOP_SECONDS)

    def signal(self, broker: int, number: signal.Signals, state: str) -> None:
        """Send a broker's process a signal, after which it is in ``state``."""
        self.processes[broker].send_signal(number)
        self.states[broker] = state

    def listens(self, port: int) -> bool:
        """Whether anybody accepts connections there."""
        try:
            socket.create_connection((LOOPBACK, port), 1).close()
        except OSError:
            return False
        return True

    def _await_port(self, port: int) -> None:
        deadline = time.monotonic() + BOOT_SECONDS
        while not self.listens(port):
            if time.monotonic() > deadline or self.zookeeper.poll() is not None:
                last = (self.folder / "zookeeper.out").read_text()[-1500:]
                raise RealClusterError(f"ZooKeeper did not come up: {last}")
            time.sleep(0.1)

    def close(self, keep: bool = False) -> None:
        """End all processes; ``keep`` leaves their logs where they are."""
        self.zk.stop()
        self.zk.close()
        for process in (*self.processes.values(), self.zookeeper):
            if process.poll() is None:
                process.kill()
                process.wait()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---- what they are

    def is_up(self, broker: int) -> bool:
        """Whether its process runs, and is not frozen."""
        process = self.processes.get(broker)
        return process is not None and process.poll() is None and self.states[broker] == "running"

    def live(self) -> list[int]:
        """The brokers that are up."""
        return [broker for broker in self.ids if self.is_up(broker)]

    def registered(self) -> list[int]:
        """The brokers that ZooKeeper holds to be there, in order."""
        return sorted(int(broker) for broker in self.zk.get_children("/brokers/ids"))

    def data(self, broker: int) -> Path:
        """Where a broker's logs lie."""
        return self.folder / f"data{broker}"

    def get(self, path: str) -> tuple[str, ZnodeStat] | None:
        """A znode's data and stat, None if there is none."""
        try:
            data, stat = self.zk.get(path)
        except NoNodeError:
            return None
        return (data or b"").decode(), stat
