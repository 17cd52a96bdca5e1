"""Tables of Delta Lake and Iceberg: other readers find the dataset's rows, and nothing is lost."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import CreateCluster
from emulator.scenario.runner import Runner
from sessions.dataset.export import export_session
from sessions.dataset.layout import Dataset, DatasetError, DatasetUnreadable
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import Table, arrow_schema
from sessions.dataset.table_formats import MARKER, export_tables
from sessions.dataset.tables import EVENTS, RUNS, SESSIONS, TABLES
from tests.sessions.dataset.harm import a_file
from tests.sessions.dataset.streams import committed_story
from tests.support.random_scripts import BROKERS, run, script_of

ALL = (*TABLES, RUNS)
FORMATS = ("delta", "iceberg")


def events_of(seed: int) -> list[Event]:
    """A random script in KRaft mode, whose events have values of all types."""
    seen: list[Event] = []
    spec = CreateCluster(brokers=BROKERS, controllers=3, version="4.1", mode="kraft", seed=seed)
    run(Runner(Cluster(spec, [seen.append])), script_of(seed, 40))
    return seen


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("sessions") / "dataset"
    export_session(committed_story().events, SessionFacts("s1"), folder)
    export_session(events_of(3), SessionFacts("s2", variables={"acks": "1"}), folder)
    return Dataset(folder)


@pytest.fixture(scope="module")
def delta(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("deltalake")
    out = tmp_path_factory.mktemp("delta") / "tables"
    export_tables(dataset, "delta", out)
    return out


@pytest.fixture(scope="module")
def iceberg(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pyiceberg")
    out = tmp_path_factory.mktemp("iceberg") / "all of #them"
    export_tables(dataset, "iceberg", out)
    return out


def ordered(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=repr)


def plain(table: pa.Table) -> list[Any]:
    """The rows of an Arrow table, maps as lists of pairs."""
    return ordered(table.to_pylist())


def expected(dataset: Dataset, name: str) -> list[Any]:
    table = next(table for table in ALL if table.name == name)
    return plain(dataset.scan(table, table.names))


# ---- the writers' own readers


def delta_rows(out: Path, name: str) -> pa.Table:
    from deltalake import DeltaTable

    return DeltaTable(str(out / name)).to_pyarrow_table()


def iceberg_rows(out: Path, name: str) -> pa.Table:
    from pyiceberg.table import StaticTable

    return StaticTable.from_metadata(str(out / name)).scan().to_arrow()


@pytest.mark.parametrize("table", ALL, ids=lambda table: table.name)
def test_deltas_reader_finds_the_rows_and_columns(
    dataset: Dataset, delta: Path, table: Table
) -> None:
    found = delta_rows(delta, table.name)
    assert plain(found) == expected(dataset, table.name)
    assert found.schema.equals(arrow_schema(table))
    assert [field.metadata[b"comment"].decode() for field in found.schema] == [
        column.comment for column in table.columns
    ]


@pytest.mark.parametrize("table", ALL, ids=lambda table: table.name)
def test_icebergs_reader_finds_the_rows_and_columns(
    dataset: Dataset, iceberg: Path, table: Table
) -> None:
    from pyiceberg.table import StaticTable

    there = expected(dataset, table.name)
    for row in there:
        if "partition_data" in row:
            row["partition_data"] = row["partition_data"] or []  # PyIceberg reads none as empty
    assert plain(iceberg_rows(iceberg, table.name)) == ordered(there)
    schema = StaticTable.from_metadata(str(iceberg / table.name)).schema()
    assert [(field.name, field.doc, field.required) for field in schema.fields] == [
        (column.name, column.comment, not column.null) for column in table.columns
    ]


# ---- others


def files_of(out: Path, format_: str, name: str) -> list[str]:
    """The data files that the table's log names, as its own library reads it."""
    if format_ == "delta":
        from deltalake import DeltaTable

        return DeltaTable(str(out / name)).file_uris()
    from pyiceberg.table import StaticTable

    tasks = StaticTable.from_metadata(str(out / name)).scan().plan_files()
    return [task.file.file_path for task in tasks]


