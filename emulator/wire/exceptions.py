"""Exceptions of encoding and decoding.

::

    WireError
     ├─ MalformedFrame            the bytes are not a message; a broker closes the connection
     │   ├─ TrailingBytes         a response ends before the frame does
     │   └─ UnknownApiKey         no API has that key
     ├─ UnsupportedVersion        the API has no such version; only ApiVersions gets a response
     ├─ UnwritableMessage         a message that its API version cannot represent
     ├─ CorruptRecords            records whose length, magic byte, checksum or encoding is wrong
     ├─ InvalidRecords            valid records that a broker rejects from a producer
     ├─ UnsupportedCompression    a codec that the requested format does not support
     └─ LibraryMissing            the extra ``serve`` is not installed
"""

from emulator.common.extras import missing_extra
from emulator.wire.header import RequestHeader


class WireError(Exception):
    """Base class of all exceptions of encoding and decoding."""


class MalformedFrame(WireError):
    """The bytes are not a message of the API and version in their header."""


class TrailingBytes(MalformedFrame):
    """Bytes are left over after a complete response."""


class UnknownApiKey(MalformedFrame):
    """A request for an unknown API; ``api_key`` is its key."""

    def __init__(self, api_key: int) -> None:
        super().__init__(f"no API has the key {api_key}")
        self.api_key = api_key


class UnsupportedVersion(WireError):
    """The API has no such version.

    An ApiVersions request is answered in version 0, with the error UNSUPPORTED_VERSION and the
    supported versions (KIP-35, KIP-511); for other APIs the connection is closed.
    """

    def __init__(self, header: RequestHeader, name: str, versions: range) -> None:
        known = f"{versions.start} to {versions.stop - 1}"
        super().__init__(f"{name} {header.api_version} is not known; its versions are {known}")
        self.header = header


class UnwritableMessage(WireError):
    """A message with a value that the version of its API cannot represent."""


class CorruptRecords(WireError):
    """Undecodable records; a broker returns CORRUPT_MESSAGE."""


class InvalidRecords(WireError):
    """Valid records that may not be appended; INVALID_RECORD (KIP-467)."""


class UnsupportedCompression(WireError):
    """A codec not supported by the format; UNSUPPORTED_COMPRESSION_TYPE."""


class LibraryMissing(WireError):
    """A package of the extra ``serve`` is not installed."""

    def __init__(self, purpose: str, package: str) -> None:
        super().__init__(missing_extra(purpose, package, "serve"))
