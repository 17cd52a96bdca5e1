"""A real ZooKeeper server on a free port of this machine, and clients of it that take notes."""

import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

from kazoo.client import KazooClient
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.states import Callback, KazooState, WatchedEvent

TICK_TIME_MS = 500
"""Sessions end after 1 to 10 s of silence."""
LONG_S = 60.0
"""No response should take that long, on however busy a machine."""
DEBIAN_JAR = Path("/usr/share/java/zookeeper.jar")
MAIN = "org.apache.zookeeper.server.ZooKeeperServerMain"
KINDS = {
    "CREATED": "NodeCreated",
    "DELETED": "NodeDeleted",
    "CHANGED": "NodeDataChanged",
    "CHILD": "NodeChildrenChanged",
}
Address = tuple[str, int]


def class_path() -> str | None:
    """Where a ZooKeeper server's classes are: Debian's package, or the jars that PySpark brings."""
    if DEBIAN_JAR.exists():
        return str(DEBIAN_JAR)
    found = find_spec("pyspark")
    jars = Path(found.origin).parent / "jars" if found and found.origin else None
    return f"{jars}{os.sep}*" if jars and any(jars.glob("zookeeper-3*.jar")) else None


def missing() -> str | None:
    """Why no server can be started here; None if one can."""
    if shutil.which("java") is None:
        return "needs Java"
    if class_path() is None:
        return "needs a ZooKeeper server: Debian's package 'zookeeper', or the 'spark' extra"
    return None


@contextmanager
def running(folder: Path) -> Iterator[Address]:
    """Run a server with empty disks in ``folder``; yields where it listens."""
    address = ("127.0.0.1", _free_port())
    config = folder / "zoo.cfg"
    config.write_text(
        f"tickTime={TICK_TIME_MS}\ndataDir={folder}\nclientPort={address[1]}\n"
        f"clientPortAddress={address[0]}\nadmin.enableServer=false\n",
        "utf-8",
    )
    quick = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx96m", "-Dzookeeper.forceSync=no")
    command = ("java", *quick, "-cp", class_path() or "", MAIN, str(config))
    with (folder / "out.log").open("wb") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out, cwd=folder)
        try:
            yield address
        finally:
            server.kill()
            server.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def negotiated_ms(address: Address, asked_ms: int) -> int:
    """Open a session on the wire, close it, and return the timeout that the server granted."""
    hello = struct.pack(">iqiqi16s?", 0, 0, asked_ms, 0, 16, bytes(16), False)
    goodbye = struct.pack(">ii", 1, -11)
    with socket.create_connection(address, LONG_S) as connection:
        for message in (hello, goodbye):
            connection.sendall(struct.pack(">i", len(message)) + message)
        response = b""
        while chunk := connection.recv(4096):
            response += chunk
    return int(struct.unpack_from(">iii", response)[2])


class Wire(SequentialThreadingHandler):  # type: ignore[misc]
    """kazoo's threads and sockets, with a connection that can be cut."""

    def __init__(self) -> None:
        super().__init__()
        self.is_cut = False
        self.connection: socket.socket | None = None

    def create_connection(self, *arguments: Any, **options: Any) -> socket.socket:
        if self.is_cut:
            raise OSError("cut")
        self.connection = super().create_connection(*arguments, **options)
        return self.connection

    def cut(self) -> None:
        """Break the connection, and let no other be made until it is mended."""
        self.is_cut = True
        assert self.connection is not None
        self.connection.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Let connections be made again."""
        self.is_cut = False


class Client:
    """A client of the real server; ``events`` are the watch events that reached it, in order."""

    def __init__(self, address: Address, timeout_ms: int) -> None:
        self.wire = Wire()
        self.events: list[tuple[str, str]] = []
        self.states: list[str] = []
        self.moved = {state: Event() for state in (KazooState.CONNECTED, KazooState.SUSPENDED)}
        self._last: WatchedEvent | None = None
        self._told = Event()
        quick = {"max_tries": -1, "delay": 0.02, "backoff": 1, "max_jitter": 0.0}
        self.kazoo = KazooClient(
            f"{address[0]}:{address[1]}",
            timeout_ms / 1000,
            handler=self.wire,
            connection_retry=quick,
        )
        self.kazoo.add_listener(self._turned)
        self.kazoo.start(LONG_S)

    @property
    def session(self) -> int:
        """The id of the present session."""
        return int(self.kazoo.client_id[0])

    def saw(self, event: WatchedEvent) -> None:
        """Take a watch event down; kazoo passes one of the server's to each watch that it ends."""
        if event.type in KINDS and event is not self._last:
            self._last = event
            self.events.append((event.path, KINDS[event.type]))
            self._told.set()

    def wait_for(self, path: str, kind: str) -> None:
        """Wait until a watch event has come."""
        while (path, kind) not in self.events:
            assert self._told.wait(LONG_S)
            self._told.clear()

    def settle(self) -> None:
        """Wait until all that the server has sent so far has been seen."""
        self.kazoo.exists("/")
        done = Event()
        self.wire.dispatch_callback(Callback("test", done.set, ()))
        assert done.wait(LONG_S)

    def renew(self) -> None:
        """Close the session and begin another."""
        self.settle()
        self.kazoo.stop()
        self.kazoo.start(LONG_S)

    def cut(self) -> None:
        """Lose the connection and notice it."""
        self.moved[KazooState.CONNECTED].clear()
        self.moved[KazooState.SUSPENDED].clear()
        self.wire.cut()
        assert self.moved[KazooState.SUSPENDED].wait(LONG_S)

    def mend(self) -> None:
        """Find the server again."""
        self.wire.mend()
        assert self.moved[KazooState.CONNECTED].wait(LONG_S)

    def end(self) -> None:
        """Close the session for good."""
        self.kazoo.stop()
        self.kazoo.close()

    def _turned(self, state: str) -> None:
        self.states.append(state)
        if state in self.moved:
            self.moved[state].set()
