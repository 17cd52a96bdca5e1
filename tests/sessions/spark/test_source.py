"""Session files read by Spark without an export: the same rows, and what damage does."""

import shutil
import sqlite3
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from sessions.dataset.export_files import add_session
from sessions.dataset.layout import Dataset
from sessions.dataset.tables import BY_NAME, SESSIONS
from sessions.format.file import SessionFile
from sessions.spark import register
from tests.sessions.examples import STORY, record_story, small_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

Rows = Counter[str]
ATTEMPTS = 20
"""Spark waits ten seconds for a Python process to start, which a busy machine may exceed."""
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


@pytest.fixture
def source(spark: "SparkSession") -> "Iterator[SparkSession]":
    register(spark)
    spark.conf.set(PUSHDOWN, "true")
    yield spark
    spark.conf.unset(PUSHDOWN)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two different sessions; not to be changed."""
    folder = tmp_path_factory.mktemp("recordings")
    with small_chunks():
        record_story(folder / "whole.tide.db")
        record_story(folder / "begun.tide.db", STORY[:9])
    return folder


@pytest.fixture(scope="module")
def dataset(recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """The two sessions, exported."""
    return exported(recordings, tmp_path_factory.mktemp("dataset"))


def exported(recordings: Path, into: Path) -> Dataset:
    for path in sorted(recordings.glob("*.tide.db")):
        with SessionFile(path) as session:
            add_session(session, into)
    return Dataset(into)


def exported_rows(dataset: Dataset, table: str) -> Rows:
    declared = BY_NAME[table]
    return Counter(map(repr, map(plain, dataset.scan(declared, declared.names).to_pylist())))


def read_rows(frame: "DataFrame") -> Rows:
    return Counter(repr(plain(row.asDict(recursive=True))) for row in frame.collect())


def plain(value: Any) -> Any:  # noqa: ANN401 - a value of any column
    """A value in the same form, whether Arrow or Spark returned it: maps are dicts."""
    if value in ({}, []):
        return []
    if isinstance(value, dict):
        return {name: plain(member) for name, member in sorted(value.items())}
    if isinstance(value, list):
        if value and all(isinstance(member, tuple) for member in value):
            return plain(dict(value))
        return [plain(member) for member in value]
    return value


def damaged(recordings: Path, folder: Path) -> Path:
    """A folder with a whole session, one with a gap, and a file that is none."""
    shutil.copytree(recordings, folder, dirs_exist_ok=True)
    database = sqlite3.connect(folder / "begun.tide.db")
    firsts = [first for (first,) in database.execute("SELECT first_seq FROM chunks ORDER BY 1")]
    database.execute("DELETE FROM chunks WHERE first_seq = ?", (firsts[2],))
    database.commit()
    database.close()
    return folder


@pytest.mark.parametrize("table", list(BY_NAME))
def test_each_table_has_the_rows_of_an_export(
    source: "SparkSession", recordings: Path, dataset: Dataset, table: str
) -> None:
    frame = source.read.format("tidegauge").option("table", table).load(str(recordings))
    assert frame.columns == list(BY_NAME[table].names)
    assert read_rows(frame) == exported_rows(dataset, table)


@pytest.mark.parametrize("pushes", ["false", "true"])
def test_filters_and_columns_give_what_they_give_of_an_export(
    source: "SparkSession", recordings: Path, dataset: Dataset, pushes: str
) -> None:
    reader = (
        source.read.format("tidegauge")
        .option("columns", "session, seq, type, name")
        .option("pushFilters", pushes)
    )
    frame = reader.load(str(recordings))
    assert frame.columns == ["session", "seq", "type", "name"]
    names = ("session", "seq", "type", "name")
    events = dataset.scan(BY_NAME["events"], names).to_pylist()
    asked = {
        "type = 'MessageSent' AND session = 'whole'": lambda row: (
            row["type"] == "MessageSent" and row["session"] == "whole"
        ),
        "seq > 100 AND seq <= 130": lambda row: 100 < row["seq"] <= 130,
        "session LIKE 'beg%' AND type IN ('ZnodeCreated', 'MessageSent')": lambda row: (
            row["session"] == "begun" and row["type"] in ("ZnodeCreated", "MessageSent")
        ),
        "type = 'NoSuchEvent'": lambda row: False,
        "session = 'nobody'": lambda row: False,
        "type <> 'MessageSent' OR seq < 5": lambda row: (
            row["type"] != "MessageSent" or row["seq"] < 5
        ),
    }
    for condition, accepts in asked.items():
        expected = Counter(repr(plain(row)) for row in events if accepts(row))
        if pushes == "true":  # Spark keeps the filters of a frame's last query
            frame = reader.load(str(recordings))
        assert read_rows(frame.where(condition)) == expected, condition


def test_a_schema_that_is_given_names_the_columns(
    source: "SparkSession", recordings: Path, dataset: Dataset
) -> None:
    reader = source.read.format("tidegauge").option("table", "sessions")
    frame = reader.schema("events BIGINT, session STRING").load(str(recordings))
    counted = dataset.scan(SESSIONS, ("session", "events")).to_pylist()
    assert dict(row[::-1] for row in frame.collect()) == {
        row["session"]: row["events"] for row in counted
    }


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"table": "event"}, "there is no table 'event'; the nearest is 'events'"),
        ({"columns": "seq,tipe"}, "there is no column of events 'tipe'; the nearest is 'type'"),
        ({"mode": "FAILSAFE"}, "there is no mode 'FAILSAFE'; the nearest is 'FAILFAST'"),
        ({"colums": "seq"}, "there is no option 'colums'; the nearest is 'columns'"),
    ],
    ids=["table", "column", "mode", "option"],
)
def test_a_wrong_option_is_refused_with_the_nearest_value(
    source: "SparkSession", recordings: Path, options: dict[str, str], sentence: str
) -> None:
    with pytest.raises(PySparkException) as raised:
        source.read.format("tidegauge").options(**options).load(str(recordings))
    assert sentence in str(raised.value)


def test_a_folder_without_sessions_has_no_rows(source: "SparkSession", tmp_path: Path) -> None:
    assert source.read.format("tidegauge").load(str(tmp_path)).collect() == []


def test_a_damaged_session_is_read_up_to_the_damage_as_an_export_does(
    source: "SparkSession", recordings: Path, tmp_path: Path
) -> None:
    folder = damaged(recordings, tmp_path / "recordings")
    expected = exported(folder, tmp_path / "dataset")
    (folder / "none.tide.db").write_text("this is no session")
    for table in ("events", "sessions"):
        reader = source.read.format("tidegauge").option("table", table)
        assert read_rows(reader.load(str(folder))) == exported_rows(expected, table)


@pytest.mark.parametrize("name", ["begun", "none"])
def test_a_damaged_session_fails_a_query_that_asks_for_that(
    source: "SparkSession", recordings: Path, tmp_path: Path, name: str
) -> None:
    folder = damaged(recordings, tmp_path / "recordings")
    (folder / "none.tide.db").write_text("this is no session")
    reader = source.read.format("tidegauge").options(mode="failfast", pushFilters="true")
    with pytest.raises(PySparkException, match=rf"{name}\.tide\.db"):
        reader.load(str(folder)).where(f"session = '{name}'").collect()
    assert reader.load(str(folder)).where("session = 'whole' AND seq = 1").count() == 1


def test_a_stream_reads_each_session_of_a_growing_folder_once(
    source: "SparkSession", recordings: Path, tmp_path: Path
) -> None:
    folder, out = tmp_path / "growing", tmp_path / "out"
    folder.mkdir()

    def read_on() -> Rows:
        """What is there after the query has read all that is new, from its checkpoint on."""
        frame = source.readStream.format("tidegauge").option("table", "elections")
        writer = (
            frame.load(str(folder))
            .writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
        )
        for _ in range(ATTEMPTS):
            try:
                writer.start(str(out)).awaitTermination()
            except PySparkException as error:
                if "failed to connect back" not in str(error):
                    raise
            else:
                break
        return read_rows(source.read.schema(frame.load(str(folder)).schema).parquet(str(out)))

    assert read_on() == Counter()
    shutil.copy(recordings / "begun.tide.db", folder)
    assert read_on() == exported_rows(exported(folder, tmp_path / "first"), "elections")
    shutil.copy(recordings / "whole.tide.db", folder)
    both = exported_rows(exported(folder, tmp_path / "both"), "elections")
    assert read_on() == both
    assert read_on() == both