@pytest.mark.parametrize("name", ["events", "sessions", "produced", "metadata_records"])
@pytest.mark.parametrize("format_", FORMATS)
def test_duckdb_finds_the_same_rows(
    dataset: Dataset, format_: str, name: str, request: pytest.FixtureRequest
) -> None:
    duckdb = pytest.importorskip("duckdb")
    out: Path = request.getfixturevalue(format_)
    with duckdb.connect() as connection:
        found = connection.read_parquet(files_of(out, format_, name)).fetchall()
        there = connection.read_parquet(f"{dataset.location}/{name}/*.parquet").fetchall()
    assert ordered(found) == ordered(there)


@pytest.mark.parametrize("name", ["sessions", "produced", "metadata_records", "runs"])
@pytest.mark.parametrize("format_", FORMATS)
def test_polars_finds_the_same_rows(
    dataset: Dataset,
    format_: str,
    name: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    polars = pytest.importorskip("polars")
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")
    out: Path = request.getfixturevalue(format_)
    if format_ == "delta":
        found = polars.read_delta(str(out / name))
    else:
        metadata = out / name / "metadata" / "v1.metadata.json"
        found = polars.scan_iceberg(str(metadata)).collect()
    there = polars.read_parquet(f"{dataset.location}/{name}/*.parquet")
    assert found.columns == there.columns
    assert ordered(found.rows()) == ordered(there.rows())


# ---- the folder


@pytest.mark.parametrize("format_", FORMATS)
def test_an_export_is_replaced_if_that_is_said(
    dataset: Dataset, format_: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(format_)
    small = Dataset(tmp_path / "small")
    export_session(committed_story().events, SessionFacts("other"), tmp_path / "small")
    small = Dataset(tmp_path / "small")
    out = tmp_path / "tables"
    export_tables(dataset, format_, out)
    with pytest.raises(DatasetError, match="--replace"):
        export_tables(small, format_, out)
    export_tables(small, format_, out, replace=True)
    rows = delta_rows if format_ == "delta" else iceberg_rows
    assert rows(out, SESSIONS.name)["session"].to_pylist() == ["other"]


@pytest.mark.parametrize("replace", [False, True])
def test_another_folder_is_left_alone(dataset: Dataset, tmp_path: Path, replace: bool) -> None:
    pytest.importorskip("deltalake")
    (tmp_path / "holiday.jpg").write_text("sea")
    with pytest.raises(DatasetError, match="name a new folder"):
        export_tables(dataset, "delta", tmp_path, replace=replace)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


def test_links_in_a_replaced_folder_are_not_followed(dataset: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("deltalake")
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    out.mkdir()
    (out / MARKER).write_text('{"format": "delta"}')
    (out / EVENTS.name).symlink_to(outside)
    export_tables(dataset, "delta", out, replace=True)
    assert [path.name for path in outside.iterdir()] == ["kept"]
    assert not (out / EVENTS.name).is_symlink()


@pytest.mark.parametrize("format_", FORMATS)
def test_damage_is_told_with_its_place_and_a_later_export_replaces_what_was_written(
    tmp_path: Path, format_: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(format_)
    folder, out = tmp_path / "dataset", tmp_path / "out"
    export_session(committed_story().events, SessionFacts("s1"), folder)
    file = a_file(folder)
    whole = file.read_bytes()
    file.write_bytes(whole[:-8])
    with pytest.raises(DatasetUnreadable, match=f"{file.name} is damaged"):
        export_tables(Dataset(folder), format_, out)
    file.write_bytes(whole)
    made = export_tables(Dataset(folder), format_, out, replace=True)
    assert made.rows == sum(len(expected(Dataset(folder), table.name)) for table in ALL)


def test_a_missing_library_is_named_with_its_extra(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sessions.dataset.table_formats.find_spec", lambda name: None if name == "deltalake" else 1
    )
    with pytest.raises(DatasetError, match=r"pip install 'tidegauge\[delta\]'"):
        export_tables(dataset, "delta", tmp_path / "out")
    assert not (tmp_path / "out").exists()
