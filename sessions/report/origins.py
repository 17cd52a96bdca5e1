"""The origin of a number: the command that opens its session at its event."""

import shlex
from typing import Final

from sessions.campaign.manifest import CampaignFolder
from sessions.dataset.layout import Dataset, one_of
from sessions.dataset.location import Location
from sessions.dataset.schema import SESSION, Table
from sessions.dataset.tables import RUNS, SESSIONS
from sessions.format.schema import SUFFIX

AT_START: Final = " --from-start"
"""What a campaign's command says of where to begin; an event takes its place."""
CONSOLE: Final = "tidegauge console"


class Origins:
    """Commands for the sessions of a dataset, which work in any folder of its machine.

    What a campaign ran is run again, by the command in its table of runs. Of any other
    session the dataset knows where the file was that it was exported from; datasets of older
    versions do not, and then it is the file's name alone.
    """

    def __init__(self, dataset: Location) -> None:
        self._dataset = dataset
        self._plan = CampaignFolder(dataset).plan()
        self._origins: dict[str, str] = {}

    def look_up(self, sessions: set[str]) -> None:
        """Find out how these sessions are opened."""
        missing = sorted(sessions - self._origins.keys())
        if not missing:
            return
        runs = self._runs(missing)
        files = self._files([name for name in missing if name not in runs])
        for session in missing:
            file = files.get(session) or session + SUFFIX
            self._origins[session] = runs.get(session) or (
                f"tidegauge replay {shlex.quote(file)} --paused"
            )

    def command(self, session: str, seq: int) -> str:
        """Opens the session at an event, with time held still."""
        return f"{self.openings({session})[session]} --at '#{seq}'"

    def openings(self, sessions: set[str]) -> dict[str, str]:
        """By session the command that opens it; ``--at '#EVENT'`` may follow."""
        self.look_up(sessions)
        return {session: self._origins[session] for session in sorted(sessions)}

    def anywhere(self, command: str) -> str:
        """The campaign's command, with the script's absolute path.

        The recorded command has the path as it was given when the campaign was started.
        """
        if self._plan is None or not self._plan.path:
            return command
        script_command = f"{CONSOLE} {shlex.quote(self._plan.script)} "
        return command.replace(script_command, f"{CONSOLE} {shlex.quote(self._plan.path)} ", 1)

    def _runs(self, sessions: list[str]) -> dict[str, str]:
        """Of those that a campaign ran, the commands."""
        rows = self._rows(RUNS, "command", sessions)
        return {
            session: self.anywhere(command).replace(AT_START, "", 1) for session, command in rows
        }

    def _files(self, sessions: list[str]) -> dict[str, str]:
        """Of those that the dataset knows the file of, its path."""
        return {session: path for session, path in self._rows(SESSIONS, "path", sessions) if path}

    def _rows(self, table: Table, column: str, sessions: list[str]) -> list[tuple[str, str]]:
        """A column of a table for some sessions, as far as the dataset has it."""
        if not sessions or not (self._dataset / table.name).is_folder():
            return []
        rows = Dataset(self._dataset).scan(table, [SESSION, column], one_of(sessions))
        return [(row[SESSION], row[column]) for row in rows.to_pylist()]
