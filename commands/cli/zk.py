"""``tidegauge zk``: ZooKeeper as zkCli shows it."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import Seed, Settings, Variables, Version, argument, named, option
from commands.exits import ExitCode
from commands.language import values
from commands.language.cluster_options import ClusterOptions
from commands.output import streams

if TYPE_CHECKING:
    from commands.runs.zk_shell import ZkShell

app = typer.Typer(
    name="zk",
    help="ZooKeeper as zkCli shows it.",
    epilog=examples("tidegauge zk shell --version documents"),
)


@app.callback()
def group() -> None:
    """Take ``shell`` as a command of a group, which has no other yet."""


@app.command(
    "shell",
    epilog=examples(
        "tidegauge zk shell --version documents",
        "tidegauge zk shell failover.tide --tz Asia/Shanghai",
        "tidegauge zk shell -c 'ls /; get /controller; broker crash 0; ls /brokers/ids'",
        "echo 'ls /brokers/ids' | tidegauge zk shell failover.tide",
    ),
)
def shell(
    file: Annotated[
        str, argument("FILE", text="a script to run first; without one, a cluster of one broker")
    ] = "",
    text: Annotated[
        str | None, option("-c", metavar="TEXT", text="commands, separated by ;")
    ] = None,
    version: Version = None,
    config: Settings = None,
    variables: Variables = None,
    seed: Seed = None,
    tz: Annotated[
        str | None,
        option(
            "--tz",
            metavar="ZONE",
            parse=values.time_zone_name,
            text="print dates as in this time zone: Asia/Shanghai",
            default="UTC",
        ),
    ] = None,
) -> int:
    """Start a session of zkCli on an emulated cluster.

    Its commands are zkCli's: ls, get, stat, create, set, delete, history, redo, help, quit. Other
    lines are statements of the command language, such as 'wait 5s' or 'broker crash 1'. Between two
    lines a second of virtual time passes. In a terminal there are history and completion (tab);
    from a pipe lines are read until it ends, and echoed behind their prompts.
    """
    from commands.language.parser import COMMAND_LINE, parse_script, read_text
    from commands.runs.zk_shell import ZkShell

    options = ClusterOptions(version=version, seed=seed, config=config).words()
    source = read_text(Path(file)) if file else "cluster --brokers 1"
    script = parse_script(source, file or COMMAND_LINE, named(variables), options)
    session = ZkShell(script, tz or "")
    session.begin()
    if text is not None:
        _read(session, text.split(";"))
    elif sys.stdin.isatty():
        _talk(session)
    else:
        _read(session, sys.stdin)
    return ExitCode.OK


def _read(session: "ZkShell", lines: Iterable[str]) -> None:
    """Run lines that nobody types; echo each behind its prompt, as a terminal would show it."""
    for line in lines:
        if line.strip():
            streams.emit(f"{session.prompt}{line.strip()}\n")
            try:
                streams.emit(session.run(line))
            except EOFError:
                return


def _talk(session: "ZkShell") -> None:
    """Run the lines that somebody types in a terminal."""
    _complete_with(session)
    while True:
        try:
            line = input(session.prompt)
        except EOFError:
            streams.emit("\n")
            return
        except KeyboardInterrupt:
            streams.emit("\n")
            continue
        try:
            streams.emit(session.run(line))
        except EOFError:
            return


def _complete_with(session: "ZkShell") -> None:
    """Let the terminal complete words and recall lines, where Python has ``readline``."""
    try:
        import readline
    except ImportError:
        return

    def candidate(_word: str, number: int) -> str | None:
        typed = readline.get_line_buffer()[: readline.get_endidx()]
        start = readline.get_begidx()
        words = [line[start:] for line in session.complete(typed)]
        return words[number] if number < len(words) else None

    readline.set_completer_delims(" ")
    readline.set_completer(candidate)
    readline.parse_and_bind("tab: complete")
