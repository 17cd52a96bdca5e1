"""Where a run is recorded: the file that ``--record`` means, and the recorder that writes it."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from commands.exits import CommandError, ExitCode
from commands.parser import Script
from console.formats import clean
from sessions.facts import Origin
from sessions.record import Recorder
from sessions.schema import SUFFIX

NUMBERS_MAX: Final = 100_000


def recorder(script: Script, target: Path | None, variables: dict[str, str]) -> Recorder:
    """A recorder of this script's run; without a target into a file that goes with the process.

    Raises:
        CommandError: the target is there already, or cannot be written.
    """
    path = None if target is None else session_path(target, stem_of(script.name))
    spec = script.spec
    origin = Origin(
        name=clean(stem_of(script.name) if path is None else path.name.removesuffix(SUFFIX)),
        program="tidegauge",
        version=spec.version,
        seed=spec.seed,
        cluster=spec,
        began=datetime.now(UTC).isoformat(timespec="seconds"),
        script=clean(script.name),
        variables=variables,
    )
    return Recorder(path, origin)


def session_path(target: Path, stem: str) -> Path:
    """The file to be written: the target itself, or one with a free name in the folder it names.

    Raises:
        CommandError: the file exists, or its folder cannot be written.
    """
    if target.name.endswith(SUFFIX):
        if target.exists():
            message = f"'{target}' exists already; a recording never overwrites a file"
            raise CommandError(ExitCode.USAGE, message)
        folder = target.parent
    else:
        folder = _folder(target)
        names = (stem, *(f"{stem}-{number}" for number in range(2, NUMBERS_MAX)))
        free = (path for name in names if not (path := folder / f"{name}{SUFFIX}").exists())
        target = next(free)
    if not folder.is_dir():
        raise CommandError(ExitCode.UNREACHABLE, f"cannot record: there is no folder '{folder}'")
    if not os.access(folder, os.W_OK):
        message = f"cannot record: the folder '{folder}' cannot be written"
        raise CommandError(ExitCode.UNREACHABLE, message)
    return target


def stem_of(script_name: str) -> str:
    """A session's name for a script: the file's without its ending; ``session`` for other texts."""
    return Path(script_name).stem if script_name not in ("-", "-c", "") else "session"


def _folder(target: Path) -> Path:
    """The target as a folder, which is made if nothing is there."""
    if target.is_dir():
        return target
    if target.exists() or target.suffix:
        message = f"'{target}' is no folder, and a session file is named *{SUFFIX}"
        raise CommandError(ExitCode.USAGE, message)
    try:
        target.mkdir(parents=True)
    except OSError as error:
        message = f"cannot make the folder '{target}': {(error.strerror or '').lower()}"
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    return target
