"""CRC32C, the checksum of record batches of format 2.

The package ``crc32c`` of the extra ``serve`` computes it: it is a thousand times faster than
Python, and is needed for each batch of a real client.
"""

from collections.abc import Callable
from functools import cache

from emulator.wire.exceptions import LibraryMissing


def crc32c(data: bytes | memoryview) -> int:
    """The CRC32C of ``data``.

    Raises:
        LibraryMissing: the package is not installed.
    """
    return _library()(data)


@cache
def _library() -> Callable[[bytes | memoryview], int]:
    """The package's function, imported when first used: that takes a tenth of a start-up."""
    try:
        from crc32c import crc32c
    except ImportError:
        raise LibraryMissing("checksums of record batches", "crc32c") from None
    return crc32c
