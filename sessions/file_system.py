"""User-supplied files: only regular files are read, with a size limit, and names are durable.

Opening a named pipe waits for a writer, and a device such as ``/dev/zero`` never ends. So a file
given as a session, a script or a configuration is checked before it is opened.
"""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def open_regular(path: Path) -> BinaryIO:
    """Open the file for reading bytes, without ever blocking.

    ``/dev/null`` counts as an empty file.

    Raises:
        OSError: it cannot be opened, or is not a regular file; ``strerror`` says what it is.
    """
    _require_regular(path, path.stat())
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        _require_regular(path, os.fstat(number))
    except OSError:
        os.close(number)
        raise
    return os.fdopen(number, "rb")


def read_regular(path: Path, bytes_max: int) -> bytes:
    """All of a file that has at most ``bytes_max`` bytes.

    Raises:
        OSError: it is larger, cannot be read, or is no regular file.
    """
    with open_regular(path) as file:
        content = file.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise OSError(errno.EFBIG, f"it is larger than {bytes_max:,} bytes", str(path))
    return content


def _require_regular(path: Path, found: os.stat_result) -> None:
    mode = found.st_mode
    if stat.S_ISCHR(mode) and found.st_rdev == Path(os.devnull).stat().st_rdev:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    for is_kind, kind in _KINDS:
        if is_kind(mode):
            raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", str(path))


def sync_folder(folder: Path) -> None:
    """Make the directory entries of a folder durable after creating, renaming or deleting files.

    A file's own fsync does not do that; after a power failure the file could lack its name.

    Raises:
        OSError: the folder cannot be opened or synced.
    """
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
