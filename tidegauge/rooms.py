"""Whether Python finds this project's packages, and not others that have the same names.

PyPI has a package that installs a folder ``console``, and many projects have a folder ``commands``
or ``sessions``. Whichever comes first on Python's path is imported, and a package that is installed
later overwrites files of the same name without a word.
"""

import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

ROOMS: Final = {
    "commands": "cli/main.py",
    "console": "app.py",
    "emulator": "cluster.py",
    "sessions": "text.py",
}
"""The packages beside this one, each with a file that tells ours from others."""
MISSING_STATUS: Final = 3
"""The exit status where a part of the installation is missing, as in :mod:`commands.exits`."""
HOME: Final = Path(__file__).resolve().parents[1]
"""The folder in which all of them lie."""


def require_rooms() -> None:
    """End the process with one sentence if a package of this project is not the one found."""
    intruders = [sentence for name in ROOMS if (sentence := intruder(name))]
    if intruders:
        sys.stderr.write(f"{intruders[0]}\n")
        sys.exit(MISSING_STATUS)


def intruder(name: str) -> str:
    """What is wrong with a package of this project, in a sentence; empty if nothing is."""
    found = PathFinder.find_spec(name)
    advice = (
        "install tidegauge into an environment of its own (pipx install tidegauge), or run "
        "'python -P -m tidegauge' outside that folder"
    )
    if found is None:
        return f"tidegauge cannot start: its package '{name}' is missing; {advice}"
    where = next(iter(found.submodule_search_locations or []), found.origin or "")
    if Path(where).resolve() != HOME / name or not (HOME / name / ROOMS[name]).is_file():
        return f"tidegauge cannot start: '{where}' is another package named '{name}'; {advice}"
    return ""
