"""Where a dataset or the results of an analysis are: a folder here, or a URI of a file system.

A name that looks like a URI is never a local file; write ``./s3a:x`` for a local one.
"""

import contextlib
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from sessions.file_system import (
    READ_BYTES_MAX,
    delete_tree,
    move,
    open_lock,
    read_regular,
    require_inside,
    require_regular,
    write_file,
)

URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
ARROW_SCHEMES: Final = {"s3a": "s3", "s3n": "s3"}
"""Names of URI schemes that differ between Hadoop and Arrow."""
GCS_RETRY_S: Final = 20
"""How long Google's client retries a request; its own limit of some minutes looks like a hang."""
GLOB: Final = re.compile(r"[][{}*?\\]")
SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
"""Stands for a byte that is no UTF-8."""
NOT_IN_NAMES: Final = re.compile(r"[/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class LocationError(Exception):
    """A location cannot be used; the message is one sentence."""


class Location:
    """A folder or file, on this machine or behind a URI.

    ``path`` is the local path; None if it is not on this machine. What is below a location, by
    ``location / name``, stays below it: it is written and deleted only if no link leads elsewhere.
    """

    def __init__(self, text: "str | Path | Location", *, below: "Location | None" = None) -> None:
        """Take a path, or a URI such as ``s3a://bucket/dataset`` or ``file:///data``.

        Raises:
            LocationError: the URI has no host or path, or an unknown scheme; the name is no UTF-8,
                as neither Arrow nor Spark can have it.
        """
        self._text = str(text)
        if SURROGATE.search(self._text):
            raise LocationError(f"{self._text} has bytes that are no UTF-8; choose another name")
        self._top: Location = below._top if below is not None else self
        self.path: Path | None = None
        if isinstance(text, Location):
            self.path, self._top = text.path, text._top
        elif isinstance(text, Path) or not URI.match(self._text):
            self.path = Path(text)
        elif self._text.startswith("file:"):
            parts = urlsplit(self._text)
            if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
                raise LocationError(f"{self._text} is not the URI of a local file: file:///FOLDER")
            self.path = Path(unquote(parts.path))
        else:
            self._require_whole()

    def _require_whole(self) -> None:
        scheme, _, rest = self._text.partition(":")
        if not rest.startswith("//") or not urlsplit(self._text).netloc:
            raise LocationError(
                f"{self._text} is not a URI: {scheme}://HOST/FOLDER is; write a local folder "
                f"of this name as ./{self._text}"
            )

    def __str__(self) -> str:
        return self._text

    def __truediv__(self, name: str) -> "Location":
        """Return the file or folder of this name.

        Raises:
            LocationError: it is not a plain name, but leads elsewhere.
        """
        if name in ("", ".", "..") or NOT_IN_NAMES.search(name):
            raise LocationError(f"{self} has a file named {name!r}, which is not a plain name")
        if self.path is not None:
            return Location(self.path / name, below=self)
        return Location(f"{self._text.rstrip('/')}/{name}", below=self)

    def _folder(self) -> Path:
        """Return the local folder outside of which nothing is changed."""
        assert self._top.path is not None
        return self._top.path if self._top is not self else self._top.path.parent

    @property
    def name(self) -> str:
        """The last part of the path."""
        if self.path is not None:
            return self.path.resolve().name
        return self._text.rstrip("/").rpartition("/")[2]

    @property
    def for_spark(self) -> str:
        """The URI for writing with Spark."""
        if self.path is None:
            return re.sub("^s3n?:", "s3a:", self._text)
        return f"file://{self.path.absolute()}"

    @property
    def for_spark_to_read(self) -> str:
        """The URI for reading with Spark, with wildcard characters escaped."""
        if self.path is None:
            return self.for_spark
        return "file://" + GLOB.sub(r"\\\g<0>", str(self.path.absolute()))

    @cached_property
    def _arrow(self) -> tuple[Any, str]:
        from pyarrow import ArrowException, fs

        if self.path is not None:
            return fs.LocalFileSystem(), str(self.path.absolute())
        scheme, _, rest = self._text.partition(":")
        if scheme in ("gs", "gcs") and "retry_limit_seconds=" not in rest:
            rest += f"{'&' if '?' in rest else '?'}retry_limit_seconds={GCS_RETRY_S}"
        try:
            resolved: tuple[Any, str] = fs.FileSystem.from_uri(
                f"{ARROW_SCHEMES.get(scheme, scheme)}:{rest}"
            )
        except (ArrowException, OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise LocationError(f"{self._text} cannot be reached: {reason}") from error
        return resolved

    @property
    def filesystem(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """The Arrow file system of this location.

        Raises:
            LocationError: Arrow has none for this scheme, or its library is missing.
        """
        return self._arrow[0]

    @property
    def arrow_path(self) -> str:
        """The path in :attr:`filesystem`."""
        return self._arrow[1].rstrip("/") or "/"

    # ---- files; what goes wrong there is OSError, as for local ones

    def exists(self) -> bool:
        """Return whether a file or folder exists there."""
        if self.path is not None:
            return self.path.exists()
        from pyarrow import fs

        with self._in_one_line():
            exists: bool = self._info().type != fs.FileType.NotFound
        return exists

    def is_folder(self) -> bool:
        """Return whether it is a folder; on an object store, whether there is anything below it."""
        if self.path is not None:
            return self.path.is_dir()
        from pyarrow import fs

        with self._in_one_line():
            is_folder: bool = self._info().type == fs.FileType.Directory
        return is_folder

    def _info(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        return self.filesystem.get_file_info(self.arrow_path)

    def listed(self) -> list[str]:
        """Return the names in the folder, sorted; none if it does not exist."""
        if self.path is not None:
            return sorted(entry.name for entry in self.path.iterdir()) if self.path.is_dir() else []
        from pyarrow import fs

        selector = fs.FileSelector(self.arrow_path, allow_not_found=True)
        with self._in_one_line():
            return sorted(info.base_name for info in self.filesystem.get_file_info(selector))

    def read(self) -> bytes:
        """Return the file's contents."""
        if self.path is not None:
            return read_regular(self.path, READ_BYTES_MAX)
        with self._in_one_line(), self.filesystem.open_input_stream(self.arrow_path) as stream:
            content: bytes = stream.read()
        return content

    def require_regular(self) -> None:
        """Check that this is a file that can be opened without blocking, if it exists here.

        Raises:
            OSError: it is a named pipe, a device or a socket.
        """
        if self.path is not None and self.path.exists():
            require_regular(self.path)

    def write(self, content: bytes, *, durable: bool = True) -> None:
        """Write the file with these contents, atomically; ``durable``: despite a power failure."""
        if self.path is not None:
            write_file(self.path, content, self._folder(), durable=durable)
            return
        with self._in_one_line(), self.filesystem.open_output_stream(self.arrow_path) as stream:
            stream.write(content)

    def create_folder(self) -> None:
        """Create the folder; object stores do not need it."""
        if self.path is not None:
            if self._top is not self:
                # The last part too: what is in a folder is inside only if the folder is.
                require_inside(self.path / "file", self._folder())
            self.path.mkdir(parents=True, exist_ok=True)

    def take(self, file: Path) -> None:
        """Move a local file there."""
        assert self.path is not None
        move(file, self.path, self._folder())

    def open_lock(self) -> int:
        """Return a descriptor of the local lock file, which is created if needed."""
        assert self.path is not None
        return open_lock(self.path, self._folder())

    def upload(self, file: Path) -> None:
        """Copy a local file there."""
        from pyarrow import fs

        with self._in_one_line():
            fs.copy_files(
                str(file), self.arrow_path, fs.LocalFileSystem(), self.filesystem, use_threads=False
            )

    def delete(self) -> None:
        """Delete the file, or the folder with everything in it, if it exists."""
        if self.path is not None:
            delete_tree(self.path, self._folder())
            return
        from pyarrow import fs

        with self._in_one_line():
            kind = self._info().type
            if kind == fs.FileType.Directory:
                self.filesystem.delete_dir(self.arrow_path)
            elif kind == fs.FileType.File:
                self.filesystem.delete_file(self.arrow_path)

    @contextlib.contextmanager
    def _in_one_line(self) -> Iterator[None]:
        """Convert Arrow's errors to one line that names the location."""
        try:
            yield
        except OSError as error:
            if error.strerror:
                raise
            raise OSError(0, " ".join(str(error).split()), self._text) from error
