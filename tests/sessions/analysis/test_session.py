"""Finding out that there is no Spark to be had, in one sentence and without waiting for it."""

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.analysis.errors import AnalysisError, SparkUnavailable
from sessions.analysis.java import java_major, require_java
from sessions.analysis.session import (
    COLLECTOR,
    addresses,
    hadoop_version,
    settings,
    spark_session,
    store_settings,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


HANDED_ON = {
    name: os.environ.get(name)
    for name in ("PYTHONSAFEPATH", "PYSPARK_PYTHON", "SPARK_CONNECT_MODE_ENABLED")
}
"""Before any test has started a session."""


def fake_java(folder: Path, banner: str, status: int = 0) -> None:
    """A ``java`` that prints a banner."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{banner}' >&2\nexit {status}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("banner", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea"', 25),
        ("Unable to locate a Java Runtime.", None),
    ],
)
def test_javas_version_is_read_from_its_banner(banner: str, major: int | None) -> None:
    assert java_major(banner) == major


def test_no_java_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SparkUnavailable, match="needs Java 17 or newer, but no java was found"):
        require_java()


def test_a_java_home_without_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkUnavailable, match=f"JAVA_HOME, {tmp_path}, has no bin/java"):
        require_java()


def test_an_old_java_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, 'openjdk version "11.0.2"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkUnavailable, match="java is Java 11"):
        require_java()


@pytest.mark.parametrize("status", [0, 1])
def test_a_java_that_tells_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    fake_java(tmp_path, "No Java runtime present", status)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkUnavailable, match="did not say which one it is"):
        require_java()


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.spark
@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_master_that_does_not_answer_is_one_sentence(scheme: str) -> None:
    url = f"{scheme}://127.0.0.1:{unused_port()}"
    master, remote = (url, None) if scheme == "spark" else (None, url)
    with (
        pytest.raises(SparkUnavailable, match=f"nothing responds at {url}: Connection refused"),
        spark_session(master, remote),
    ):
        pass


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("spark://a:1,b", [("a", 1), ("b", 7077)]),
        ("sc://host/;token=x", [("host", 15002)]),
        ("yarn", []),
        ("k8s://https://host:443", []),
    ],
)
def test_urls_say_where_to_call(url: str, found: list[tuple[str, int]]) -> None:
    assert addresses(url) == found


@pytest.mark.parametrize("url", ["", "loca", "http://a", "spark://", "spark://a:b", "mesos://a:1"])
def test_what_is_no_url_of_sparks_is_refused(url: str) -> None:
    with pytest.raises(AnalysisError, match=r"is not a Spark URL"):
        addresses(url)


def test_a_master_and_a_remote_server_at_once_are_refused() -> None:
    with (
        pytest.raises(AnalysisError, match="either on a master or on"),
        spark_session("local[1]", "sc://host"),
    ):
        pass


def test_spark_listens_on_loopback_only_where_nobody_else_must_reach_it() -> None:
    assert settings("local[*]", "/s")["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings("spark://localhost:7077", "/s")["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.bindAddress" not in settings("spark://far:7077", "/s")
    assert "spark.local.dir" not in settings("spark://far:7077", "/s")


def test_a_collector_that_somebody_has_chosen_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)
    monkeypatch.delenv("JAVA_TOOL_OPTIONS", raising=False)
    assert COLLECTOR in settings("local[*]", "/s")["spark.driver.extraJavaOptions"]
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:+UseSerialGC")
    assert COLLECTOR not in settings("local[*]", "/s")["spark.driver.extraJavaOptions"]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_what_a_session_hands_on_is_not_left_in_the_environment() -> None:
    assert {name: os.environ.get(name) for name in HANDED_ON} == HANDED_ON


def test_a_yarn_without_its_configuration_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    said = "--master yarn needs the cluster's configuration: HADOOP_CONF_DIR or YARN_CONF_DIR"
    with pytest.raises(SparkUnavailable, match=said), spark_session("yarn"):
        pass


@pytest.mark.spark
def test_settings_hold_for_the_block_alone(spark: "SparkSession") -> None:
    key = "spark.sql.session.timeZone"
    before = spark.conf.get(key)
    with spark_session(conf={key: "Asia/Tokyo"}) as session:
        assert session.conf.get(key) == "Asia/Tokyo"
    assert spark.conf.get(key) == before


def test_the_object_store_of_the_environment_is_sparks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    assert store_settings() == {}
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert store_settings()["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:1"
    assert hadoop_version()[0].isdigit()
