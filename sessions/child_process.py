"""Start Python child processes with this one's import path, without the current folder.

By default Python puts the current folder first for ``-m`` and ``-c``. Then a ``sessions.py`` or a
``pyspark.py`` that happens to be in the user's current folder would be run instead.
"""

import os
import sys
from pathlib import Path
from typing import Final

SAFE_PATH: Final = "PYTHONSAFEPATH"
"""The environment variable by which Python does as with its option ``-P``, for further children."""
ROOT: Final = Path(__file__).parent.parent
"""The folder that contains the program's packages."""


def python_command(*arguments: str) -> list[str]:
    """A command that runs Python with these arguments; give it :func:`environment`."""
    return [sys.executable, "-P", *arguments]


def environment() -> dict[str, str]:
    """This process's environment, with its import path but for the current folder."""
    path = os.pathsep.join(import_path())
    return {**os.environ, "PYTHONPATH": path, SAFE_PATH: "1"}


def import_path() -> list[str]:
    """Where this process imports from, in order, without the current folder.

    The current folder stays where it is the one that the program itself is in.
    """
    here = Path.cwd()
    return [
        folder
        for folder in sys.path
        if Path(folder).is_absolute() and _is_meant(Path(folder), here)
    ]


def _is_meant(entry: Path, here: Path) -> bool:
    return entry == ROOT or entry.resolve() != here
