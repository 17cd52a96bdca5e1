"""Files of cluster images: ``*.cluster.json``, or ``*.cluster.json.zst`` compressed with zstd."""

from pathlib import Path
from typing import Final

import zstandard

from emulator.cluster_image.document import encode
from emulator.cluster_image.image import ClusterImage
from sessions.file_system import write_file

SUFFIX: Final = ".cluster.json"
COMPRESSED: Final = ".zst"
LEVEL: Final = 9


def write_image(image: ClusterImage, path: Path) -> None:
    """Write an image; the file appears complete or not at all, and replaces an existing one.

    The same image gives the same bytes.

    Raises:
        OSError: it cannot be written.
    """
    document = encode(image)
    if path.name.endswith(COMPRESSED):
        document = zstandard.ZstdCompressor(level=LEVEL).compress(document)
    write_file(path, document, path.parent)
