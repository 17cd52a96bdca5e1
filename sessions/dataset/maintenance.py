"""Operations on whole datasets: show, compact, remove sessions, convert."""

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from emulator.common.names import nearest_hint
from emulator.events import Event
from sessions.dataset.export import export_session, require_arrow
from sessions.dataset.layout import (
    FILENAME,
    LAYOUT,
    Commit,
    Dataset,
    DatasetError,
    DatasetUnreadable,
    Staging,
    commit_of,
    layout_of,
    one_of,
)
from sessions.dataset.location import Location
from sessions.dataset.rows.events import as_event
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import SESSION, Table, arrow_schema
from sessions.dataset.tables import EVENTS, RUNS, SESSIONS, TABLES
from sessions.dataset.writer import TableWriter, WriterThread

if TYPE_CHECKING:
    import pyarrow as pa

SMALL_BYTES: Final = 64 * 2**20
"""Commits with fewer bytes are merged."""
HIVE_LAYOUT: Final = 2
"""An earlier layout: a folder for each session in each table, ``TABLE/session=ID/``."""
JSON_LAYOUT: Final = 3
"""The previous layout: most fields of events, and all maps, are JSON."""
Progress = Callable[[int], object]
"""Called with the number of rows compacted, or of sessions converted, so far."""


class TableInfo(Struct, frozen=True):
    """The size of a table."""

    table: str
    rows: int
    files: int
    size_bytes: int


class DatasetInfo(Struct, frozen=True):
    """The contents of a dataset; ``small`` counts the commits that a compaction would merge."""

    dataset: str
    layout: int
    sessions: int
    events: int
    commits: int
    small: int
    files: int
    size_bytes: int
    tables: tuple[TableInfo, ...]


def info(dataset: Dataset) -> DatasetInfo:
    """Return what is in a dataset according to its manifest."""
    commits = dataset.commits()
    tables = []
    for table in (*TABLES, RUNS):
        files = [file for commit in commits for file in commit.files.get(table.name, ())]
        tables.append(
            TableInfo(
                table.name,
                sum(file.rows for file in files),
                len(files),
                sum(file.size_bytes for file in files),
            )
        )
    return DatasetInfo(
        dataset=str(dataset),
        layout=LAYOUT,
        sessions=sum(commit.sessions for commit in commits),
        events=sum(commit.events for commit in commits),
        commits=len(commits),
        small=len(_small(commits)),
        files=sum(table.files for table in tables),
        size_bytes=sum(table.size_bytes for table in tables),
        tables=tuple(tables),
    )


def _small(commits: Sequence[Commit]) -> list[Commit]:
    return [commit for commit in commits if commit.size_bytes < SMALL_BYTES]


def compact(dataset: Dataset, progress: Progress = lambda _: None) -> int:
    """Merge all small commits into one, sorted by session, and return their number.

    Fewer than two are left alone.

    Raises:
        DatasetError: the dataset cannot be read or written.
    """
    require_arrow()
    dataset.recover()
    small = _small(dataset.commits())
    if len(small) <= 1:
        return 0
    with dataset.staging() as staging:
        firsts = _first_sessions(dataset)
        ordered = sorted(small, key=lambda commit: (firsts.get(commit.id, ""), commit.id))
        copy_rows(dataset, staging, ordered, (), progress)
        sessions = dataset_sessions(dataset, ordered)
        staging.commit(sessions, sum(commit.events for commit in small), small)
    return len(small)


def remove(dataset: Dataset, sessions: Collection[str]) -> None:
    """Remove sessions from a dataset; files that also contain others are rewritten.

    Raises:
        DatasetError: one of them is not in the dataset; nothing is removed.
    """
    require_arrow()
    dataset.recover()
    missing = sorted(set(sessions) - set(dataset.present(sessions)))
    if missing:
        hint = nearest_hint(missing[0], dataset.sessions())
        raise DatasetError(f"there is no session {missing[0]} in {dataset}{hint}")
    holding = commits_with(dataset, sessions)
    with dataset.staging() as staging:
        others, events = keep_others(dataset, staging, holding, sessions)
        staging.commit(others, events, holding)


