"""Verify a dataset: its files are those of the manifest, unchanged, with the declared columns."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, Literal

from msgspec import Struct

from sessions.dataset.layout import SCHEMA, SCHEMA_FILE, Dataset, DatasetUnreadable, File, commit_of
from sessions.dataset.location import Location
from sessions.dataset.schema import SESSION, Table, arrow_schema
from sessions.dataset.tables import RUNS, SESSIONS, TABLES

BLOCK_BYTES: Final = 1 << 20
Progress = Callable[[int], object]
"""Called with the number of files verified so far."""


class Problem(Struct, frozen=True):
    """A problem: ``damaged`` loses rows or falsifies them, ``untidy`` does neither."""

    kind: Literal["damaged", "untidy"]
    place: str
    problem: str


class Verification(Struct, frozen=True):
    """The result; ``without_digest`` counts files that an older program has written."""

    dataset: str
    commits: int
    files: int
    rows: int
    size_bytes: int
    sessions: int
    without_digest: int
    problems: tuple[Problem, ...]

    @property
    def damaged(self) -> bool:
        """Whether rows are lost or false."""
        return any(problem.kind == "damaged" for problem in self.problems)


def verify(dataset: Dataset, progress: Progress = lambda _: None) -> Verification:
    """Verify a dataset of the current layout; all files are read once.

    Raises:
        DatasetError: the manifest cannot be read.
    """
    entries = dataset.entries()
    commits = [entry for entry in entries if entry.id != SCHEMA]
    tables = {table.name: table for table in (*TABLES, RUNS)}
    problems = [
        Problem("damaged", f"{dataset}/_manifest/{entry.id}.json", f"there is no table {name}")
        for entry in entries
        for name in entry.files
        if name not in tables
    ]
    listed = [
        (tables[name], file)
        for entry in entries
        for name, files in entry.files.items()
        if name in tables
        for file in files
    ]
    problems += _extra(dataset, listed)
    for number, (table, file) in enumerate(listed, start=1):
        problems += _wrong(dataset.location / table.name / file.name, table, file)
        progress(number)
    sessions = 0
    if not any(problem.kind == "damaged" for problem in problems):
        ids = Counter(dataset.scan(SESSIONS, [SESSION])[SESSION].to_pylist())
        sessions = len(ids)
        problems += [
            Problem("damaged", str(dataset), f"session {name} is there {count} times")
            for name, count in sorted(ids.items())
            if count > 1
        ]
        if (listed_count := sum(commit.sessions for commit in commits)) != ids.total():
            fault = f"the manifest has {listed_count:,} sessions, the table {ids.total():,}"
            problems.append(Problem("damaged", str(dataset), fault))
        commit_names = {name for commit in commits for name in commit.ids or ()}
        problems += [
            Problem("damaged", str(dataset), f"session {name} is in the manifest only")
            for name in sorted(commit_names - ids.keys())
        ]
    return Verification(
        dataset=str(dataset),
        commits=len(commits),
        files=len(listed),
        rows=sum(file.rows for _, file in listed),
        size_bytes=sum(file.size_bytes for _, file in listed),
        sessions=sessions,
        without_digest=sum(not file.sha256 for _, file in listed),
        problems=tuple(problems),
    )


def _extra(dataset: Dataset, listed: list[tuple[Table, File]]) -> Iterator[Problem]:
    """Yield the files that are not in the manifest, and the commits that are half moved in."""
    unfinished = set(dataset.left_out())
    for name in sorted(unfinished):
        note = "this commit is in progress or half moved; the next writer completes or removes it"
        yield Problem("untidy", f"{dataset}/_staging/{name}", note)
    for table in (*TABLES, RUNS):
        listed_names = {file.name for file_table, file in listed if file_table is table}
        for name in (dataset.location / table.name).listed():
            if name not in listed_names and commit_of(name) not in unfinished:
                path = str(dataset.location / table.name / name)
                yield Problem("untidy", path, "this file is not in the manifest")


def _wrong(path: Location, table: Table, file: File) -> Iterator[Problem]:
    """Yield what is wrong with a file."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        if not path.exists():
            yield Problem("damaged", str(path), "this file is missing")
            return
        path.require_regular()
        size, digest = _digest(path)
        if size != file.size_bytes:
            fault = f"it has {size:,} bytes, the manifest says {file.size_bytes:,}"
            yield Problem("damaged", str(path), fault)
            return
        if file.sha256 and digest != file.sha256:
            yield Problem("damaged", str(path), "its SHA-256 is not that of the manifest")
            return
        with (
            path.filesystem.open_input_file(path.arrow_path) as opened,
            ParquetFile(opened) as parquet,
        ):
            rows = parquet.metadata.num_rows
            if rows != file.rows:
                fault = f"it has {rows:,} rows, the manifest says {file.rows:,}"
                yield Problem("damaged", str(path), fault)
            elif rows and file.name == SCHEMA_FILE:
                yield Problem("damaged", str(path), f"it has {rows:,} rows and should have none")
            if not parquet.schema_arrow.equals(arrow_schema(table)):
                yield Problem("damaged", str(path), f"its columns are not those of {table.name}")
    except (pa.ArrowException, OSError, ValueError, DatasetUnreadable) as error:
        yield Problem("damaged", str(path), " ".join(str(error).split()))


def _digest(location: Location) -> tuple[int, str]:
    """Return the size of a file and the SHA-256 of its contents."""
    digest, size = hashlib.sha256(), 0
    with location.filesystem.open_input_stream(location.arrow_path) as stream:
        while block := stream.read(BLOCK_BYTES):
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()
