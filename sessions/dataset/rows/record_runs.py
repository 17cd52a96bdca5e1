"""Rows of records, made from runs: consecutive records that share most of their columns.

A batch of a hundred records is one run and a hundred rows; Arrow makes the rows, so they are cheap.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, repeat
from typing import TYPE_CHECKING, Any, Final

from sessions.dataset.rows.events import Spans, session_array, split_partitions
from sessions.dataset.schema import SESSION, Table, arrow_schema
from sessions.dataset.writer import ROW_GROUP_ROWS, Row, given_columns

if TYPE_CHECKING:
    import pyarrow as pa

COUNTED: Final = frozenset({"record", "offset"})
"""Columns for which a run has the first value; each further record has the next number."""
LISTED: Final = frozenset({"key", "value"})
"""Columns for which a run has a list with a value for each record."""


def runs_to_table(table: Table, runs: Sequence[Row], spans: Spans) -> "pa.Table":
    """Return runs as Arrow columns with one row per record.

    A run has a value for each column, as a plain row has, and its count at the end; ``spans`` gives
    the session of each run.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = arrow_schema(table)
    if not runs:
        return schema.empty_table()
    names = given_columns(table)
    *values, counts = zip(*runs, strict=True)
    parent, index = _positions(counts)
    columns: dict[str, Any] = {SESSION: session_array(spans).take(parent)}
    for name, column in zip(names, values, strict=True):
        type_ = schema.field(name).type
        if name in LISTED:
            columns[name] = pa.array(_flat(column, counts), type_)
        elif name in COUNTED:
            columns[name] = pc.add(pa.array(column, type_).take(parent), index)
        elif name == "tp":
            split = split_partitions(pa.array(column, type_))
            columns |= {part: array.take(parent) for part, array in split.items()}
        else:
            columns[name] = pa.array(column, type_).take(parent)
    return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


def portions(
    runs: Sequence[Row], spans: Spans, records_max: int = ROW_GROUP_ROWS
) -> Iterator[tuple[list[Row], Spans]]:
    """Split runs into portions of about ``records_max`` records, to bound memory."""
    owners = chain.from_iterable(repeat(session, count) for session, count in spans)
    portion: list[Row] = []
    sessions: list[str] = []
    records = 0
    for run, session in zip(runs, owners, strict=True):
        portion.append(run)
        sessions.append(session)
        records += run[-1]
        if records >= records_max:
            yield portion, _spans(sessions)
            portion, sessions, records = [], [], 0
    if portion:
        yield portion, _spans(sessions)


def _spans(sessions: list[str]) -> Spans:
    return [(session, len(list(same))) for session, same in groupby(sessions)]


def _positions(counts: Sequence[int]) -> "tuple[pa.Array, pa.Array]":
    """Return for each record the index of its run, and its own index within that run."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = pc.cumulative_sum(pa.array(counts, pa.int64()))
    total = ends[-1].as_py()
    starts = pc.subtract(ends, pa.array(counts, pa.int64()))
    offsets = pa.concat_arrays([starts, pa.array([total], pa.int64())])
    runs = pa.LargeListArray.from_arrays(offsets, pa.nulls(total))
    parent = pc.list_parent_indices(runs)
    number = pc.subtract(pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), total)), 1)
    return parent, pc.subtract(number, starts.take(parent))


def _flat(lists: Iterable[Sequence[str | None]], counts: Sequence[int]) -> list[str | None]:
    """Return the values of all runs, flattened; an empty list is a run without values."""
    return list(
        chain.from_iterable(
            values or [None] * count for values, count in zip(lists, counts, strict=True)
        )
    )
