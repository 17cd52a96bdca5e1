"""The ``tidegauge`` program: its commands and its error handling.

A command returns an exit status (None means 0) or raises; every error is reported as one sentence
on standard error and a status of :class:`commands.exits.ExitCode`, never as a traceback. Expensive
modules are imported only when a command needs them.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Final

import typer
from typer.main import get_command

from commands.cli.examples import examples
from commands.exits import CommandError, ExitCode
from commands.language.usage import Command, explained
from commands.output import streams
from commands.output.failures import TRACEBACK, judged
from emulator.common.version import THIS_PROGRAM
from sessions.garbage_collection import collect_no_more, collect_seldom

NAME = "tidegauge"
COMPLETION = "_TIDEGAUGE_COMPLETE"
"""Environment variable that shells set to request completions (named by typer's convention)."""
PARTS: Final[Mapping[str, Sequence[str]]] = {
    "commands.cli.run": ("run",),
    "commands.cli.console": ("console", "replay"),
    "commands.cli.serve": ("serve",),
    "commands.cli.conform": ("conform",),
    "commands.cli.sessions": ("sessions",),
    "commands.cli.import_cluster": ("import",),
    "commands.cli.rehearse": ("rehearse",),
    "commands.cli.postmortem": ("postmortem",),
    "commands.cli.matrix": ("matrix",),
    "commands.cli.explore": ("explore",),
    "commands.cli.scenarios": ("scenarios",),
    "commands.cli.campaign": ("campaign",),
    "commands.cli.dataset": ("dataset",),
    "commands.cli.analyze": ("analyze",),
    "commands.cli.settings": ("config",),
    "commands.cli.web": ("web",),
    "commands.cli.mcp": ("mcp",),
    "commands.cli.zk": ("zk",),
    "commands.cli.lookup": ("versions", "keys", "statements"),
}
"""The modules of the commands, in the order of ``--help``, and the commands of each.

A command is run without importing the others, which would add a fifth to the time to start.
"""


def main() -> None:
    """Run the program with the shell's arguments, then exit the process."""
    collect_seldom()
    if COMPLETION in os.environ:
        app_of(PARTS)(prog_name=NAME)  # a shell asks what may stand at its cursor
    status = run_program(sys.argv[1:])
    collect_no_more()
    sys.exit(status)


def run_program(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    streams.prepare()
    try:
        status = _invoke(list(arguments) or ["--help"])
        streams.finish()
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        status, message = judged(error)
        streams.narrate(message)
    except KeyboardInterrupt:
        status = ExitCode.INTERRUPTED
        streams.narrate("interrupted")
    streams.finish()
    return int(status)


def _invoke(arguments: list[str]) -> int:
    own = [module for module, names in PARTS.items() if arguments[0] in names]
    command = get_command(app_of(own or PARTS))
    try:
        with command.make_context(NAME, arguments) as context:
            return int(command.invoke(context) or ExitCode.OK)
    except typer.Exit as ended:
        return ended.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except typer.TyperException as error:
        at, name = _named(command, arguments)
        raise CommandError(ExitCode.USAGE, explained(error, at, name)) from None


def _named(command: Command, arguments: list[str]) -> tuple[Command, str]:
    """Return the command that the arguments name, as far as they name one, and its full name."""
    name = NAME
    for word in arguments:
        subcommand = getattr(command, "commands", {}).get(word)
        if subcommand is None:
            break
        command, name = subcommand, f"{name} {word}"
    return command, name


def _version(is_asked: bool) -> None:
    if is_asked:
        streams.emit(f"{THIS_PROGRAM}\n")
        raise typer.Exit


def app_of(parts: Iterable[str]) -> typer.Typer:
    """The program with the commands of some of the modules in :data:`PARTS`."""
    app = typer.Typer(
        name=NAME,
        rich_markup_mode=None,
        no_args_is_help=True,
        epilog=examples(
            "tidegauge console",
            "tidegauge --install-completion",
            "tidegauge run scenario.tide",
            "tidegauge run -c"
            " 'cluster; topic create t --partitions 1 --replication-factor 3; settle'",
        ),
    )
    for part in parts:
        app.add_typer(import_module(part).app)
    app.callback()(program)
    return app


def program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A terminal operations console for Kafka-style replication, with a whole cluster inside."""
