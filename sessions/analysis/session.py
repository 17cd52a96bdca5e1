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
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
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
YARN: Final = "yarn"
YARN_FOLDERS: Final = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
"""The environment variables that say where a Hadoop cluster is described."""
SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""The environment variable by which ``spark-submit`` tells Python of its JVM."""
THROWN: Final = re.compile(
    r"^(?:Exception in thread \"main\" )?[\w.$]*(?:Exception|Error): (.+)$", re.M
)
"""The first line of a Java exception."""
PORTS: Final = {"spark": 7077, "sc": 15002}
"""Where a master and a Spark Connect server listen unless their URL says otherwise."""
LOOPBACK: Final = "127.0.0.1"
LOCAL_MEMORY: Final = "2g"
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
def spark_session(
    master: str | None = None,
    remote: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> "Iterator[SparkSession]":
    """A session on ``master`` (neither: ``local[*]``) or with the Connect server at ``remote``.

    ``conf`` is Spark's configuration, before all that is chosen here. Started by ``spark-submit``,
    the session is the submitter's: its ``--master`` wins over ``master``. A session that this
    process has already is used and left running. One that is made here ends with the block, JVM and
    temporary files included. Raises :class:`SparkUnavailable` if there can be none,
    :class:`AnalysisError` for a URL that is none.
    """
    if master and remote:
        raise AnalysisError("an analysis runs either on a master or on a Spark Connect server")
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SparkUnavailable(f"analysis needs PySpark ({error.name}); {SPARK_EXTRA}") from error
    is_submitted = SUBMITTED in os.environ and not remote
    asked = None if is_submitted else remote or master
    if asked and not LOCAL.fullmatch(asked):
        _require_answer(asked)
    given = dict(conf or {})
    if remote:
        with _remote_session(remote, given) as session:
            yield session
    elif active := SparkSession.getActiveSession():
        running = active.sparkContext.master
        if asked not in (None, running):
            raise AnalysisError(f"this process runs Spark on {running} already, not on {master}")
        with _configured(active, given):
            yield active
    elif is_submitted:
        with _submitted_session(given) as session:
            yield session
    else:
        with _own_session(master or THIS_MACHINE, given) as session:
            yield session


@contextlib.contextmanager
def _configured(session: "SparkSession", conf: Mapping[str, str]) -> "Iterator[None]":
    """A running session with some settings, and afterwards as it was."""
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
    """The session of ``spark-submit``, in the JVM that it has started."""
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
    """A session in a JVM that is started for it."""
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
        with _environment(handed_on):
            session = _started(chosen, Path(scratch) / "spark.log")
        try:
            yield session
        finally:
            _end(session.sparkContext)


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Some variables for what is started in the block; afterwards they are as before."""
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
    """Spark's configuration: quiet, and what it would leave behind in ``scratch``.

    On this machine alone there is no web page: nobody would find it.
    """
    chosen = {
        "spark.app.name": "tidegauge",
        "spark.master": master,
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
            "spark.ui.enabled": "false",
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


def store_settings() -> dict[str, str]:
    """What Spark has to know to use the object store that ``AWS_ENDPOINT_URL`` names.

    Arrow reads that variable, and Hadoop does not.
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
    """The version of Hadoop that PySpark brings, by the name of its jar."""
    spec = find_spec("pyspark")
    jars = Path(spec.origin).parent / "jars" if spec and spec.origin else Path()
    name = "hadoop-client-api-"
    found = [path.stem.removeprefix(name) for path in jars.glob(f"{name}*.jar")]
    return found[0] if found else "VERSION"


def _started(chosen: dict[str, str], log: Path) -> "SparkSession":
    """Start a session in a JVM of its own, whose messages go to ``log``."""
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
    """What processes that are started in the block print goes to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [(number, os.dup(number)) for number in (1, 2)]
    try:
        with log.open("ab") as output:
            for number, _ in kept:
                os.dup2(output.fileno(), number)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, copy in kept:
            os.dup2(copy, number)
            os.close(copy)


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
    """The line that tells most: the Java exception's first, or the first that the JVM wrote."""
    lines = str(getattr(error, "java_exception", "")).splitlines()
    written = log.read_text(errors="replace").strip() if log.exists() else ""
    if not lines and (found := THROWN.search(written)):
        lines = [found[1]]
    if not lines:
        lines = written.splitlines()[-1:]
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
def _remote_session(url: str, conf: Mapping[str, str]) -> "Iterator[SparkSession]":
    """A session with a Spark Connect server."""
    try:
        from pyspark.sql.connect.session import SparkSession as RemoteSession
    except ImportError as error:
        raise SparkUnavailable(
            f"Spark Connect needs more Python packages; {CONNECT_EXTRA}"
        ) from error
    with _environment({CONNECT_MODE: "1"}):
        session: Any = RemoteSession.builder.remote(url).create()
        try:
            with _configured(session, conf):
                yield session
        finally:
            session.stop()


def addresses(url: str) -> list[tuple[str, int]]:
    """Hosts and ports in a URL of Spark's; none in ``yarn`` and ``k8s://``.

    Raises :class:`AnalysisError` for what is no URL of Spark's.
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
