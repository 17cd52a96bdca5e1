"""CRC32C, the checksum of record batches of format 2.

It comes from the package ``crc32c``, which the extra ``serve`` brings: a thousand times faster
than Python, and needed for each batch that a real client sends.
"""

from typing import TYPE_CHECKING

from emulator.wire.exceptions import LibraryMissing

if TYPE_CHECKING:
    from crc32c import crc32c
else:
    try:
        from crc32c import crc32c
    except ImportError:

        def crc32c(data: bytes) -> int:
            """Say what is missing."""
            raise LibraryMissing("checksums of record batches", "crc32c")


__all__ = ["crc32c"]