def keep_others(
    dataset: Dataset, staging: Staging, commits: Sequence[Commit], without: Collection[str]
) -> tuple[list[str], int]:
    """Rewrite the other sessions of some commits; return them and their number of events."""
    others = [session for session in dataset_sessions(dataset, commits) if session not in without]
    copy_rows(dataset, staging, commits, without)
    rows = dataset.scan(SESSIONS, ["events"], one_of(others))
    return others, sum(rows["events"].to_pylist())


def commits_with(dataset: Dataset, sessions: Collection[str]) -> list[Commit]:
    """Return the commits that contain one of the sessions, or a run of that name."""
    names = {
        commit_of(file)
        for table in (SESSIONS, RUNS)
        if dataset.files(table)
        for file in dataset.scan(table, [FILENAME], one_of(sessions))[FILENAME].to_pylist()
    }
    return [commit for commit in dataset.commits() if commit.id in names]


def dataset_sessions(dataset: Dataset, commits: Sequence[Commit]) -> list[str]:
    """Return the sessions in some commits, sorted."""
    names = {commit.id for commit in commits}
    rows = dataset.scan(SESSIONS, [SESSION, FILENAME]).to_pydict()
    pairs = zip(rows[SESSION], rows[FILENAME], strict=True)
    return sorted(session for session, file in pairs if commit_of(file) in names)


def _first_sessions(dataset: Dataset) -> dict[str, str]:
    """Return the first session of each commit."""
    rows = dataset.scan(SESSIONS, [SESSION, FILENAME]).to_pydict()
    firsts: dict[str, str] = {}
    for session, file in sorted(zip(rows[SESSION], rows[FILENAME], strict=True)):
        firsts.setdefault(commit_of(file), session)
    return firsts


def copy_rows(
    dataset: Dataset,
    staging: Staging,
    commits: Sequence[Commit],
    without: Collection[str],
    progress: Progress = lambda _: None,
) -> None:
    """Copy the rows of commits except those of some sessions, one row group at a time."""
    thread, copied = WriterThread(), 0
    try:
        for table in (*TABLES, RUNS):
            writer = TableWriter(table, staging.path / table.name, f"{staging.id}-kept", thread)
            try:
                for rows in rows_of(dataset, table, commits, without):
                    writer.add(rows)
                    copied += rows.num_rows
                    progress(copied)
                writer.close()
                thread.drain()
            except BaseException:
                thread.stop()
                writer.abandon()
                raise
    finally:
        thread.stop()


