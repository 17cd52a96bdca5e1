"""The sessions that an earlier analysis has not seen, and the commits that contain them.

They are found without Spark, in the table ``sessions`` and in what the analysis noted.
"""

from collections.abc import Collection
from typing import Any, Final

from msgspec import Struct

from sessions.analysis.errors import AnalysisError
from sessions.dataset.layout import FILENAME, Commit, Dataset, commit_of
from sessions.dataset.location import Location, LocationError
from sessions.dataset.schema import SESSION, Table
from sessions.dataset.tables import SESSIONS

IDENTITY: Final = (SESSION, "events", "last_seq", "state_hash")
"""Columns that identify a session as the one that was analysed."""


class AddedSessions(Struct, frozen=True):
    """Some sessions of a dataset, with the commits that contain them.

    ``has_others``: these commits contain other sessions too, as they do after ``dataset compact``.
    """

    sessions: tuple[str, ...]
    commits: tuple[Commit, ...]
    has_others: bool

    def files(self, table: Table) -> list[str]:
        """Return the names of a table's files that may have rows of the sessions."""
        return [file.name for commit in self.commits for file in commit.files.get(table.name, ())]


def sessions_of(dataset: Dataset) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the columns that identify the sessions of a dataset, and each one's file."""
    return dataset.scan(SESSIONS, [*IDENTITY, "seed", FILENAME])


def added_since(dataset: Dataset, sessions: Any, analysed: Location) -> AddedSessions | None:  # noqa: ANN401 - pyarrow has no types
    """Return the sessions that are not among the analysed ones; None if one of these has changed.

    ``sessions`` is from :func:`sessions_of`; ``analysed`` is where :func:`note_sessions` wrote.

    Raises:
        OSError: the note cannot be read. Arrow's errors are among these, or are ValueErrors.
    """
    then = {row[0]: row for row in _analysed(analysed)}
    rows = zip(*(sessions[name].to_pylist() for name in (*IDENTITY, FILENAME)), strict=True)
    now = {row[0]: row for row in rows}
    if any(session not in now or now[session][:-1] != row for session, row in then.items()):
        return None
    added = now.keys() - then.keys()
    return _within(dataset, added, {session: commit_of(row[-1]) for session, row in now.items()})


def _within(dataset: Dataset, added: Collection[str], homes: dict[str, str]) -> AddedSessions:
    ids = {homes[session] for session in added}
    commits = tuple(commit for commit in dataset.commits() if commit.id in ids)
    has_others = any(home in ids for session, home in homes.items() if session not in added)
    return AddedSessions(tuple(sorted(added)), commits, has_others)


def note_sessions(sessions: Any, results: Location) -> None:  # noqa: ANN401 - pyarrow has no types
    """Write the sessions that an analysis has seen, as a table in its results folder.

    Raises:
        AnalysisError: it cannot be written.
    """
    import pyarrow.parquet as pq

    try:
        results.create_folder()
        file = results / "part-0.parquet"
        pq.write_table(sessions.select(IDENTITY), file.arrow_path, filesystem=file.filesystem)
    except (OSError, LocationError) as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise AnalysisError(f"{results} could not be written: {reason}") from error


def _analysed(results: Location) -> list[tuple[Any, ...]]:
    import pyarrow.dataset as pad

    note = pad.dataset(results.arrow_path, format="parquet", filesystem=results.filesystem)
    rows = note.to_table(columns=list(IDENTITY))
    return list(zip(*(rows[name].to_pylist() for name in IDENTITY), strict=True))
