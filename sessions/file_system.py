"""Files: only regular ones are read, and nothing is changed outside of the folder that was named.

Opening a named pipe waits for a writer, and a device such as ``/dev/zero`` never ends. So a file
given as a session, a script or a configuration is checked before it is opened.

What is deleted, replaced or moved in goes through this module: each function is told the folder
that the user named, and proves that the path is inside, with symbolic links resolved.
"""

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

READ_BYTES_MAX: Final = 1 << 26
"""Maximum size of a file that is read at once and was not written by this process."""
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
    require_regular(path)
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        _require(path, os.fstat(number))
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


def require_regular(path: Path) -> None:
    """Check that a file can be opened without blocking.

    Raises:
        OSError: it is no regular file, or there is none.
    """
    _require(path, path.stat())


def _require(path: Path, status: os.stat_result) -> None:
    mode = status.st_mode
    if stat.S_ISCHR(mode) and status.st_rdev == Path(os.devnull).stat().st_rdev:
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


# ---- what is changed


class OutsideError(OSError):
    """Something outside of the folder that was named would have been changed."""

    def __init__(self, path: Path, folder: Path) -> None:
        super().__init__(errno.EPERM, f"it is outside of {folder}", str(path))


def require_inside(path: Path, folder: Path) -> Path:
    """Return the real path of something below a folder; its last part may be a link itself.

    Raises:
        OutsideError: it is the folder or outside of it, once symbolic links are resolved.
        OSError: symbolic links refer to each other.
    """
    try:
        real = path.parent.resolve() / path.name
    except RuntimeError:  # until Python 3.13, for links that refer to each other
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None
    if path.name in ("", "..") or not real.parent.is_relative_to(folder.resolve()):
        raise OutsideError(path, folder)
    return real


def resolve_inside(name: str, folder: Path) -> Path:
    """Return the real path of a name below a folder, to be read or created.

    Raises:
        OutsideError: it is the folder or outside of it, once all symbolic links are resolved.
        OSError: it is not a name for a file, or its links go round in circles.
    """
    try:
        real = (folder / name).resolve()
    except (ValueError, RuntimeError) as error:  # a null byte; links in a circle, up to 3.12
        raise OSError(errno.EINVAL, "it is not a name for a file", name) from error
    root = folder.resolve()
    if real == root or not real.is_relative_to(root):
        raise OutsideError(Path(name), folder)
    return real


def delete_file(path: Path, inside: Path) -> None:
    """Delete a file or a link below a folder, if it exists; what the link refers to stays.

    Raises:
        OutsideError: it is not below the folder.
        OSError: it cannot be deleted.
    """
    require_inside(path, inside).unlink(missing_ok=True)


def delete_tree(path: Path, inside: Path) -> None:
    """Delete a folder with everything in it, or a file or a link, below a folder, if it exists.

    Raises:
        OutsideError: it is not below the folder.
        OSError: it cannot be deleted.
    """
    real = require_inside(path, inside)
    if real.is_symlink() or not real.is_dir():
        real.unlink(missing_ok=True)
    else:
        shutil.rmtree(real)  # follows no links


def write_file(path: Path, content: bytes, inside: Path, *, durable: bool = True) -> None:
    """Write a file below a folder atomically; with ``durable`` it survives a power failure.

    Raises:
        OutsideError: it is not below the folder.
        OSError: it cannot be written.
    """
    real = require_inside(path, inside)
    scratch = real.with_name(f".{real.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with scratch.open("xb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        scratch.replace(real)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def move(path: Path, target: Path, inside: Path) -> None:
    """Move a file to a place below a folder, over what is there.

    Raises:
        OutsideError: the target is not below the folder.
        OSError: it cannot be moved.
    """
    path.rename(require_inside(target, inside))


def open_lock(path: Path, inside: Path) -> int:
    """Return a descriptor of a lock file below a folder, which is created if needed.

    Raises:
        OutsideError: it is not below the folder.
        OSError: it cannot be created, or is a link.
    """
    real = require_inside(path, inside)
    return os.open(real, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


def create_private_folder(folder: Path) -> None:
    """Create a folder that only its owner can enter, with its parents; existing ones stay.

    Raises:
        OSError: it cannot be created.
    """
    for path in (*reversed(folder.parents), folder):
        with contextlib.suppress(FileExistsError):
            path.mkdir(PRIVATE_FOLDER)


PRIVATE_FOLDER: Final = 0o700
