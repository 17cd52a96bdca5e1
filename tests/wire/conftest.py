"""Each client library, given a cluster of its own."""

import gc
import warnings
from collections.abc import Iterator

import pytest

from tests.wire.clients import CLIENTS, Client
from tidegauge.kafka_cluster import KafkaCluster

MODULES = {"confluent-kafka": "confluent_kafka", "kafka-python": "kafka", "aiokafka": "aiokafka"}


@pytest.fixture(scope="module", autouse=True)
def what_libraries_left_open() -> Iterator[None]:
    """Collect what client libraries left open, so that it fails no test of another module."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(params=CLIENTS)
def client_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    pytest.importorskip(MODULES[name])
    return name


@pytest.fixture
def client(client_name: str, kafka_cluster: KafkaCluster) -> Iterator[Client]:
    made = CLIENTS[client_name](kafka_cluster.bootstrap_servers)
    yield made
    made.close()
    gc.collect()  # what a library left open is told here, where it is no failure
