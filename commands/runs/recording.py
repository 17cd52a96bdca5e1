"""Where a run is recorded: the file that ``--record`` names, and the recorder that writes it."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from commands.exits import CommandError, ExitCode
from commands.language.parser import COMMAND_LINE, NO_PLACE, Script
from emulator.common.version import THIS_PROGRAM
from sessions.file_system import create_private_folder
from sessions.format.metadata import Origin
from sessions.format.schema import SUFFIX
from sessions.recording.recorder import Recorder
from sessions.text import clean

NUMBERS_MAX: Final = 100_000
TEMPORARY_BYTES_MAX: Final = 1 << 30
"""Maximum size of a recording that was not requested."""


def recorder(
    script: Script,
    target: Path | None,
    variables: dict[str, str],
    limit_bytes: int | None = None,
) -> Recorder:
    """Return a recorder for this script's run; without a target it writes a temporary file.

    With ``limit_bytes`` the file stays at about that size: the oldest events are dropped. A
    temporary file always has a limit.

    Raises:
        CommandError: the target already exists, or cannot be written.
    """
    path = None if target is None else session_path(target, stem_of(script.name))
    origin = origin_of(script, path, variables)
    if path is None and limit_bytes is None:
        limit_bytes = TEMPORARY_BYTES_MAX
    return Recorder(path, origin, limit_bytes=limit_bytes)


def origin_of(script: Script, path: Path | None, variables: dict[str, str]) -> Origin:
    """Return the origin that a session in ``path`` stores."""
    spec = script.spec
    return Origin(
        name=clean(stem_of(script.name) if path is None else path.name.removesuffix(SUFFIX)),
        program=THIS_PROGRAM,
        version=spec.version,
        seed=spec.seed,
        cluster=spec,
        began=datetime.now(UTC).isoformat(timespec="seconds"),
        script=clean(script.name),
        variables=variables,
    )


def session_path(target: Path, stem: str) -> Path:
    """Return the file to write: the target itself, or an unused name in the folder that it names.

    Raises:
        CommandError: the file exists, or its folder cannot be written.
    """
    if target.name.endswith(SUFFIX):
        return new_session(target)
    folder = _folder(target)
    names = (stem, *(f"{stem}-{number}" for number in range(2, NUMBERS_MAX)))
    return _writable(
        next(path for name in names if not (path := folder / f"{name}{SUFFIX}").exists())
    )


def new_session(target: Path) -> Path:
    """Return the name of a session file to create.

    Raises:
        CommandError: the name is not valid, the file exists, or its folder cannot be written.
    """
    if not target.name.endswith(SUFFIX):
        message = f"'{target}' is not a name for a session: a session file is named *{SUFFIX}"
        raise CommandError(ExitCode.USAGE, message)
    if target.exists():
        message = f"'{target}' already exists; a recording never overwrites a file"
        raise CommandError(ExitCode.UNREACHABLE, message)
    return _writable(target)


def _writable(target: Path) -> Path:
    """Return the target, if files can be created in its folder."""
    folder = target.parent
    if not folder.is_dir():
        raise CommandError(ExitCode.UNREACHABLE, f"cannot record: there is no folder '{folder}'")
    if not os.access(folder, os.W_OK):
        message = f"cannot record: the folder '{folder}' cannot be written"
        raise CommandError(ExitCode.UNREACHABLE, message)
    return target


def stem_of(script_name: str) -> str:
    """Return a session's name for a script: the file's stem; ``session`` for other texts."""
    is_file = script_name not in ("-", COMMAND_LINE, NO_PLACE)
    return Path(script_name).stem if is_file else "session"


def _folder(target: Path) -> Path:
    """Return the target as a folder, and create it if it does not exist."""
    if target.is_dir():
        return target
    if target.exists() or target.suffix:
        message = f"'{target}' is not a folder, and a session file is named *{SUFFIX}"
        raise CommandError(ExitCode.USAGE, message)
    try:
        create_private_folder(target)
    except OSError as error:
        message = f"cannot create the folder '{target}': {(error.strerror or '').lower()}"
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    return target
