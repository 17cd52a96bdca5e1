"""Where a number comes from: the one command that opens its session at its event."""

import shlex
from typing import Final

from sessions.dataset.layout import Dataset, one_of
from sessions.dataset.location import Location
from sessions.dataset.tables import RUNS
from sessions.format.schema import SUFFIX

AT_START: Final = " --from-start"
"""What a campaign's command says of where to begin; an event takes its place."""


class Origins:
    """Commands for the sessions of a dataset.

    What a campaign ran is run again, by the command that stands in its table of runs; of any other
    session the dataset knows the name of the file that it was exported from.
    """

    def __init__(self, dataset: Location) -> None:
        self._place = dataset
        self._found: dict[str, str] = {}

    def look_up(self, sessions: set[str]) -> None:
        """Find out how these sessions are opened; the others are taken for files."""
        missing = sorted(sessions - self._found.keys())
        if not missing or not (self._place / RUNS.name).is_folder():
            return
        rows = Dataset(self._place).scan(RUNS, ["session", "command"], one_of(missing))
        for row in rows.to_pylist():
            self._found[row["session"]] = row["command"]

    def command(self, session: str, seq: int) -> str:
        """Opens the session at an event, with time held still."""
        at = f"--at '#{seq}'"
        rerun = self._found.get(session)
        if rerun is not None:
            return f"{rerun.replace(AT_START, '', 1)} {at}"
        return f"tidegauge replay {shlex.quote(session + SUFFIX)} --paused {at}"
