"""Readers that know nothing of tidegauge: docs/dataset.md's queries give one answer."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sessions.dataset.document import DUCKDB, PANDAS, POLARS
from sessions.dataset.export import export_session
from sessions.dataset.layout import Dataset
from sessions.dataset.maintenance import compact
from sessions.dataset.rows.sessions import SessionFacts
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


@pytest.mark.spark
def test_plain_spark_reads_it_with_sessions_as_strings(
    spark: "SparkSession", dataset: Path
) -> None:
    rows = spark.read.parquet(f"file://{dataset}/sessions")
    assert dict(rows.dtypes)["session"] == "string"
    assert sorted(row["session"] for row in rows.collect()) == ["2024", "s1"]
