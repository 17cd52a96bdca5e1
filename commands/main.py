"""The ``tidegauge`` program: its commands, and what becomes of errors.

A command returns an exit status (none is 0) or raises; every error ends as one sentence on standard
error and a status of :class:`commands.exits.ExitCode`, never as a traceback. Nothing heavy is
imported before a command needs it.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command

from commands import output
from commands.exits import CommandError, ExitCode
from commands.failures import TRACEBACK, judged
from commands.program import (
    analyze,
    campaign,
    console,
    explore,
    looking,
    matrix,
    run,
    scenarios,
    sessions,
    settings,
    web,
)
from commands.program.examples import examples
from commands.usage import Command, UsageError, explained
from sessions.collector import collect_no_more, collect_seldom

NAME = "tidegauge"


def main() -> None:
    """Run the program with the shell's arguments and end the process."""
    collect_seldom()
    status = run_program(sys.argv[1:])
    collect_no_more()
    sys.exit(status)


def run_program(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit status."""
    output.prepare()
    try:
        status = _invoke(list(arguments) or ["--help"])
        output.finish()
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        status, message = judged(error)
        output.narrate(message)
    except KeyboardInterrupt:
        status = ExitCode.INTERRUPTED
        output.narrate("interrupted")
    output.finish()
    return int(status)


def _invoke(arguments: list[str]) -> int:
    command = get_command(app)
    try:
        with command.make_context(NAME, arguments) as context:
            return int(command.invoke(context) or ExitCode.OK)
    except typer.Exit as ended:
        return ended.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except UsageError as error:
        at, name = _named(command, arguments)
        raise CommandError(ExitCode.USAGE, explained(error, at, name)) from None


def _named(command: Command, arguments: list[str]) -> tuple[Command, str]:
    """The command that the arguments name, as far as they name one, and its full name."""
    name = NAME
    for word in arguments:
        found = getattr(command, "commands", {}).get(word)
        if found is None:
            break
        command, name = found, f"{name} {word}"
    return command, name


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            output.emit(f"{NAME} {version(NAME)}\n")
        except PackageNotFoundError:
            output.emit(f"{NAME} (not installed)\n")
        raise typer.Exit


app = typer.Typer(
    name=NAME,
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    epilog=examples(
        "tidegauge console",
        "tidegauge run scenario.tide",
        "tidegauge run -c 'cluster; topic create t --partitions 1 --replication-factor 3; settle'",
    ),
)
PARTS = (
    run,
    console,
    sessions,
    matrix,
    explore,
    scenarios,
    campaign,
    analyze,
    settings,
    web,
    looking,
)
for part in PARTS:
    app.add_typer(part.app)


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A terminal operations console for Kafka-style replication, with a whole cluster inside."""
