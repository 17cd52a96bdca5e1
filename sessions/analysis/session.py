"""A Spark session that starts quietly, keeps to loopback where it can, and leaves nothing."""

import contextlib
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from sessions.analysis.errors import AnalysisError, SparkUnavailable
from sessions.analysis.java import require_java
from sessions.child_process import SAFE_PATH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL: Final = re.compile(r"local(-cluster)?(\[[\d*, ]+\])?")
THIS_MACHINE: Final = "local[*,3]"
"""All cores; a task whose Python process dies is tried again, as on a cluster."""
WORKERS_PYTHON: Final = "PYSPARK_PYTHON"
"""The environment variable that names the Python of workers; Spark's own guess is ``python3``."""
CONNECT_MAX_S: Final = 5.0
END_MAX_S: Final = 20.0
PORTS: Final = {"spark": 7077, "sc": 15002}
"""Where a master and a Spark Connect server listen unless their URL says otherwise."""
LOOPBACK: Final = "127.0.0.1"
LOCAL_MEMORY: Final = "2g"
LOCAL_SHUFFLE_PARTITIONS: Final = 8
SHORT_LIVED: Final = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""For a JVM that lives for minutes: without the compiler that earns its cost only later.

Java would then keep room for a fifth of the code only, and Spark makes much of it.
"""
COLLECTOR: Final = "-XX:+UseParallelGC"
"""The collector that suits Spark's large arrays, unless somebody has chosen one."""
JAVA_OPTIONS: Final = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
"""Where people choose one; Java refuses to start with two."""
CONNECT_MODE: Final = "SPARK_CONNECT_MODE_ENABLED"
"""The environment variable by which PySpark's functions know of a remote session."""
SPARK_EXTRA: Final = "install it with: pip install 'tidegauge[spark]'"
CONNECT_EXTRA: Final = "install them with: pip install 'pyspark[connect]'"


@contextlib.contextmanager
def spark_session(master: str | None = None, remote: str | None = None) -> "Iterator[SparkSession]":
    """A session on ``master`` (neither: ``local[*]``) or with the Connect server at ``remote``.

    A session that this process has already is used and left running. One that is made here ends
    with the block, JVM and temporary files included. Raises :class:`SparkUnavailable` if there can
    be none, :class:`AnalysisError` for a URL that is none.
    """
    if master and remote:
        raise AnalysisError("an analysis runs either on a master or on a Spark Connect server")
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SparkUnavailable(f"analysis needs PySpark ({error.name}); {SPARK_EXTRA}") from error
    asked = remote or master
    if asked and not LOCAL.fullmatch(asked):
        _require_answer(asked)
    if remote:
        with _remote_session(remote) as session:
            yield session
    elif active := SparkSession.getActiveSession():
        running = active.sparkContext.master
        if master not in (None, running):
            raise AnalysisError(f"this process runs Spark on {running} already, not on {master}")
        yield active
    else:
        with _own_session(master or THIS_MACHINE) as session:
            yield session


@contextlib.contextmanager
def _own_session(master: str) -> "Iterator[SparkSession]":
    """A session in a JVM that is started for it."""
    from pyspark.sql import SparkSession

    require_java()
    os.environ[SAFE_PATH] = "1"  # Java hands it on to the workers that it starts here
    if LOCAL.fullmatch(master):
        os.environ.setdefault(WORKERS_PYTHON, sys.executable)
    with (
        tempfile.TemporaryDirectory(
            prefix="tidegauge-spark-", ignore_cleanup_errors=True
        ) as scratch,
        _unlogged(),
    ):
        context = _started_context(settings(master, scratch), Path(scratch) / "spark.log")
        try:
            yield SparkSession(context)
        finally:
            _end(context)


def settings(master: str, scratch: str) -> dict[str, str]:
    """Spark's configuration: quiet, no web page, and what it would leave behind in ``scratch``."""
    chosen = {
        "spark.app.name": "tidegauge analyze",
        "spark.master": master,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.driver.extraJavaOptions": " ".join(_java_options(scratch)),
        f"spark.executorEnv.{SAFE_PATH}": "1",
    }
    local = LOCAL.fullmatch(master) is not None
    if local:
        chosen |= {
            "spark.local.dir": scratch,
            "spark.driver.memory": LOCAL_MEMORY,
            "spark.sql.shuffle.partitions": str(LOCAL_SHUFFLE_PARTITIONS),
        }
    if local or all(host in (LOOPBACK, "localhost") for host, _ in addresses(master)):
        chosen |= {"spark.driver.bindAddress": LOOPBACK, "spark.driver.host": LOOPBACK}
    return chosen


