"""What every test shares: how slow examples are judged, and where tests that need a JVM run.

There is one Spark session for all that need one: starting a JVM takes longer than most of them.
"""

import atexit
import gc
import hashlib
import os
import shutil
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cached_property
from importlib.util import find_spec
from random import Random
from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

from sessions.analysis.session import spark_session
from sessions.garbage_collection import collect_seldom

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling
    from xdist.workermanage import WorkerController

SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Few rows are analysed so for users, too: compiling a query takes longer than running it."""
COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
}
"""As many rows are analysed."""

HASTY = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC "
    "-XX:MetaspaceSize=256m -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""One compiler, a collector without threads, and no second look at Spark's own classes."""

NEED_PYSPARK = (
    *("sessions/analysis/*", "sessions/campaign/*", "sessions/exploration/test_spark_search.py"),
    "sessions/spark/*",
    *(
        "sessions/test_example_queries.py",
        "commands/runs/test_analysis.py",
        "commands/runs/test_campaign.py",
    ),
)
"""Tests of modules that import PySpark."""
ID_MAX = 200
"""How long a parameter may be, in characters or bytes, to be part of its test's id as it is."""
MANY = 300
"""From how many tests on a file is one of the first."""
collect_ignore_glob = [] if find_spec("pyspark") else list(NEED_PYSPARK)

settings.register_profile("tidegauge", settings(deadline=None))  # a loaded machine is no failure
settings.load_profile("tidegauge")


def pytest_configure(config: pytest.Config) -> None:
    """Keep bytecode in pytest's cache where Python is told to keep none beside the sources.

    Otherwise every program that a test starts compiles all its modules again.
    """
    cache = getattr(config, "cache", None)  # none without the plugin: python -m benchmarks.mutation
    if sys.dont_write_bytecode and cache is not None:
        folder = str(cache.mkdir("bytecode"))
        sys.pycache_prefix, sys.dont_write_bytecode = folder, False
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Never look for garbage in what lasts as long as the tests do: modules, and all tests.

    To look through it again and again took a seventh of the processor's time, and so did looks at
    each 700 new objects afterwards.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        collect_seldom()
        gc.enable()


def pytest_unconfigure() -> None:
    """Let garbage be collected when Python ends: DuckDB tells on standard error what is left.

    Not before: pytest itself collects garbage twice as it ends, which would look through all of it.
    """
    atexit.register(gc.unfreeze)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let each worker go through a folder in an order of its own, and so compile other modules.

    In a new clone nothing is compiled yet. In one order, all workers compile a module at once.
    """
    report = yield
    worker = getattr(collector.config, "workerinput", None)
    if worker and isinstance(collector, pytest.Directory):
        Random(f"{worker['workerid']} {collector.nodeid}").shuffle(report.result)
    return report


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a long text by its digest: ids travel with every result of every worker."""
    if not isinstance(val, str | bytes) or len(val) <= ID_MAX:
        return None
    data = val.encode(errors="surrogatepass") if isinstance(val, str) else val
    return f"{argname}-{hashlib.sha256(data).hexdigest()[:8]}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Let workers report of a test that passes once, and not that it begins, is set up and ends.

    Most tests are over sooner than four reports of them are written, sent, and read.
    """
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "Scheduling | None":
    """Give a worker the tests of a whole file at once, and those of Spark first.

    xdist's own scheduler of groups looks through all tests that a worker has had whenever one of
    them ends, and through all tests there are to say which one a worker shall run. That alone took
    more of a processor's time than the tests of any folder but three.
    """
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class FileScheduling(LoadGroupScheduling):  # type: ignore[misc]
        """Groups as they are; other tests by their file. Tests that have ended are forgotten."""

        def _split_scope(self, nodeid: str) -> str:
            return super()._split_scope(nodeid).split("::")[0]

        @cached_property
        def _numbers(self) -> dict[str, int]:
            return {test: number for number, test in enumerate(self.collection)}

        def _assign_work_unit(self, node: "WorkerController") -> None:
            scope, tests = self.workqueue.popitem(last=False)
            self.assigned_work.setdefault(node, {})[scope] = tests
            node.send_runtest_some([self._numbers[test] for test in tests])

        def mark_test_complete(
            self, node: "WorkerController", item_index: int, duration: float = 0
        ) -> None:
            test, work = self.collection[item_index], self.assigned_work[node]
            scope = self._split_scope(test)
            del work[scope][test]
            if not work[scope]:
                del work[scope]
            self._reschedule(node)

        def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
            return sum(map(len, workload.values()))

    config.option.loadscopereorder = False  # files with few tests last long, too
    return FileScheduling(config, log)


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep all Spark tests in one xdist worker (one JVM), and skip them where Spark cannot run.

    That worker begins with them, because they last longest, and the others with files of many
    tests: so all end at about the same time. Tests that start Spark's servers have JVMs of their
    own, and run in any worker.
    """
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    reason = (
        "needs Java 17 or newer"
        if not java
        else "needs the 'spark' extra"
        if find_spec("pyspark") is None
        else None
    )
    for item in items:
        if item.get_closest_marker("spark"):
            if not item.get_closest_marker("servers"):
                item.add_marker(pytest.mark.xdist_group("spark"))
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))
    if hasattr(config, "workerinput"):
        tests = Counter(item.path for item in items)
        items.sort(
            key=lambda item: (
                not item.get_closest_marker("spark"),
                tests[item.path] < MANY,
                item.path,
            )
        )


@pytest.fixture(scope="session", autouse=True)
def no_settings() -> Iterator[None]:
    """Nobody's own settings of the console reach the tests, or the programs that they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEGAUGE_CONFIG", os.devnull)
        yield


@pytest.fixture(scope="session")
def hasty_java() -> Iterator[None]:
    """A JVM that lives for seconds does not earn back what its second compiler costs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", HASTY)
        yield


@pytest.fixture(scope="session")
def spark(hasty_java: None) -> "Iterator[SparkSession]":
    """A local session with few, small tasks."""
    with spark_session("local[2]") as session:
        for key, value in SMALL.items():
            session.conf.set(key, value)
        yield session


@pytest.fixture
def compiled_spark(spark: "SparkSession") -> "Iterator[SparkSession]":
    """The same session, in which queries are compiled."""
    for key, value in COMPILED.items():
        spark.conf.set(key, value)
    yield spark
    for key in COMPILED:
        spark.conf.set(key, SMALL[key])
