"""Suggest a similar name for a file that does not exist."""

from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Final

LOOKED_AT_MAX: Final = 10_000
"""Larger folders are not searched."""


def nearest_file(path: Path) -> str:
    """Return ``; did you mean 'a/run.tide'?`` with the most similar name in the folder of ``path``.

    Empty if no name is similar.
    """
    names: list[str] = []
    with suppress(OSError):
        for entry in path.parent.iterdir():
            names.append(entry.name)
            if len(names) > LOOKED_AT_MAX:
                return ""
    similar = get_close_matches(path.name, sorted(names), n=1, cutoff=0.75)
    return f"; did you mean '{path.with_name(similar[0])}'?" if similar else ""
