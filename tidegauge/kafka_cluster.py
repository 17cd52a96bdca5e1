"""An emulated Kafka cluster for tests: brokers to connect to, and methods to inject faults.

The cluster runs in its own process, so none of it is imported here, and it does not compete for
the test's interpreter lock. It is controlled by JSON lines over a loopback connection.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from socket import create_connection
from threading import local
from typing import Any, Final, TextIO, cast

Setting = str | int | bool
STOP_SECONDS: Final = 30.0
WORDS_MAX: Final = 2_000
"""Characters of a server's output that an error quotes at most: its end."""
__tracebackhide__ = True
"""pytest shows the line of the test that failed, not those of this module."""


class ClusterError(Exception):
    """The cluster refused a request; the message says why."""


class ClusterServer:
    """The process in which clusters run: one serves a whole test run."""

    def __init__(self) -> None:
        """Start the process.

        Raises:
            ClusterError: it did not start; the message is its output.
        """
        self._of_thread = local()
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by :meth:`stop`
        # Only this process knows the token, and tests record where they like.
        anywhere = Path.cwd().anchor
        words = ["serve", "--standby", "--control", "0", "--control-folder", anywhere, "--json"]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tidegauge", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            reason = self._last_words()
            self.stop()
            raise ClusterError(f"the server did not start: {reason}")
        announcement = json.loads(line)
        host, _, port = announcement["control"].rpartition(":")
        self._address = host, int(port)
        self._token = announcement["token"]

    def ask(self, **line: object) -> dict[str, Any]:
        """Send a request on this thread's own connection, and wait for the response.

        Raises:
            ClusterError: the request was refused, or the server has exited.
        """
        try:
            stream = self._stream()
            stream.write(json.dumps(line) + "\n")
            stream.flush()
            response = stream.readline()
        except OSError:
            response = ""
        if not response:
            raise ClusterError(f"the server has ended: {self._last_words()}")
        answer: dict[str, Any] = json.loads(response)
        if not answer["ok"]:
            raise ClusterError(answer["error"])
        return answer

    def _stream(self) -> TextIO:
        stream: TextIO | None = getattr(self._of_thread, "stream", None)
        if stream is None:
            # The stream keeps the connection open; both are closed when the thread ends.
            with create_connection(self._address) as connection:
                stream = self._of_thread.stream = cast(TextIO, connection.makefile("rw"))
            stream.write(json.dumps({"token": self._token}) + "\n")
            stream.flush()
            stream.readline()
        return stream

    def _last_words(self) -> str:
        """Return what the server wrote to standard error before it ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        self._stderr.seek(0)
        return self._stderr.read()[-WORDS_MAX:].strip() or "it wrote no error"

    def stop(self) -> None:
        stream = getattr(self._of_thread, "stream", None)
        if stream is not None:
            with suppress(OSError):  # a request that a dead server never read
                stream.close()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._stderr.close()


class KafkaCluster:
    """A cluster of emulated brokers.

    Clients connect to ``bootstrap_servers``. Methods raise :class:`ClusterError` if the cluster
    refuses the request. They block until it is done; in a coroutine use :attr:`aio`.
    """

    def __init__(  # noqa: PLR0913 - the options of a cluster, by name
        self,
        server: ClusterServer,
        *,
        brokers: int | None = None,
        version: str | None = None,
        seed: int = 1,
        config: Mapping[str, Setting] | None = None,
        mode: str | None = None,
        controllers: int | None = None,
        protocol: str | None = None,
        users: Mapping[str, str] | None = None,
        image: str | Path | None = None,
    ) -> None:
        """Create a cluster of ``brokers`` brokers (3) that behave like a release (3.9).

        ``mode`` is kraft or zk; None: with ZooKeeper up to 3.9, without it from 4.0 on.
        ``controllers`` is the size of the quorum without ZooKeeper; None: 1. ``protocol`` is the
        security protocol (``SASL_SSL``; None: PLAINTEXT), ``users`` are those of SASL with their
        passwords. What clients must trust is in :attr:`certificate_authority`.

        With ``image`` the cluster starts in the state of an image (``tidegauge import``): brokers,
        release, mode, topics, leaders and configurations are the image's.
        """
        wish: dict[str, object] = {"brokers": brokers, "version": version, "seed": seed}
        if image is None:
            wish["version"] = version or "3.9"
        else:
            wish["image"] = str(Path(image).absolute())
        wish |= {"mode": mode, "controllers": controllers}
        wish |= {"protocol": protocol, "users": dict(users or {})}
        cluster = server.ask(open={**wish, "config": dict(config or {})})
        self._server = server
        self._number: int = cluster["cluster"]
        self.bootstrap_servers: str = cluster["bootstrap_servers"]
        self.certificate_authority: str | None = cluster.get("certificate_authority")
        self._controllers: list[int] = cluster["controllers"]
        self._fault_numbers = count(1)

    def __repr__(self) -> str:
        return f"<KafkaCluster {self.bootstrap_servers}>"

    # ---- statements

    def run(self, statement: str) -> Any:  # noqa: ANN401 - what the statement prints
        """Run a statement of the command language; return what it prints, as plain data.

        A statement that ends in an error, such as a ``wait until`` that timed out, raises.
        """
        return self._ask(statement=statement).get("result")

    def _role(self, node: int) -> str:
        return "controller" if node in self._controllers else "broker"

    def crash(self, node: int) -> None:
        """Kill the process of a broker, or of a controller without ZooKeeper."""
        self.run(f"{self._role(node)} crash {node}")

    def stop(self, node: int) -> None:
        """Shut a broker down in a controlled way, or stop a controller."""
        self.run(f"{self._role(node)} stop {node}")

    def start(self, node: int) -> None:
        """Start a broker that is down, and wait until it has registered; or a controller."""
        self.run(f"{self._role(node)} start {node}")

    def freeze(self, node: int) -> None:
        """Pause a process, as a long garbage collection does."""
        self.run(f"{self._role(node)} freeze {node}")

    def thaw(self, node: int) -> None:
        """Resume a frozen process."""
        self.run(f"{self._role(node)} thaw {node}")

    def cut(self, one: int | str, other: int | str) -> None:
        """Cut the link between two brokers, or a broker and ``"clients"`` or ``"zk"``."""
        self.run(f"network cut {one} {other}")

    def heal(self, one: int | str | None = None, other: int | str | None = None) -> None:
        """Restore a link, or all of them."""
        hosts = "" if one is None else f" {one} {other}"
        self.run(f"network heal{hosts}")

    def delay(self, one: int | str, other: int | str, time: str) -> None:
        """Add a delay such as ``"50ms"`` to each message between two hosts."""
        self.run(f"network delay {one} {other} {time}")

    def drop(self, one: int | str, other: int | str, percent: float) -> None:
        """Lose messages between two hosts at random, as if the connection broke."""
        self.run(f"network drop {one} {other} --percent {percent}")

    def inject(
        self,
        api: str,
        error: str = "",
        times: int = 1,
        *,
        drop: bool = False,
        delay: str = "",
        close_after: bool = False,
        **selectors: str | int,
    ) -> "Fault":
        """Inject a fault into the next ``times`` requests of an API.

        They fail with ``error``; or they are never handled (``drop``), like those that follow on
        their connection; or they are executed, and the connection is closed without a response
        (``close_after``), or the response is held back (``delay``, such as ``"500ms"``; also that
        with an error).

        Selectors are ``client``, ``broker``, ``topic``, ``partition``, ``group`` and
        ``transactional_id``; with ``after`` so many of these requests pass first. ``name`` is the
        fault's name in :attr:`faults`.
        """
        name = selectors.setdefault("name", f"fault-{next(self._fault_numbers)}")
        options = {"times": times, **selectors} | ({"delay": delay} if delay else {})
        words = [f"--{option.replace('_', '-')} {value}" for option, value in options.items()]
        flags = [*(["--drop"] if drop else []), *(["--close-after"] if close_after else [])]
        self.run(" ".join(("inject", api, error, *words, *flags)))
        return Fault(self, str(name))

    @property
    def faults(self) -> dict[str, dict[str, Any]]:
        """The faults of :meth:`inject` by name: api, effect, ``injected`` so far, ``left``."""
        return {row.pop("fault"): row for row in self.run("show faults")}

    def wait_until(self, condition: str, within: str = "60s") -> None:
        """Wait until a condition holds, such as ``orders-0.isr == [0,1]``."""
        self.run(f"wait until {condition} within {within}")

    # ---- queries

    def result(self) -> dict[str, Any]:
        """Return the whole state, as ``tidegauge run --json`` prints it."""
        result: dict[str, Any] = self._ask(result=True)["result"]
        return result

    def _partition(self, topic: str, partition: int) -> dict[str, Any]:
        state: dict[str, Any] = self._ask(partition=f"{topic}-{partition}")["partition"]
        return state

    def leader(self, topic: str, partition: int = 0) -> int:
        """Return the broker that leads a partition; -1: there is none."""
        return int(self._partition(topic, partition)["leader"])

    def isr(self, topic: str, partition: int = 0) -> list[int]:
        """Return the in-sync replicas of a partition, in order."""
        return sorted(self._partition(topic, partition)["isr"])

    def high_watermark(self, topic: str, partition: int = 0) -> int:
        """Return the high watermark of a partition's leader."""
        return int(self._partition(topic, partition)["hw"])

    def records(self, topic: str, partition: int = 0, broker: int | None = None) -> list[str]:
        """Return the values in a replica's log as text; the leader's log if no broker is given."""
        state = self._partition(topic, partition)
        chosen = state["leader"] if broker is None else broker
        for replica in state["replica_states"]:
            if replica["broker"] == chosen:
                return list(replica["values"])
        raise ClusterError(f"broker {chosen} has no replica of {topic}-{partition}")

    def controller(self) -> int:
        """Return the id of the active controller, a broker with ZooKeeper; -1: there is none."""
        return int(self._ask(controller=True)["controller"])

    def lost(self) -> list[dict[str, Any]]:
        """Return the acknowledged records in no leader's log: topic, partition, offset, value."""
        return list(self.result()["audit"]["lost"])

    def assert_nothing_lost(self) -> None:
        """Fail if an acknowledged record is lost."""
        lost = self.lost()
        shown = ", ".join(
            f"{record['topic']}-{record['partition']} @ {record['offset']} {record['value']!r}"
            for record in lost[:10]
        )
        assert not lost, f"{len(lost)} acknowledged records are lost: {shown}"

    # ---- recording

    def record(self, path: str | Path) -> Path:
        """Write a session file (``*.tide.db``) of everything so far."""
        return Path(self._ask(record=str(Path(path).absolute()))["path"])

    def close(self) -> None:
        """Shut the cluster down."""
        self._ask(close=True)

    def _ask(self, **line: object) -> dict[str, Any]:
        return self._server.ask(cluster=self._number, **line)

    @property
    def aio(self) -> "AsyncKafkaCluster":
        """The same methods as coroutines."""
        return AsyncKafkaCluster(self)


class Fault:
    """A fault that was injected into requests of clients."""

    def __init__(self, cluster: KafkaCluster, name: str) -> None:
        self._cluster = cluster
        self.name = name

    @property
    def injected(self) -> int:
        """How often it has come so far."""
        return int(self._cluster.faults[self.name]["injected"])

    def wait(self, times: int = 1, within: str = "60s") -> None:
        """Wait until it has come ``times`` times."""
        self._cluster.wait_until(f"fault.{self.name}.injected >= {times}", within)


class AsyncKafkaCluster:
    """The methods of a cluster as coroutines: clients on the same event loop keep running."""

    def __init__(self, cluster: KafkaCluster) -> None:
        self._cluster = cluster

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(asyncio.to_thread, getattr(self._cluster, name))
