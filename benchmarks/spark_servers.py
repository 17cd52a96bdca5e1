"""Spark's own servers on loopback, for as long as a benchmark or a test needs them."""

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import NamedTuple

LOOPBACK = "127.0.0.1"
LAST_LINES = 20


class StandaloneCluster:
    """A master and its workers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.workers: list[Server] = []

    def kill_worker(self, number: int) -> None:
        """End a worker and the executors that it has started, which no signal can prevent."""
        worker = self.workers[number].process
        for each in (worker.pid, *_children(worker.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        worker.wait()


def _children(process: int) -> list[int]:
    """The processes that a process has started, and what these have started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            number, parent = (
                int(path.parent.name),
                int(path.read_text().rpartition(")")[2].split()[1]),
            )
            if parent == process:
                found += [number, *_children(number)]
    return found


@contextlib.contextmanager
def standalone_cluster(
    folder: Path, workers: int = 1, memory: str = "1g"
) -> Iterator[StandaloneCluster]:
    """A master with workers of one core each."""
    master = ["org.apache.spark.deploy.master.Master", "--port", "0", "--webui-port", "0"]
    with contextlib.ExitStack() as stack:
        started = r"Starting Spark master at (spark://\S+)"
        found = stack.enter_context(server(folder, [*master, "--host", LOOPBACK], started))
        cluster = StandaloneCluster(found.said)
        for number in range(workers):
            worker = ["org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory", memory]
            work = ["--work-dir", str(folder / f"worker-{number}"), "--webui-port", "0"]
            command = [*worker, *work, "--host", LOOPBACK, cluster.url]
            registered = "(Successfully registered) with master"
            cluster.workers.append(stack.enter_context(server(folder, command, registered)))
        yield cluster


@contextlib.contextmanager
def connect_server(folder: Path, settings: dict[str, str]) -> Iterator[str]:
    """A Spark Connect server that runs its queries itself; gives its URL."""
    chosen = {
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": "0",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        **settings,
    }
    command = ["org.apache.spark.deploy.SparkSubmit", "--master", "local[1]", "--class"]
    command.append("org.apache.spark.sql.connect.service.SparkConnectServer")
    for key, value in chosen.items():
        command += ["--conf", f"{key}={value}"]
    started = r"Spark Connect server started at: \S+:(\d+)"
    with server(folder, [*command, "spark-internal"], started) as found:
        yield f"sc://{LOOPBACK}:{found.said}"


class Server(NamedTuple):
    """One of Spark's classes as a process, and what it said when it had started."""

    process: "subprocess.Popen[str]"
    said: str


@contextlib.contextmanager
def server(folder: Path, command: list[str], started: str) -> Iterator[Server]:
    """One of Spark's classes as a process; ``started`` finds what is told of it."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    folder.mkdir(parents=True, exist_ok=True)
    local = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": LOOPBACK, "SPARK_LOCAL_DIRS": str(folder)}
    process = subprocess.Popen(
        [str(home / "bin" / "spark-class"), *command],
        env={**os.environ, **local}, cwd=folder, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    reader = None
    try:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if found := re.search(started, line):
                reader = Thread(target=process.stderr.read)  # or it would wait for a reader
                reader.start()
                yield Server(process, found[1])
                return
        raise AssertionError("it did not start: " + "".join(lines[-LAST_LINES:]))
    finally:
        process.terminate()
        process.wait()
        if reader is not None:
            reader.join()
        if process.stderr is not None:
            process.stderr.close()
