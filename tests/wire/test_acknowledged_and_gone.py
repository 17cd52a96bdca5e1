"""The demonstration of docs/clients.md: acks=all by the rules of several releases."""

from collections.abc import Iterator

import pytest

from tidegauge.kafka_cluster import ClusterServer

pytest.importorskip("confluent_kafka")

from docs.acknowledged_and_gone import run

pytestmark = pytest.mark.clients


@pytest.fixture(scope="module")
def server() -> Iterator[ClusterServer]:
    made = ClusterServer()
    yield made
    made.stop()


def test_in_0_10_2_an_acknowledged_record_is_gone(server: ClusterServer) -> None:
    assert run(server, "0.10.2") == (["paid"], [], ["paid"])


@pytest.mark.parametrize("version", ["0.11", "3.9"])
def test_since_kip_101_it_is_kept(server: ClusterServer, version: str) -> None:
    assert run(server, version) == (["paid"], ["paid"], [])
