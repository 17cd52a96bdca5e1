"""A Spark session that starts quietly, stays on loopback if possible, and leaves nothing behind."""

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
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from emulator.common.extras import missing_extra
from sessions.analysis.classes import ask_once, small_home
from sessions.analysis.errors import AnalysisError, SparkUnavailable
from sessions.analysis.java import require_java
from sessions.child_process import SAFE_PATH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL: Final = re.compile(r"local(-cluster)?(\[[\d*, ]+\])?")
THIS_MACHINE: Final = "local[*,3]"
"""All cores; a task whose Python process dies is retried, as on a cluster."""
HOME: Final = "SPARK_HOME"
OTHER_SPARKS: Final = (HOME, "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS")
"""Environment variables by which users choose another folder of Spark, or add to it."""
WORKERS_PYTHON: Final = "PYSPARK_PYTHON"
"""Environment variable that names the workers' Python; Spark's default is ``python3``."""
CONNECT_MAX_S: Final = 5.0
END_MAX_S: Final = 20.0
YARN: Final = "yarn"
YARN_FOLDERS: Final = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
"""Environment variables that locate the configuration of a Hadoop cluster."""
SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""Environment variable through which ``spark-submit`` passes its JVM to Python."""
THROWN: Final = re.compile(
    r"^(?:Exception in thread \"main\" )?[\w.$]*(?:Exception|Error): (.+)$", re.M
)
"""The first line of a Java exception."""
PORTS: Final = {"spark": 7077, "sc": 15002}
"""Default ports of a master and a Spark Connect server."""
LOOPBACK: Final = "127.0.0.1"
LOCAL_MEMORY: Final = "2g"
PAGE_BYTES: Final = 1 << 20
"""Memory that a sort or an aggregation takes at a time.

With few cores Spark takes 32 MB for each of them, however few rows there are, and Java clears it.
"""
SHORT_LIVED: Final = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=256m"
"""Options for a short-lived JVM: no optimizing compiler, whose cost does not pay off in minutes.

Java would then reserve only a fifth of the code cache, and Spark generates a lot of code. Spark
loads 25,000 classes, and Java would collect all garbage each time that their room grows.
"""
COLLECTOR: Final = "-XX:+UseParallelGC"
"""Garbage collector that suits Spark's large arrays, unless another is chosen."""
JAVA_OPTIONS: Final = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
"""Places where users choose a collector; Java refuses to start with two."""
GENERATED_CLASSES_MAX: Final = 5_000
"""Generated classes that Spark keeps. All jobs together need a thousand.

With Spark's default, 100, they compile 150 of these twice, and the next analysis compiles them all.
"""
CONNECT_MODE: Final = "SPARK_CONNECT_MODE_ENABLED"
"""Environment variable that tells PySpark's functions of a remote session."""
CONNECT_EXTRA: Final = "install them with: pip install 'pyspark[connect]'"


