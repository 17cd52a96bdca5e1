"""Check that Python finds this project's packages, and not others with the same names.

A package on PyPI installs a folder ``console``, and many projects have a folder ``commands`` or
``sessions``. Python imports whichever comes first on its path, and a package installed later
silently overwrites files of the same name.
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
"""The packages beside this one, each with a file that identifies ours."""
MISSING_STATUS: Final = 3
"""The exit status for a missing part of the installation, as in :mod:`commands.exits`."""
HOME: Final = Path(__file__).resolve().parents[1]
"""The folder that contains all of them."""


def require_rooms() -> None:
    """Exit with one sentence if Python finds a different package instead of one of this project."""
    intruders = [sentence for name in ROOMS if (sentence := intruder(name))]
    if intruders:
        sys.stderr.write(f"{intruders[0]}\n")
        sys.exit(MISSING_STATUS)


def intruder(name: str) -> str:
    """Return what is wrong with a package of this project, in a sentence; empty if nothing is."""
    spec = PathFinder.find_spec(name)
    advice = (
        "install tidegauge into an environment of its own (pipx install tidegauge), or run "
        "'python -P -m tidegauge' outside that folder"
    )
    if spec is None:
        return f"tidegauge cannot start: its package '{name}' is missing; {advice}"
    where = next(iter(spec.submodule_search_locations or []), spec.origin or "")
    if Path(where).resolve() != HOME / name or not (HOME / name / ROOMS[name]).is_file():
        return f"tidegauge cannot start: '{where}' is another package named '{name}'; {advice}"
    return ""
