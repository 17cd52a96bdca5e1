"""One Spark session for all tests that need one: starting a JVM takes longer than most of them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from sessions.analysis.spark import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def hasty_java() -> Iterator[None]:
    """A JVM that lives for seconds does not earn back what its second compiler costs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
        yield


@pytest.fixture(scope="session")
def spark(hasty_java: None) -> "Iterator[SparkSession]":
    """A local session with few, small tasks."""
    with spark_session("local[2]") as session:
        session.conf.set("spark.sql.shuffle.partitions", "2")
        yield session