def rows_of(
    dataset: Dataset, table: Table, commits: Sequence[Commit], without: Collection[str] = ()
) -> "Iterator[pa.Table]":
    """Yield the rows of commits except those of some sessions, some thousand at a time.

    Raises:
        DatasetUnreadable: a file is damaged.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.parquet import ParquetFile

    removed, schema = pa.array(list(without), pa.string()), arrow_schema(table)
    filesystem, folder = dataset.location.filesystem, (dataset.location / table.name).arrow_path
    for commit in commits:
        for file in commit.files.get(table.name, ()):
            path = f"{folder}/{file.name}"
            try:
                with filesystem.open_input_file(path) as opened, ParquetFile(opened) as parquet:
                    for batch in parquet.iter_batches(columns=list(table.names)):
                        rows = pa.Table.from_batches([batch]).cast(schema)
                        if without:
                            rows = rows.filter(pc.invert(pc.is_in(rows[SESSION], removed)))
                        yield rows
            except (pa.ArrowException, ValueError) as error:
                reason = " ".join(str(error).split())
                raise DatasetUnreadable(f"{path} is damaged: {reason}") from error


# ---- earlier layouts


def convert(old: Location, new: Location, progress: Progress = lambda _: None) -> list[str]:
    """Convert a dataset of layout 2 or 3 to the current layout, and return the sessions.

    Each session is exported again from its events, so that all tables are as an export writes them
    today; a campaign's runs are copied. Sessions that are in the new dataset already are skipped.
    The events of one session are held in memory at a time.

    Raises:
        DatasetError: one of the datasets cannot be read or written.
    """
    require_arrow()
    layout = layout_of(old)
    if layout is None:
        raise DatasetError(f"there is no dataset at {old}")
    if layout not in (HIVE_LAYOUT, JSON_LAYOUT) or old.path is None:
        raise DatasetError(
            f"{old} has layout {layout}; only layouts {HIVE_LAYOUT} and {JSON_LAYOUT} in local "
            "folders are converted"
        )
    converted = []
    sessions = _of_folders(old.path) if layout == HIVE_LAYOUT else _of_files(Dataset(old, layout))
    for number, (facts, events) in enumerate(sessions, start=1):
        if facts.id not in Dataset(new):
            try:
                export_session(events, facts, new)
            except (KeyError, TypeError, msgspec.ValidationError) as error:
                raise DatasetUnreadable(
                    f"session {facts.id} in {old} has an event that this program does not know: "
                    f"{error}"
                ) from error
        converted.append(facts.id)
        progress(number)
    if layout == JSON_LAYOUT:
        _convert_runs(Dataset(old, layout), Dataset(new))
    return converted


def _of_folders(root: Path) -> Iterator[tuple[SessionFacts, Iterator[Event]]]:
    """Yield the sessions of a dataset of layout 2."""
    import pyarrow.parquet as pq

    for folder in sorted((root / SESSIONS.name).glob(f"{SESSION}=*")):
        (row,) = pq.read_table(folder, partitioning=None).to_pylist()
        session = folder.name.partition("=")[2]
        files = sorted((root / EVENTS.name / folder.name).glob("*.parquet"))
        yield _facts({**row, SESSION: session}), _events_in(files)


def _events_in(files: list[Path]) -> Iterator[Event]:
    from pyarrow.parquet import ParquetFile

    for part in files:
        with ParquetFile(part) as file:
            for batch in file.iter_batches():
                for row in batch.to_pylist():
                    yield as_event(row)


def _of_files(old: Dataset) -> Iterator[tuple[SessionFacts, Iterator[Event]]]:
    """Yield the sessions of a dataset of layout 3."""
    for row in sorted(_as_written(old, SESSIONS).to_pylist(), key=lambda row: row[SESSION]):
        yield _facts(row), _events_of(old, row[SESSION])


def _events_of(old: Dataset, session: str) -> Iterator[Event]:
    for batch in _as_written(old, EVENTS, one_of([session])).sort_by("seq").to_batches():
        for row in batch.to_pylist():
            yield as_event(row)


def _as_written(old: Dataset, table: Table, where: Any = None) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the rows of a table with the columns that its files have."""
    import pyarrow as pa
    import pyarrow.dataset as pad

    files = old.files(table)
    if not files:
        return pa.table({})
    try:
        rows = pad.dataset(files, format="parquet", filesystem=old.location.filesystem)
        return rows.to_table(filter=where)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DatasetUnreadable(f"{old} is damaged: {reason}") from error


def _convert_runs(old: Dataset, new: Dataset) -> None:
    """Copy the runs of a campaign, in one commit; those that are there already are skipped."""
    import pyarrow as pa

    there = set(new.scan(RUNS, [SESSION])[SESSION].to_pylist())
    rows = [row for row in _as_written(old, RUNS).to_pylist() if row[SESSION] not in there]
    if not rows:
        return
    for row in rows:
        row["varied"] = list(msgspec.json.decode(row["varied"], type=dict[str, str]).items())
    thread = WriterThread()
    with new.staging() as staging:
        writer = TableWriter(RUNS, staging.path / RUNS.name, staging.id, thread)
        try:
            writer.add(pa.Table.from_pylist(rows, schema=arrow_schema(RUNS)))
            writer.close()
            thread.drain()
        except BaseException:
            thread.stop()
            writer.abandon()
            raise
        thread.stop()
        staging.commit((), 0)


def _facts(row: dict[str, Any]) -> SessionFacts:
    return SessionFacts(
        id=row[SESSION],
        name=row["name"],
        variables=msgspec.json.decode(row["variables"], type=dict[str, str]),
        state_hash=row["state_hash"],
        end_us=row["time_us"],
        # Rows of layout 2 do not say it. Only a recording that was closed has a hash.
        complete=row.get("complete", row["state_hash"] is not None),
        damaged_at=row.get("damaged_at"),
        path=row.get("path"),
    )
