"""The pytest plugin: the fixture ``kafka_cluster``, and the marker ``kafka`` for its options.

::

    @pytest.mark.kafka(brokers=5, version="2.8", config={"min.insync.replicas": 2})
    def test_survives_a_leader_crash(kafka_cluster):
        producer = Producer({"bootstrap.servers": kafka_cluster.bootstrap_servers, "acks": "all"})
        ...
        kafka_cluster.crash(kafka_cluster.leader("orders"))
        ...
        kafka_cluster.assert_nothing_lost()

Timeouts are short, so that tests do not wait long for a failure to be detected: unless ``config``
says otherwise, zookeeper.session.timeout.ms (without ZooKeeper broker.session.timeout.ms) is 1000
and replica.lag.time.max.ms 2000.

Each test gets its own cluster; all of them run in one process beside the tests. When a test
fails, its report names a session file of what happened, and the command that opens it.
"""

from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from tidegauge.kafka_cluster import ClusterError, ClusterServer, KafkaCluster

CLUSTER = pytest.StashKey[KafkaCluster]()
FOLDER = pytest.StashKey[Path]()
OPTIONS = (
    *("brokers", "version", "mode", "controllers", "seed", "config"),
    *("protocol", "users", "image"),
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        "kafka(brokers=3, version='3.9', mode=None, controllers=None, seed=1, config={..}, "
        "protocol='PLAINTEXT', users={..}, image=None): "
        "kafka_cluster's options",
    )


@pytest.fixture(scope="session")
def kafka_cluster_server() -> Iterator[ClusterServer]:
    """The process in which the clusters of all tests run."""
    server = ClusterServer()
    yield server
    server.stop()


@pytest.fixture
def kafka_cluster(
    request: pytest.FixtureRequest,
    kafka_cluster_server: ClusterServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[KafkaCluster]:
    """An emulated Kafka cluster of the test's own (:class:`tidegauge.kafka_cluster.KafkaCluster`).

    The marker ``kafka`` sets brokers, version, mode, controllers, random seed, configuration,
    security protocol and users; or the image of a cluster, in whose state it starts.
    """
    options = _options(request.node)
    try:
        cluster = KafkaCluster(kafka_cluster_server, **options)
    except ClusterError as error:
        raise pytest.fail.Exception(f"@pytest.mark.kafka: {error}", pytrace=False) from None
    request.node.stash[CLUSTER] = cluster
    request.node.stash[FOLDER] = tmp_path_factory.getbasetemp()
    yield cluster
    del request.node.stash[CLUSTER]
    cluster.close()


def _options(item: pytest.Item) -> dict[str, Any]:
    """Return the markers' options; the closest marker wins."""
    options: dict[str, Any] = {}
    names = ", ".join(OPTIONS)
    for marker in reversed(list(item.iter_markers("kafka"))):
        if marker.args:
            text = f"@pytest.mark.kafka takes its options by name ({names}), not {marker.args[0]!r}"
            pytest.fail(text, pytrace=False)
        options |= marker.kwargs
    for name in options:
        if name not in OPTIONS:
            pytest.fail(f"@pytest.mark.kafka has no {name!r}; it has {names}", pytrace=False)
    return options


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the path of its session, and the command that opens it, to a failed test's report."""
    report = yield
    cluster = item.stash.get(CLUSTER, None)
    if call.when == "call" and report.failed and cluster is not None:
        try:
            path = cluster.record(_free(item.stash[FOLDER], item.name))
            quoted = quote(str(path))
            text = (
                f"session: {path}\n"
                f"open it where the test failed: tidegauge replay {quoted} --paused --at end\n"
                f"make a page of it: tidegauge sessions html {quoted}"
            )
        except (ClusterError, OSError) as error:
            text = f"no session was written: {error}"
        report.sections.append(("Emulated Kafka cluster", text))
    return report


def _free(folder: Path, name: str) -> Path:
    """Return an unused file name in the folder."""
    stem = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
    names = (f"{stem}{'' if n == 1 else f'-{n}'}.tide.db" for n in count(1))
    return next(path for file_name in names if not (path := folder / file_name).exists())
