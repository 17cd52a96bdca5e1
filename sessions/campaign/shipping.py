"""The code as one file that Spark sends to its workers, which need no installed tidegauge.

They do need a Python of the same minor version with msgspec, PyArrow and zstandard.
"""

import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Final

PACKAGES: Final = ("emulator", "sessions")
"""The packages that a run needs: workers pass statements to clusters, without a command line."""
NEEDED: Final = "a Python of the same version as here, with msgspec, pyarrow and zstandard"
ROOT: Final = Path(__file__).parent.parent.parent
STAMP: Final = (2020, 1, 1, 0, 0, 0)
"""The modification time of all files in it, so that the same code gives the same file."""


def packages_zip(folder: Path) -> Path:
    """Write the file, named after its contents, into ``folder``."""
    sources = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]
    contents = {str(path.relative_to(ROOT)): path.read_bytes() for path in sources}
    digest = sha256(b"".join(contents.values())).hexdigest()[:12]
    path = folder / f"tidegauge-{digest}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name, STAMP), content)
    return path
