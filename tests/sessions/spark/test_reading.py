"""What is read of session files, without Spark: warnings, and what filters make unnecessary."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)
from pyspark.sql.types import StructType

from sessions.dataset.schema import arrow_schema
from sessions.dataset.tables import EVENTS
from sessions.format.file import SessionFile
from sessions.spark.folder import SourceError, divided, paths_of, session_files
from sessions.spark.pushdown import conditions
from sessions.spark.reading import Reading
from sessions.spark.source import SessionStreamReader
from tests.sessions.conftest import Growing


def batches(path: Path, *filters: Filter) -> pa.Table:
    reading = Reading(EVENTS, EVENTS.names, conditions=conditions(filters))
    schema = arrow_schema(EVENTS)
    return pa.Table.from_batches(reading.batches([str(path)], schema), schema)


def test_a_file_that_cannot_be_read_is_one_warning_and_no_row(tmp_path: Path) -> None:
    path = tmp_path / "none.tide.db"
    path.write_text("this is no session")
    with pytest.warns(RuntimeWarning, match=r"none\.tide\.db") as said:
        assert batches(path).num_rows == 0
    assert len(said) == 1


def test_only_the_types_and_chunks_that_are_asked_for_are_read(recording: Path) -> None:
    everything = batches(recording)
    assert set(batches(recording, EqualTo(("type",), "MessageSent"))["type"].to_pylist()) == {
        "MessageSent"
    }
    with SessionFile(recording) as session:
        chunk = session.chunks[3]
    seqs = batches(recording, GreaterThan(("seq",), chunk.last_seq))["seq"].to_pylist()
    assert min(seqs) == chunk.last_seq + 1
    assert len(seqs) == everything.num_rows - chunk.last_seq
    before = batches(recording, LessThan(("time_us",), chunk.first_us))
    assert 0 < before.num_rows < everything.num_rows
    assert batches(recording, EqualTo(("type",), "NoSuchEvent")).num_rows == 0


@pytest.mark.parametrize(
    ("filter_", "low", "high", "may_hold"),
    [
        (EqualTo(("seq",), 5), 1, 5, True),
        (EqualTo(("seq",), 5), 6, 9, False),
        (In(("seq",), (1, 9)), 2, 9, True),
        (In(("seq",), (1, 9)), 2, 8, False),
        (GreaterThan(("seq",), 5), 1, 5, False),
        (GreaterThanOrEqual(("seq",), 5), 1, 5, True),
        (LessThan(("seq",), 5), 5, 9, False),
        (LessThanOrEqual(("seq",), 5), 5, 9, True),
        (StringStartsWith(("seq",), "be"), "begun", "begun", True),
        (StringStartsWith(("seq",), "be"), "whole", "whole", False),
        (Not(EqualTo(("seq",), 5)), 5, 5, True),
        (IsNotNull(("seq",)), 5, 5, True),
        (EqualTo(("seq", "inner"), 5), 1, 2, True),
        (EqualTo(("other",), 5), 1, 2, True),
    ],
    ids=str,
)
def test_a_filter_leaves_out_only_what_cannot_fulfil_it(
    filter_: Filter, low: object, high: object, *, may_hold: bool
) -> None:
    assert conditions([filter_]).may_hold("seq", low, high) is may_hold


def test_files_are_divided_so_that_each_is_read_once(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.tide.db" for number in range(100)]
    for path in paths:
        path.write_bytes(b"x" * 100_000)
    tasks = divided(paths)
    assert [name for task in tasks for name in task] == [str(path) for path in paths]
    assert 10 < len(tasks) < 20
    assert divided([]) == [[]]


def test_two_files_with_one_id_are_refused(tmp_path: Path) -> None:
    for name in ("a b", "a-b"):
        (tmp_path / f"{name}.tide.db").touch()
    with pytest.raises(SourceError, match="both called a-b"):
        session_files([tmp_path])
    with pytest.raises(SourceError, match="cannot be read: No such file"):
        session_files([tmp_path / "nowhere"])
    with pytest.raises(SourceError, match="name the folder"):
        paths_of({})


def test_a_stream_waits_for_the_end_of_a_recording(growing: Growing) -> None:
    path = growing.session.path
    reader = SessionStreamReader({"path": str(path.parent)}, StructType())
    assert reader.latestOffset({}) == {}
    growing.session.close()
    growing.recorder.close()
    offset = reader.latestOffset({})
    assert offset == {str(path): path.stat().st_size}
    (task,) = reader.partitions({}, offset)
    assert task.value == [str(path)]
    assert reader.partitions(offset, reader.latestOffset(offset)) == []
