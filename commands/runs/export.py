"""Handing recorded sessions on to a dataset, and telling how far that has come."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from commands.cli.opening import opened
from commands.exits import CommandError, ExitCode
from commands.output import streams
from commands.output.failures import judged
from commands.output.progress import Progress, Tell
from sessions.format.errors import SessionError
from sessions.format.file import SessionFile


def export_files(files: Sequence[str], dataset: str, *, replace: bool = False) -> ExitCode:
    """Add sessions to a dataset, a line of narration for each; those that cannot be are left out.

    With ``replace``, other sessions of their names give way. Returns the status of the first that
    was left out.
    """
    failed: list[ExitCode] = []
    names = list(dict.fromkeys(files))
    for number, file in enumerate(names, start=1):
        place = f" ({number} of {len(names)})" if len(names) > 1 else ""
        try:
            with opened(file) as session:
                streams.narrate(export_file(session, dataset, place=place, replace=replace))
        except (SessionError, CommandError) as error:
            code, message = judged(error)
            failed.append(code)
            streams.narrate(message)
    if failed and len(names) > 1:
        streams.narrate(f"{len(failed)} of {len(names)} files were not exported")
    return failed[0] if failed else ExitCode.OK


def export_file(
    session: SessionFile,
    dataset: "str | Path",
    tell: Tell | None = None,
    place: str = "",
    *,
    replace: bool = False,
) -> str:
    """Add a session to a dataset; returns a line about what was written.

    ``tell`` is told now and then how far that has come, and an empty text at its end; without it
    a bar is drawn. ``place`` is what the bar says behind the session's name.

    Raises:
        CommandError: pyarrow is not installed, or the dataset cannot be added to.
        SessionError: the session cannot be read, or its beginning is not in the file.
    """
    from sessions.dataset.export_files import add_session, session_id

    what = f"exporting {session_id(session.path)}{place}"
    with dataset_sentences(), Progress(what, "events", session.last_seq, tell=tell) as progress:
        added = add_session(session, dataset, progress, replace=replace)
    done = added.report
    if done is None:
        return f"{session.path}: in {dataset} already, with its {added.events:,} events"
    rows = sum(done.rows.values())
    return f"{session.path}: {done.events:,} events, {rows:,} rows, {done.size_bytes:,} bytes"


@contextmanager
def dataset_sentences() -> Iterator[None]:
    """What is wrong with a dataset, as this program says it.

    Raises:
        CommandError: of what a dataset raises.
    """
    from sessions.dataset.layout import DatasetError, DatasetUnreadable

    try:
        yield
    except DatasetUnreadable as error:
        raise CommandError(ExitCode.BAD_SESSION, str(error)) from None
    except DatasetError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
