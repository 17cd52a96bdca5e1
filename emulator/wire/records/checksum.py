"""CRC32C, the checksum of record batches of format 2.

The package ``crc32c`` of the extra ``serve`` computes it: it is a thousand times faster than
Python, and is needed for each batch of a real client.
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
            """Raise an error that names the missing package."""
            raise LibraryMissing("checksums of record batches", "crc32c")


__all__ = ["crc32c"]
