"""Readers that know nothing of tidegauge: docs/dataset.md's queries give one answer."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq
import pytest

from sessions.dataset.document import DUCKDB, PANDAS, POLARS
from sessions.dataset.export import export_session
from sessions.dataset.layout import Dataset
from sessions.dataset.maintenance import compact, info, remove
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import arrow_schema, spark_schema
from sessions.dataset.tables import RUNS, TABLES
from tests.sessions.dataset.streams import committed_story

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answer = list[tuple[str, int, int, float]]
KNOWN: Answer = [("3.9", -1, 6, 300.0)]
"""Two sessions of three records that each took 300 us."""


@pytest.fixture(params=["apart", "merged"])
def dataset(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Two sessions, one of which has a number for a name."""
    for name in ("s1", "2024"):
        export_session(committed_story().events, SessionFacts(name), tmp_path)
    if request.param == "merged":
        compact(Dataset(tmp_path))
    return tmp_path


def ran(code: str, dataset: Path) -> Any:  # noqa: ANN401 - a frame of some library
    """What a query leaves as ``found``."""
    names: dict[str, Any] = {}
    exec(code.replace("DATASET", str(dataset)), names)
    return names["found"]


def test_duckdb_reads_it(dataset: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        found = connection.execute(DUCKDB.replace("DATASET", str(dataset))).fetchall()
        sessions = connection.execute(
            f"SELECT DISTINCT session FROM '{dataset}/events/*.parquet' ORDER BY ALL"
        ).fetchall()
    assert found == KNOWN
    assert sessions == [("2024",), ("s1",)]


def test_polars_reads_it(dataset: Path) -> None:
    pytest.importorskip("polars")
    assert ran(POLARS, dataset).rows() == KNOWN


def test_pandas_reads_it(dataset: Path) -> None:
    pytest.importorskip("pandas")
    assert list(ran(PANDAS, dataset).itertuples(index=False, name=None)) == KNOWN


# ---- tables without rows have their columns


@pytest.fixture(params=["no session", "one session", "removed"])
def sparse(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A dataset with empty tables."""
    if request.param == "no session":
        Dataset(tmp_path).make()
    else:
        export_session(committed_story().events, SessionFacts("s1"), tmp_path)
    if request.param == "removed":
        remove(Dataset(tmp_path), ["s1"])
    return tmp_path


ALL: Final = (*TABLES, RUNS)


def counts(dataset: Path) -> dict[str, int]:
    said = {table.table: table.rows for table in info(Dataset(dataset)).tables}
    assert 0 in said.values()
    return said


def test_arrow_reads_every_table_with_its_columns(sparse: Path) -> None:
    for table in ALL:
        found = pq.read_table(sparse / table.name)
        declared = arrow_schema(table)
        assert found.schema.equals(declared)
        assert [field.metadata for field in found.schema] == [field.metadata for field in declared]
        assert found.num_rows == counts(sparse)[table.name]


def test_duckdb_reads_every_table_with_its_columns(sparse: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        for table in ALL:
            found = connection.execute(f"SELECT * FROM '{sparse}/{table.name}/*.parquet'")
            assert tuple(column[0] for column in found.description) == table.names
            assert len(found.fetchall()) == counts(sparse)[table.name]


def test_polars_reads_every_table_with_its_columns(sparse: Path) -> None:
    polars = pytest.importorskip("polars")
    for table in ALL:
        found = polars.scan_parquet(f"{sparse}/{table.name}/*.parquet").collect()
        empty = polars.from_arrow(arrow_schema(table).empty_table())
        assert found.schema == empty.schema
        assert found.height == counts(sparse)[table.name]


@pytest.mark.spark
def test_spark_reads_every_table_with_its_columns(spark: "SparkSession", sparse: Path) -> None:
    for table in ALL:
        declared = spark.createDataFrame([], spark_schema(table))
        found = spark.read.parquet(f"file://{sparse}/{table.name}")
        assert dict(found.dtypes) == dict(declared.dtypes)
        assert found.columns == list(table.names)
        assert found.count() == counts(sparse)[table.name]


@pytest.mark.spark
def test_plain_spark_reads_it_with_sessions_as_strings(
    spark: "SparkSession", dataset: Path
) -> None:
    rows = spark.read.parquet(f"file://{dataset}/sessions")
    assert dict(rows.dtypes)["session"] == "string"
    assert sorted(row["session"] for row in rows.collect()) == ["2024", "s1"]
