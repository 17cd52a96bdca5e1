"""CRC32C, the checksum of record batches of format 2."""

from collections.abc import Callable
from functools import cache


def crc32c(data: bytes | memoryview) -> int:
    """The CRC32C of ``data``."""
    return _library()(data)


@cache
def _library() -> Callable[[bytes | memoryview], int]:
    """The package's function, imported when first used: that takes a tenth of a start-up."""
    from crc32c import crc32c

    return crc32c
