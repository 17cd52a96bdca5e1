"""Export recorded sessions to a dataset, and report progress."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from commands.exits import CommandError, ExitCode
from commands.output import streams
from commands.output.failures import judged
from commands.output.progress import Progress, Tell
from commands.runs.opening import opened
from sessions.format.errors import SessionError, consistent
from sessions.format.file import SessionFile


def export_files(files: Sequence[str], dataset: str, *, replace: bool = False) -> ExitCode:
    """Add sessions to a dataset and narrate each on one line; skip those that cannot be added.

    With ``replace``, other sessions of the same names are replaced. Returns the status of the first
    skipped session; if there is none, whether one is incomplete.
    """
    failed: list[ExitCode] = []
    incomplete = 0
    names = list(dict.fromkeys(files))
    for number, file in enumerate(names, start=1):
        suffix = f" ({number} of {len(names)})" if len(names) > 1 else ""
        try:
            with opened(file) as session:
                streams.narrate(export_file(session, dataset, suffix=suffix, replace=replace))
                incomplete += _is_cut_off(session)
        except (SessionError, CommandError) as error:
            code, message = judged(error)
            failed.append(code)
            streams.narrate(message)
    if failed and len(names) > 1:
        streams.narrate(f"{len(failed)} of {len(names)} files were not exported")
    if failed:
        return failed[0]
    return ExitCode.INCOMPLETE if incomplete else ExitCode.OK


def _is_cut_off(session: SessionFile) -> bool:
    """Return whether a session lacks its end and was not trimmed on purpose; if so, say so."""
    if session.complete or (session.extent.is_trimmed and not session.damage):
        return False
    reason = (
        "it is damaged"
        if session.damage
        else "it is still being recorded, or its recording was killed"
    )
    streams.narrate(f"{session.path} is not complete: {reason}, so it ends at its last event")
    return True


def export_file(
    session: SessionFile,
    dataset: "str | Path",
    tell: Tell | None = None,
    suffix: str = "",
    *,
    replace: bool = False,
) -> str:
    """Add a session to a dataset; returns a line about what was written.

    ``tell`` is told now and then how far that has come, and an empty text at its end; without it
    a bar is drawn. ``suffix`` is what the bar says behind the session's name.

    Raises:
        CommandError: pyarrow is not installed, or the dataset cannot be added to.
        SessionError: the session cannot be read, or its beginning is not in the file.
    """
    from sessions.dataset.export_files import add_session, session_id

    title = f"exporting {session_id(session.path)}{suffix}"
    with (
        dataset_sentences(),
        consistent(session.path),
        Progress(title, "events", session.last_seq, tell=tell) as progress,
    ):
        added = add_session(session, dataset, progress, replace=replace)
    report = added.report
    if report is None:
        return f"{session.path}: in {dataset} already, with its {added.events:,} events"
    rows = sum(report.rows.values())
    return f"{session.path}: {report.events:,} events, {rows:,} rows, {report.size_bytes:,} bytes"


@contextmanager
def dataset_sentences() -> Iterator[None]:
    """Convert a dataset's errors to this program's error messages.

    Raises:
        CommandError: in place of a dataset's error.
    """
    from sessions.dataset.layout import DatasetError, DatasetUnreadable

    try:
        yield
    except DatasetUnreadable as error:
        raise CommandError(ExitCode.BAD_SESSION, str(error)) from None
    except DatasetError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
