"""The query below each table in docs/ runs, and DuckDB and Spark give one answer to it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from emulator.inputs.statements import (
    Acks,
    AnyInput,
    Consume,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    CutLink,
    HealLinks,
    Mark,
    OpenConnection,
    Produce,
    ReceiveRequest,
    StartBroker,
    Wait,
    ZkCommand,
)
from emulator.wire.codec import encode_request
from emulator.wire.header import RequestHeader
from emulator.wire.messages.cluster import ApiVersionsRequest
from sessions.analysis.jobs import JOBS
from sessions.analyze import analyze
from sessions.campaign.runner import run_campaign
from sessions.dataset.tables import RUNS, TABLES
from tests.sessions.campaign.plans import plan, variant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EMPTY = {"anomalies", "anomaly_counts", "replay_differences", "lost_offsets"}
"""What nobody finds in a healthy program with these releases, and without an image."""


def fencing() -> list[AnyInput]:
    """A client asks, and a broker dies in KRaft mode, and is fenced."""
    asked = encode_request(RequestHeader(18, 3, 1, "me"), ApiVersionsRequest("a-library", "1"))
    return [
        OpenConnection(connection=1, broker=0),
        ReceiveRequest(connection=1, frame=asked),
        CreateTopic(topic="t", assignment=[[1, 2, 0]]),
        CrashBroker(broker=1),
        Wait(duration_us=5_000_000),
    ]


def story(acks: Acks) -> list[AnyInput]:
    """A leader dies without ZooKeeper's knowledge for a while, and comes back behind its heir."""
    return [
        CreateTopic(topic="t", assignment=[[1, 2, 0], [2, 0, 1]]),
        CreateTopic(topic="alone", assignment=[[1]]),
        Wait(duration_us=50_000),
        Produce(topic="t", value="kept", acks=-1, count=10, partition=0),
        Consume(topic="t", partition=0),
        CutLink(source=1, destination=2),
        CutLink(source=1, destination=0),
        Produce(
            topic="t", value="m", count=3, acks=acks, retries=0, timeout_us=300_000, partition=0
        ),
        CrashBroker(broker=1),
        Wait(duration_us=4_000_000),
        HealLinks(),
        Produce(topic="t", value="later", acks=1, partition=0),
        StartBroker(broker=1),
        Wait(duration_us=4_000_000),
        ZkCommand(command="delete", path="/controller"),
        Wait(duration_us=1_000_000),
        Mark(name="over"),
    ]


@pytest.mark.spark
def test_each_tables_query_gives_one_answer_everywhere(
    spark: "SparkSession", tmp_path: Path
) -> None:
    duckdb = pytest.importorskip("duckdb")
    cluster = CreateCluster(config={"zookeeper.session.timeout.ms": "2000"})
    variants = [
        replace(variant({"acks": str(acks)}, story(acks)), cluster=cluster) for acks in (1, -1)
    ]
    kraft = CreateCluster(version="4.1", config={"broker.session.timeout.ms": "2000"})
    variants.append(replace(variant({"acks": "none"}, fencing()), cluster=kraft))
    dataset, results = tmp_path / "dataset", tmp_path / "results"
    run_campaign(plan(*variants, seeds=[(1, 2)]), dataset, 60)
    analyze(dataset, results)
    tables = [result.table for job in JOBS.values() for result in job.results]
    unanswered = set()
    for folder, declared in ((dataset, (*TABLES, RUNS)), (results, tables)):
        examples = {table.name: table.example for table in declared}
        with duckdb.connect() as connection:
            for name in examples:
                connection.execute(
                    f"CREATE VIEW {name} AS SELECT * FROM '{folder}/{name}/*.parquet'"
                )
                spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)
            for name, example in examples.items():
                assert example is not None, name
                answer = connection.execute(example.sql).fetchall()
                assert plain(spark.sql(example.sql).collect()) == plain(answer), name
                if not answer:
                    unanswered.add(name)
    assert unanswered <= EMPTY


def plain(rows: list[Any]) -> list[tuple[Any, ...]]:
    """Rows as tuples; sums that are decimals in one engine and integers in the other as numbers."""
    return [tuple(float(v) if isinstance(v, int) else v for v in row) for row in rows]