@contextlib.contextmanager
def spark_session(
    master: str | None = None,
    remote: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> "Iterator[SparkSession]":
    """Yield a session on ``master`` (neither: ``local[*]``) or of the Connect server at ``remote``.

    ``conf`` is Spark's configuration and overrides every default chosen here. Under
    ``spark-submit``, the session is the submitter's: its ``--master`` overrides ``master``. An
    existing session of this process is reused and left running. A new one ends with the block,
    including its JVM and temporary files. Raises :class:`SparkUnavailable` if no session can be
    created, :class:`AnalysisError` for an invalid URL.
    """
    if master and remote:
        raise AnalysisError("an analysis runs either on a master or on a Spark Connect server")
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        message = missing_extra("analysis", f"PySpark ({error.name})", "spark")
        raise SparkUnavailable(message) from error
    is_submitted = SUBMITTED in os.environ and not remote
    address = None if is_submitted else remote or master
    if address and not LOCAL.fullmatch(address):
        _require_response(address)
    settings = dict(conf or {})
    if remote:
        with _remote_session(remote, settings) as session:
            yield session
    elif active := SparkSession.getActiveSession():
        running = active.sparkContext.master
        if address not in (None, running):
            raise AnalysisError(f"this process already runs Spark on {running}, not on {master}")
        with configured(active, settings):
            yield active
    elif is_submitted:
        with _submitted_session(settings) as session:
            yield session
    else:
        with _own_session(master or THIS_MACHINE, settings) as session:
            yield session


@contextlib.contextmanager
def configured(session: "SparkSession", conf: Mapping[str, str]) -> "Iterator[None]":
    """Apply settings to a running session, and restore the previous ones afterwards."""
    from pyspark.errors import PySparkException

    before = {key: session.conf.get(key, None) for key in conf}
    try:
        for key, value in conf.items():
            session.conf.set(key, value)
    except PySparkException as error:
        raise AnalysisError(f"--conf {key}: {str(error).splitlines()[0]}") from error
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # a JVM that is gone has no settings
            for key, old in before.items():
                if old is None:
                    session.conf.unset(key)
                else:
                    session.conf.set(key, old)


@contextlib.contextmanager
def _submitted_session(conf: Mapping[str, str]) -> "Iterator[SparkSession]":
    """Yield the session of ``spark-submit``, in the JVM that it started."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        session = SparkSession.builder.config(map=dict(conf)).getOrCreate()
    except PySparkException as error:
        raise SparkUnavailable(f"Spark did not start: {str(error).splitlines()[0]}") from error
    try:
        yield session
    finally:
        session.stop()


@contextlib.contextmanager
def _own_session(master: str, conf: Mapping[str, str]) -> "Iterator[SparkSession]":
    """Yield a session in a new JVM."""
    require_java()
    if master == YARN and not any(os.environ.get(name) for name in YARN_FOLDERS):
        raise SparkUnavailable(
            f"--master yarn needs the cluster's configuration: {' or '.join(YARN_FOLDERS)} names "
            "its folder"
        )
    handed_on = {SAFE_PATH: "1"}  # Java hands it on to the workers that it starts here
    if LOCAL.fullmatch(master) and WORKERS_PYTHON not in os.environ:
        handed_on[WORKERS_PYTHON] = sys.executable
    with (
        tempfile.TemporaryDirectory(
            prefix="tidegauge-spark-", ignore_cleanup_errors=True
        ) as scratch,
        _unlogged(),
    ):
        chosen = settings(master, scratch) | store_settings() | dict(conf)
        if LOCAL.fullmatch(master) and not any(name in os.environ for name in OTHER_SPARKS):
            home = small_home(Path(scratch) / "spark", conf)
            handed_on |= {} if home is None else {HOME: str(home)}
        with _environment(handed_on):
            session = _started(chosen, Path(scratch) / "spark.log")
        jvm: Any = session.sparkContext._jvm
        try:
            # If this process is killed, Java ends too, and is the only one left to delete it.
            hooks = jvm.org.apache.spark.util.ShutdownHookManager
            hooks.registerShutdownDeleteDir(jvm.java.io.File(scratch))
            ask_once(jvm)
            yield session
        finally:
            _end(session.sparkContext)


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for processes started in the block; restore them afterwards."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def settings(master: str, scratch: str) -> dict[str, str]:
    """Return Spark's configuration: quiet, with temporary files in ``scratch``.

    In local mode the web UI is disabled: nobody would find it.
    """
    chosen = {
        "spark.app.name": "tidegauge",
        "spark.master": master,
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.codegen.cache.maxEntries": str(GENERATED_CLASSES_MAX),
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.driver.extraJavaOptions": " ".join(_java_options(scratch)),
        f"spark.executorEnv.{SAFE_PATH}": "1",
    }
    local = LOCAL.fullmatch(master) is not None
    if local:
        chosen |= {
            "spark.local.dir": scratch,
            "spark.driver.memory": LOCAL_MEMORY,
            "spark.buffer.pageSize": str(PAGE_BYTES),
            "spark.ui.enabled": "false",
        }
    if local or all(host in (LOOPBACK, "localhost") for host, _ in addresses(master)):
        chosen |= {"spark.driver.bindAddress": LOOPBACK, "spark.driver.host": LOOPBACK}
    return chosen


def _java_options(scratch: str) -> Iterator[str]:
    """Yield options for the JVM; those from the environment come first."""
    yield SHORT_LIVED
    if not any("GC" in os.environ.get(name, "") for name in JAVA_OPTIONS):
        yield COLLECTOR
    for key in ("java.io.tmpdir", "derby.system.home"):
        yield f"-D{key}={scratch}"


def store_settings() -> dict[str, str]:
    """Return Spark's settings for the object store that ``AWS_ENDPOINT_URL`` names.

    Arrow reads that variable, Hadoop does not.
    """
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if not endpoint:
        return {}
    return {
        "spark.hadoop.fs.s3a.endpoint": endpoint,
        "spark.hadoop.fs.s3a.endpoint.region": os.environ.get("AWS_REGION", "us-east-1"),
        "spark.hadoop.fs.s3a.path.style.access": "true",
    }


def hadoop_version() -> str:
    """Return the version of Hadoop bundled with PySpark, from the name of its jar."""
    spec = find_spec("pyspark")
    jars = Path(spec.origin).parent / "jars" if spec and spec.origin else Path()
    name = "hadoop-client-api-"
    versions = [path.stem.removeprefix(name) for path in jars.glob(f"{name}*.jar")]
    return versions[0] if versions else "VERSION"


def _started(chosen: dict[str, str], log: Path) -> "SparkSession":
    """Start a session in a new JVM, whose output goes to ``log``."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        with _output_to(log), _interrupted_later():
            return SparkSession.builder.config(map={**chosen}).getOrCreate()
    except (OSError, PySparkException, Py4JError) as error:
        _end_gateway(SparkContext._gateway)
        raise SparkUnavailable(f"Spark did not start: {_reason(error, log)}") from error
    except KeyboardInterrupt:
        _end_gateway(SparkContext._gateway)
        raise


@contextlib.contextmanager
def _output_to(log: Path) -> Iterator[None]:
    """Redirect the output of processes started in the block to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    descriptors = [(number, os.dup(number)) for number in (1, 2)]
    try:
        with log.open("ab") as output:
            for number, _ in descriptors:
                os.dup2(output.fileno(), number)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, copy in descriptors:
            os.dup2(copy, number)
            os.close(copy)


@contextlib.contextmanager
def _unlogged() -> Iterator[None]:
    """Suppress what py4j logs to the root logger about interrupted calls.

    Without logging configured, it would go to standard error.
    """
    silent = logging.NullHandler()
    logging.root.addHandler(silent)
    try:
        yield
    finally:
        logging.root.removeHandler(silent)


@contextlib.contextmanager
def _interrupted_later() -> Iterator[None]:
    """Defer ctrl-c to the end of the block.

    A JVM whose launch is interrupted has no owner: it would never exit.
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
    """Return the most useful line: the Java exception's first, or the first one from the JVM."""
    lines = str(getattr(error, "java_exception", "")).splitlines()
    text = log.read_text(errors="replace").strip() if log.exists() else ""
    if not lines and (match := THROWN.search(text)):
        lines = [match[1]]
    if not lines:
        lines = text.splitlines()[-1:]
    return lines[0] if lines else str(error).splitlines()[0]


def _end(context: Any) -> None:  # noqa: ANN401 - a SparkContext
    """Stop a context and the JVM that was started for it."""
    gateway = context._gateway
    with contextlib.suppress(Exception):  # a JVM that has died cannot be asked to stop
        context.stop()
    _end_gateway(gateway)


def _end_gateway(gateway: Any) -> None:  # noqa: ANN401 - py4j's gateway with Spark's ``proc``
    """Stop a JVM: it exits when its standard input is closed.

    PySpark's reference to it is cleared, so that a new one can be started.
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
def _remote_session(url: str, conf: Mapping[str, str]) -> "Iterator[SparkSession]":
    """Yield a session of a Spark Connect server."""
    try:
        from pyspark.sql.connect.session import SparkSession as RemoteSession
    except ImportError as error:
        raise SparkUnavailable(
            f"Spark Connect needs more Python packages; {CONNECT_EXTRA}"
        ) from error
    with _environment({CONNECT_MODE: "1"}):
        session: Any = RemoteSession.builder.remote(url).create()
        try:
            with configured(session, conf):
                yield session
        finally:
            session.stop()


def addresses(url: str) -> list[tuple[str, int]]:
    """Return hosts and ports in a Spark URL; none in ``yarn`` and ``k8s://``.

    Raises :class:`AnalysisError` if it is not a Spark URL.
    """
    if url == YARN or url.startswith("k8s://"):
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
            f"{url} is not a Spark URL: local[*], spark://HOST:PORT, sc://HOST:PORT, yarn, k8s://.."
        ) from error


def _require_response(url: str) -> None:
    """Raise :class:`SparkUnavailable` if nothing listens there; Spark would retry for minutes."""
    reasons = []
    for address in addresses(url):
        try:
            socket.create_connection(address, timeout=CONNECT_MAX_S).close()
            return
        except OSError as error:
            reasons.append(error.strerror or str(error))
    if reasons:
        raise SparkUnavailable(f"nothing responds at {url}: {reasons[0]}")
