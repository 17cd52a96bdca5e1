"""Where a number comes from: the one command that opens its session at its event."""

import shlex
from pathlib import Path
from typing import Final

from sessions.campaign.manifest import Ledger
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import SESSIONS
from sessions.format.schema import SUFFIX

AT_START: Final = " --from-start"
"""What a campaign's command says of where to begin; an event takes its place."""
CONSOLE: Final = "tidegauge console"


class Origins:
    """Commands for the sessions of a dataset, which work in any folder of its machine.

    What a campaign ran is run again, by the command that stands in its table of runs. Of any other
    session the dataset knows where the file was that it was exported from; datasets of older
    versions do not, and then it is the file's name alone.
    """

    def __init__(self, dataset: Path) -> None:
        self._dataset = dataset
        self._ledger = Ledger(dataset)
        self._plan = self._ledger.plan()
        self._found: dict[str, str] = {}

    def look_up(self, sessions: set[str]) -> None:
        """Find out how these sessions are opened."""
        missing = sorted(sessions - self._found.keys())
        if not missing:
            return
        runs = self._runs(missing)
        files = self._files([name for name in missing if name not in runs])
        for session in missing:
            file = files.get(session) or session + SUFFIX
            self._found[session] = runs.get(session) or (
                f"tidegauge replay {shlex.quote(file)} --paused"
            )

    def command(self, session: str, seq: int) -> str:
        """Opens the session at an event, with time held still."""
        return f"{self.openings({session})[session]} --at '#{seq}'"

    def openings(self, sessions: set[str]) -> dict[str, str]:
        """By session the command that opens it; ``--at '#EVENT'`` may follow."""
        self.look_up(sessions)
        return {session: self._found[session] for session in sorted(sessions)}

    def anywhere(self, command: str) -> str:
        """A command of the campaign, with the script's absolute path.

        The campaign's own names the script as whoever began the campaign did.
        """
        if self._plan is None or not self._plan.path:
            return command
        named = f"{CONSOLE} {shlex.quote(self._plan.script)} "
        return command.replace(named, f"{CONSOLE} {shlex.quote(self._plan.path)} ", 1)

    def _runs(self, sessions: list[str]) -> dict[str, str]:
        """Of those that a campaign ran, the commands."""
        if not self._ledger.complete:
            return {}
        import pyarrow.compute as pc
        import pyarrow.dataset as pad

        runs = pad.dataset(self._ledger.runs, format="parquet")
        wanted = pc.field(SESSION).isin(sessions)
        rows = runs.to_table(columns=[SESSION, "command"], filter=wanted).to_pylist()
        return {
            row[SESSION]: self.anywhere(row["command"]).replace(AT_START, "", 1) for row in rows
        }

    def _files(self, sessions: list[str]) -> dict[str, str]:
        """Of those that the dataset knows the file of, its path."""
        folder = self._dataset / SESSIONS.name
        if not sessions or not folder.is_dir():
            return {}
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.dataset as pad

        session = pa.field(SESSION, pa.string())
        files = pad.dataset(
            folder,
            schema=pa.schema([session, pa.field("path", pa.string())]),
            format="parquet",
            partitioning=pad.partitioning(pa.schema([session]), flavor="hive"),
        )
        rows = files.to_table(filter=pc.field(SESSION).isin(sessions)).to_pylist()
        return {row[SESSION]: row["path"] for row in rows if row["path"] is not None}
