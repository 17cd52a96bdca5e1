"""Maintain a dataset from the terminal."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from commands.exits import CommandError, ExitCode
from commands.output import streams
from commands.output.grids import Cell, Grid
from commands.output.progress import Progress
from commands.runs.export import dataset_sentences

if TYPE_CHECKING:
    from sessions.dataset.layout import Dataset
    from sessions.dataset.maintenance import DatasetInfo
    from sessions.dataset.verify import Verification

HEADERS: Final = ("TABLE", "ROWS", "FILES", "BYTES")


@contextmanager
def _existing(location: str) -> "Iterator[Dataset]":
    """Open an existing dataset.

    Raises:
        CommandError: there is none, or it causes an error in the block.
    """
    from sessions.dataset.layout import Dataset

    with dataset_sentences():
        dataset = Dataset(location)
        if not dataset.exists:
            raise CommandError(ExitCode.UNREACHABLE, f"there is no dataset at {location}")
        yield dataset


def info(location: str) -> "DatasetInfo":
    """Return the contents of a dataset."""
    from sessions.dataset import maintenance

    with _existing(location) as dataset:
        return maintenance.info(dataset)


def tables(contents: "DatasetInfo") -> list[Grid]:
    """Return the same as tables."""
    summary: list[tuple[Cell, ...]] = [
        (contents.sessions, contents.events, contents.files, contents.size_bytes, contents.layout)
    ]
    rows: list[tuple[Cell, ...]] = [
        (table.table, table.rows, table.files, table.size_bytes)
        for table in contents.tables
        if table.files
    ]
    more = f" ({contents.small} small commits: 'tidegauge dataset compact' merges them)"
    return [
        Grid(
            f"dataset {contents.dataset}",
            ("SESSIONS", "EVENTS", "FILES", "BYTES", "LAYOUT"),
            summary,
        ),
        Grid("tables" + (more if contents.small > 1 else ""), HEADERS, rows),
    ]


def plain(result: "DatasetInfo | Verification") -> dict[str, Any]:
    """Return the same as one object."""
    fields: dict[str, Any] = msgspec.to_builtins(result)
    return fields


def verify(location: str) -> "Verification":
    """Verify a dataset, and tell progress by files."""
    from sessions.dataset import verify as work

    with _existing(location) as dataset:
        files = sum(len(paths) for entry in dataset.entries() for paths in entry.files.values())
        with Progress(f"verifying {location}", "files", max(1, files)) as progress:
            return work.verify(dataset, progress)


def verified(verification: "Verification") -> list[Grid]:
    """Return what was found as tables."""
    summary: list[tuple[Cell, ...]] = [
        (
            verification.sessions,
            verification.commits,
            verification.files,
            verification.rows,
            verification.size_bytes,
        )
    ]
    rows: list[tuple[Cell, ...]] = [
        (problem.kind, problem.place, problem.problem) for problem in verification.problems
    ]
    less = (
        f", {verification.without_digest:,} files without a digest"
        if verification.without_digest
        else ""
    )
    grids = [
        Grid(
            f"dataset {verification.dataset}{less}",
            ("SESSIONS", "COMMITS", "FILES", "ROWS", "BYTES"),
            summary,
        )
    ]
    if rows:
        grids.append(Grid("problems", ("KIND", "PLACE", "PROBLEM"), rows))
    return grids


def end(verification: "Verification") -> None:
    """Exit with the status of a verification unless nothing is wrong."""
    import typer

    if verification.problems:
        raise typer.Exit(ExitCode.BAD_SESSION if verification.damaged else ExitCode.FAILED)


def compact(location: str) -> None:
    """Merge small commits, and print the resulting number of files."""
    from sessions.dataset import maintenance

    with _existing(location) as dataset:
        before = maintenance.info(dataset)
        rows = sum(table.rows for table in before.tables)
        with Progress(f"compacting {location}", "rows", max(1, rows)) as progress:
            merged = maintenance.compact(dataset, progress)
        after = maintenance.info(dataset)
    if not merged:
        streams.narrate(f"{location}: nothing to merge")
        return
    streams.narrate(
        f"{location}: {merged:,} commits merged; {before.files:,} files were {before.size_bytes:,} "
        f"bytes, {after.files:,} are {after.size_bytes:,}"
    )


def remove(location: str, sessions: Sequence[str]) -> None:
    """Remove sessions from a dataset."""
    from sessions.dataset import maintenance

    with _existing(location) as dataset:
        maintenance.remove(dataset, list(dict.fromkeys(sessions)))
    for session in dict.fromkeys(sessions):
        streams.narrate(f"removed: {session}")


def export(location: str, format_: str, out: Path, *, replace: bool) -> None:
    """Write the tables of a dataset in another format, and tell progress by rows."""
    from sessions.dataset import maintenance, table_formats

    with _existing(location) as dataset:
        rows = sum(table.rows for table in maintenance.info(dataset).tables)
        with Progress(f"exporting {location}", "rows", max(1, rows)) as progress:
            exported = table_formats.export_tables(dataset, format_, out, progress, replace=replace)
    streams.narrate(f"{out}: {exported.tables} tables of {format_} with {exported.rows:,} rows")


def convert(location: str, out: str) -> None:
    """Write a dataset of the current layout."""
    from sessions.dataset import maintenance
    from sessions.dataset.location import Location, LocationError

    try:
        old, new = Location(location), Location(out)
    except LocationError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    with dataset_sentences():
        converted = maintenance.convert(old, new)
    streams.narrate(f"{out}: {len(converted):,} sessions of {location}")