def _java_options(scratch: str) -> Iterator[str]:
    """Options for the JVM; those of the environment come first."""
    yield SHORT_LIVED
    if not any("GC" in os.environ.get(name, "") for name in JAVA_OPTIONS):
        yield COLLECTOR
    for key in ("java.io.tmpdir", "derby.system.home"):
        yield f"-D{key}={scratch}"


def _started_context(chosen: dict[str, str], log: Path) -> Any:  # noqa: ANN401 - a SparkContext, or its end
    """Start a JVM whose messages go to ``log``, and a context in it."""
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf(loadDefaults=False).setAll(list(chosen.items()))
    gateway = None
    try:
        with log.open("wb") as output, _interrupted_later():
            launch: Any = launch_gateway  # it has no types
            gateway = launch(conf, {"stdout": output, "stderr": output})
        return SparkContext(conf=conf, gateway=gateway)
    except (OSError, PySparkException, Py4JError) as error:
        _end_gateway(gateway)
        raise SparkUnavailable(f"Spark did not start: {_reason(error, log)}") from error
    except KeyboardInterrupt:
        _end_gateway(gateway)
        raise


@contextlib.contextmanager
def _unlogged() -> Iterator[None]:
    """Keep to oneself what py4j logs of calls that were interrupted, by the root logger.

    Where nobody has said where logs go, that would make them go to standard error.
    """
    silent = logging.NullHandler()
    logging.root.addHandler(silent)
    try:
        yield
    finally:
        logging.root.removeHandler(silent)


@contextlib.contextmanager
def _interrupted_later() -> Iterator[None]:
    """Ctrl-C waits for the end of the block.

    A JVM whose launch is interrupted is nobody's: it would never end.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt


def _reason(error: Exception, log: Path) -> str:
    """The line that tells most: the Java exception's first, or the last that the JVM wrote."""
    lines = str(getattr(error, "java_exception", "")).splitlines()
    if not lines and log.exists():
        lines = log.read_text(errors="replace").strip().splitlines()[-1:]
    return lines[0] if lines else str(error).splitlines()[0]


def _end(context: Any) -> None:  # noqa: ANN401 - a SparkContext
    """Stop a context and the JVM that was started for it."""
    gateway = context._gateway
    with contextlib.suppress(Exception):  # a JVM that has died cannot be asked to stop
        context.stop()
    _end_gateway(gateway)


def _end_gateway(gateway: Any) -> None:  # noqa: ANN401 - py4j's gateway with Spark's ``proc``
    """End a JVM: it goes when its standard input closes.

    PySpark forgets it, so that a new one can be started.
    """
    from pyspark import SparkContext

    SparkContext._gateway = None
    SparkContext._jvm = None
    if gateway is None:
        return
    with contextlib.suppress(Exception):
        gateway.shutdown()
    if gateway.proc is not None:
        gateway.proc.stdin.close()
        try:
            gateway.proc.wait(END_MAX_S)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait()


@contextlib.contextmanager
def _remote_session(url: str) -> "Iterator[SparkSession]":
    """A session with a Spark Connect server."""
    try:
        from pyspark.sql.connect.session import SparkSession as RemoteSession
    except ImportError as error:
        raise SparkUnavailable(
            f"Spark Connect needs more Python packages; {CONNECT_EXTRA}"
        ) from error
    before = os.environ.get(CONNECT_MODE)
    os.environ[CONNECT_MODE] = "1"
    try:
        session: Any = RemoteSession.builder.remote(url).create()
        try:
            yield session
        finally:
            session.stop()
    finally:
        if before is None:
            os.environ.pop(CONNECT_MODE, None)


def addresses(url: str) -> list[tuple[str, int]]:
    """Hosts and ports in a URL of Spark's; none in ``yarn`` and ``k8s://``.

    Raises :class:`AnalysisError` for what is no URL of Spark's.
    """
    if url == "yarn" or url.startswith("k8s://"):
        return []
    scheme, separator, rest = url.partition("://")
    try:
        if not separator or scheme not in PORTS:
            raise ValueError
        parts = [urlsplit(f"//{part}") for part in rest.split("/")[0].split(",")]
        if not all(part.hostname for part in parts):
            raise ValueError
        return [(str(part.hostname), part.port or PORTS[scheme]) for part in parts]
    except ValueError as error:
        raise AnalysisError(
            f"{url} is no URL of Spark's: local[*], spark://HOST:PORT, sc://HOST:PORT, yarn, k8s://.."
        ) from error


def _require_answer(url: str) -> None:
    """Raise :class:`SparkUnavailable` if nobody listens there; Spark would try for minutes."""
    reasons = []
    for address in addresses(url):
        try:
            socket.create_connection(address, timeout=CONNECT_MAX_S).close()
            return
        except OSError as error:
            reasons.append(error.strerror or str(error))
    if reasons:
        raise SparkUnavailable(f"nobody answers at {url}: {reasons[0]}")
