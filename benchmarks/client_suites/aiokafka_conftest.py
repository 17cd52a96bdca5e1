"""aiokafka's ``tests/conftest.py`` for a cluster that is served already, without Docker."""

import asyncio
import gc
import os
from collections.abc import Iterator

import pytest

HOST, _, PORT = os.environ["SUITE_SERVERS"].split(",")[0].rpartition(":")


@pytest.fixture(scope="class")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """The event loop of a test class."""
    own = asyncio.new_event_loop()
    asyncio.set_event_loop(own)
    yield own
    own.close()
    gc.collect()
    asyncio.set_event_loop(None)


@pytest.fixture(scope="class")
def setup_test_class_serverless(
    request: pytest.FixtureRequest, loop: asyncio.AbstractEventLoop
) -> None:
    """Give a class without a cluster its loop."""
    request.cls.loop = loop


@pytest.fixture(scope="class")
def setup_test_class(request: pytest.FixtureRequest, loop: asyncio.AbstractEventLoop) -> None:
    """Give a class its loop and the addresses of the cluster."""
    request.cls.loop = loop
    request.cls.kafka_host, request.cls.kafka_port = HOST, int(PORT)
    request.cls.hosts = [f"{HOST}:{PORT}"]
    request.cls.kafka_version = os.environ["SUITE_VERSION"]


@pytest.fixture(scope="session")
def ssl_folder() -> None:
    """Skip what needs certificates."""
    pytest.skip("it needs the certificates of aiokafka's own image")
