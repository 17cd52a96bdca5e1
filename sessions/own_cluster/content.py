"""The content of a source: its beginning to recognize it by, then everything, with bounds.

Files may be huge or hostile, so nothing is read without a limit: text line by line, JSON up to a
size. Content compressed with zstd or gzip is decompressed on the way.
"""

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, TypeVar, cast

import zstandard

from sessions.decoding import DecodingError, decode_json
from sessions.file_system import open_regular
from sessions.own_cluster.reading import FormatError, SourceError
from sessions.text import clean

HEAD_BYTES: Final = 1 << 16
"""How much of a source is looked at to recognize its format."""
LINE_BYTES_MAX: Final = 1 << 20
"""Maximum length of a line of text: the configurations of one topic take a thousandth of it."""
WHOLE_BYTES_MAX: Final = 1 << 28
"""Maximum size of content that is read at once, such as JSON."""
PACKED_BYTES: Final = 32
"""How much is decompressed at once: four bytes of zstd are at most 128 KiB."""
JSON_MEMORY_MAX: Final = 1 << 31
"""Maximum memory that the values of a JSON text may take: a fifth of it suffices for 100,000
partitions."""
Value = TypeVar("Value")
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_GZIP: Final = b"\x1f\x8b"
_UTF8_BOM: Final = b"\xef\xbb\xbf"
_UTF16_BOMS: Final = (b"\xff\xfe", b"\xfe\xff")
DAMAGED: Final = (zstandard.ZstdError, gzip.BadGzipFile, zlib.error, EOFError)
"""What decompressing raises, whatever the bytes are."""


class Content:
    """The content of one source.

    ``name`` is how the user calls it, ``path`` where it is if it is a file, ``head`` its first
    bytes. Everything is read once, from the beginning.
    """

    def __init__(self, name: str, file: IO[bytes], path: Path | None = None) -> None:
        self.name = name
        self.path = path
        self._source = file
        self._file = _decompressed(io.BufferedReader(cast(Any, file), HEAD_BYTES))
        try:
            self.head = self._file.peek(HEAD_BYTES)[:HEAD_BYTES]
        except DAMAGED as error:
            raise SourceError(f"{clean(name)} is damaged: {error}") from error

    @property
    def text_head(self) -> str:
        """The beginning as text, whatever it is."""
        return self.head.decode(_encoding(self.head), "replace")

    def read(self, size: int) -> bytes:
        """Return up to so many bytes; fewer only at the end."""
        try:
            return self._file.read(size)
        except DAMAGED as error:
            raise FormatError(f"is damaged: {error}") from error

    def whole(self) -> bytes:
        """Return everything, as UTF-8 if it is UTF-16.

        Raises:
            FormatError: it is larger than can be read at once.
        """
        blocks, size = [], 0
        while block := self.read(LINE_BYTES_MAX):
            blocks.append(block)
            size += len(block)
            if size > WHOLE_BYTES_MAX:
                limit = f"{WHOLE_BYTES_MAX >> 20} MiB"
                raise FormatError(f"is larger than {limit}, and cannot be read at once")
        data = b"".join(blocks)
        if data.startswith(_UTF16_BOMS):
            return data.decode("utf-16", "replace").encode()
        return data.removeprefix(_UTF8_BOM)

    def json(self, kind: type[Value]) -> Value:
        """Return everything as a value of JSON.

        Raises:
            FormatError: it is not JSON, not of this type, or too large.
        """
        return json_of(self.whole(), kind)

    def lines(self) -> Iterator[str]:
        """Yield the lines of a text, without their ends.

        Raises:
            FormatError: a line is too long for a text, or has NUL bytes, which a copy has where it
                was not written completely.
        """
        text = io.TextIOWrapper(self._file, _encoding(self.head), "replace", newline=None)
        number = 0
        try:
            while line := text.readline(LINE_BYTES_MAX):
                number += 1
                if "\0" in line:
                    raise FormatError(f"is damaged: line {number} has NUL bytes")
                if len(line) == LINE_BYTES_MAX:
                    raise FormatError(f"has a line {number} of over {LINE_BYTES_MAX:,} characters")
                yield line.rstrip("\n")
        except DAMAGED as error:
            raise FormatError(f"is damaged after line {number}: {error}") from error
        finally:
            text.detach()

    def close(self) -> None:
        self._file.close()
        self._source.close()

    def __enter__(self) -> "Content":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_content(path: Path, name: str) -> Content:
    """Open a file.

    Raises:
        SourceError: it is no regular file, cannot be opened, or is compressed and damaged.
    """
    try:
        file = open_regular(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"{clean(name)} cannot be read: {reason}") from error
    try:
        return Content(name, file, path)
    except SourceError:
        file.close()
        raise


def json_of(text: bytes, kind: type[Value]) -> Value:
    """Return the value of a JSON text.

    Raises:
        FormatError: it is not JSON, not of this type, or too large.
    """
    try:
        return decode_json(text, kind, JSON_MEMORY_MAX)
    except DecodingError as error:
        raise FormatError(f"cannot be read as JSON: {error}") from error


def _decompressed(file: io.BufferedReader) -> io.BufferedReader:
    start = file.peek(len(_ZSTD))
    if start.startswith(_ZSTD):
        return io.BufferedReader(_Frames(file), HEAD_BYTES)
    if start.startswith(_GZIP):
        return io.BufferedReader(cast(Any, gzip.GzipFile(fileobj=file)), HEAD_BYTES)
    return file


class _Frames(io.RawIOBase):
    """The content of zstd frames; a truncated frame is damage, not an end."""

    def __init__(self, file: io.BufferedReader) -> None:
        super().__init__()
        self._file = file
        self._packed = b""
        self._ready = memoryview(b"")
        self._frame: zstandard.ZstdDecompressionObj | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - anything that can be written to
        while not self._ready:
            packed = self._packed or self._file.read(PACKED_BYTES)
            if not packed:
                if self._frame is not None:
                    raise EOFError("it is cut off")
                return 0
            frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
            self._ready = memoryview(frame.decompress(packed))
            self._packed = frame.unused_data
            self._frame = None if frame.eof else frame
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


def _encoding(head: bytes) -> str:
    """PowerShell writes UTF-16 with a byte order mark when it redirects a tool's output."""
    return "utf-16" if head.startswith(_UTF16_BOMS) else "utf-8-sig"
