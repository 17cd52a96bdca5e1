"""A session of zkCli on an emulated cluster: commands in, what zkCli prints out.

A line is a command of zkCli, or else a statement of the command language, by which time passes and
things happen: ``wait 5s``, ``broker crash 1``. Between two lines the cluster goes on for a second,
as if somebody had typed them.
"""

from typing import Final

from commands.exits import CommandError, ExitCode
from commands.language.completion import complete_line
from commands.language.parser import Script, ScriptError, ShowStatement, parse_line
from commands.runs.driver import Pace
from commands.runs.narration import outcome_text
from commands.runs.script_runner import ScriptRunner
from sessions.model.cluster_view import ClusterView

COMMANDS: Final = {
    "ls": "[-R] path",
    "get": "[-s] path",
    "stat": "path",
    "create": "[-e] [-s] path [data]",
    "set": "[-v version] path data",
    "delete": "[-v version] path",
    "history": "",
    "redo": "cmdno",
    "help": "",
    "quit": "",
}
"""zkCli's commands that there are here, with what may follow them."""
OF_ZOOKEEPER: Final = ("ls", "get", "stat", "create", "set", "delete")
WITH_DATES: Final = ("get", "stat")
HISTORY_SHOWN: Final = 11
"""How many commands ``history`` prints, the latest included (``ZooKeeperMain``)."""
SERVER: Final = "localhost:2181"
BETWEEN_LINES: Final = "wait 1s"


class ZkShell:
    """One session. ``history`` has all its lines, by the numbers in its prompts."""

    def __init__(self, script: Script, zone: str = "") -> None:
        """Create the cluster and run its script; ``zone`` is the time zone of dates (empty: UTC).

        Raises:
            CommandError: the cluster's configuration is not valid, or it has no ZooKeeper.
        """
        self.runner = ScriptRunner(script, Pace(), view=ClusterView(), keeps_events=True)
        if self.runner.cluster.state.kraft is not None:
            raise CommandError(
                ExitCode.USAGE,
                "In KRaft mode there is no ZooKeeper; 'show metadata /topics' prints the metadata",
            )
        self.history: list[str] = []
        self._zone = zone

    def begin(self) -> None:
        self.runner.run(lambda _step, _outcome: None)

    @property
    def prompt(self) -> str:
        """The prompt that zkCli prints."""
        return f"[zk: {SERVER}(CONNECTED) {len(self.history)}] "

    def run(self, line: str) -> str:
        """Execute one line and return what it prints, empty or with its line ends.

        Raises:
            EOFError: the line was ``quit``.
        """
        line = line.strip()
        if not line:
            return ""
        if self.history:
            self._perform(BETWEEN_LINES)
        self.history.append(line)
        return self._run(line)

    def complete(self, text: str) -> list[str]:
        """Return the lines that may come of what has been typed, best first."""
        first, space, _ = text.partition(" ")
        if not space:
            commands = [f"{name} " for name in COMMANDS if name.startswith(first)]
            return commands + complete_line(text, self.runner.view)
        if first in OF_ZOOKEEPER:
            lines = complete_line(f"zk {text}", self.runner.view)
            return [line.removeprefix("zk ") for line in lines]
        return complete_line(text, self.runner.view)

    def _run(self, line: str) -> str:
        name, *words = line.split(maxsplit=1)
        match name:
            case "quit":
                raise EOFError
            case "help":
                return "".join(
                    f"\t{name} {words}".rstrip() + "\n" for name, words in COMMANDS.items()
                )
            case "history":
                first = max(0, len(self.history) - HISTORY_SHOWN)
                lines = list(enumerate(self.history))[first:]
                return "".join(f"{number} - {line}\n" for number, line in lines)
            case "redo":
                return self._redo(words[0] if words else "")
        if name not in OF_ZOOKEEPER:
            return self._perform(line)
        zone = ("--tz", self._zone) if self._zone and name in WITH_DATES else ()
        return self._perform(" ".join(("zk", name, *zone, *words)))

    def _redo(self, number: str) -> str:
        earlier_lines = self.history[:-1]
        if not number.isdecimal() or int(number) >= len(earlier_lines):
            return "Command index out of range\n"
        self.history[-1] = earlier_lines[int(number)]
        return self._run(self.history[-1])

    def _perform(self, line: str) -> str:
        try:
            steps = parse_line(line)
        except ScriptError as error:
            return "".join(f"{problem}\n" for problem in error.problems)
        printed = ""
        with self.runner.driver:
            for step in steps:
                before = len(self.runner.outputs)
                outcome = self.runner.perform(step)
                outputs = self.runner.outputs[before:]
                printed += "".join(_ended(output.text) for output in outputs)
                if not outputs and not isinstance(step, ShowStatement):
                    printed += f"{outcome_text(outcome)}\n"
        return printed


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
