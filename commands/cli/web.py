"""``tidegauge web``: the console in a browser on this machine."""

import errno
import shlex
from pathlib import Path
from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import NO_CLUSTER, ClusterArguments, argument, flag, option, with_groups
from commands.cli.settings import NoAnimation, ScreenArguments, Theme
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.output import streams
from emulator.common.extras import missing_extra
from sessions.child_process import import_path, python_command

app = typer.Typer()

LOOPBACK = "127.0.0.1"
PORT = 8000
PROGRAM = "import sys; sys.path[:] = {}; from commands.cli.main import main; main()"
"""The command that each page runs; it uses this process's import path."""


@app.command(
    "web",
    epilog=examples(
        "tidegauge web",
        "tidegauge web run.tide.db --port 8080",
        "tidegauge web scenario.tide --version 2.4 --allow-changes",
    ),
)
@with_groups
def web(
    target: Annotated[
        str, argument("TARGET", text="a script or a session [default: a small demo]")
    ] = "",
    cluster: ClusterArguments = NO_CLUSTER,
    port: Annotated[
        int,
        option(
            "--port", metavar="P", parse=values.port, text="port to listen on", default=str(PORT)
        ),
    ] = PORT,
    theme: Theme = None,
    no_animation: NoAnimation = False,
    allow_changes: Annotated[
        bool, flag("--allow-changes", text="accept statements; without it the pages are read-only")
    ] = False,
) -> None:
    """Open the console in a browser, on this machine only.

    Each page runs its own console: pages that run a script each have their own cluster and do not
    see each other's changes. Statements are refused unless --allow-changes is given. The server
    listens on the loopback interface only; ctrl-c stops it and its pages.
    """
    from commands.runs.live import script_shown
    from sessions.format.nearest import nearest_file
    from sessions.format.schema import SUFFIX

    ScreenArguments(theme=theme).settings()
    try:
        from commands.cli.web_server import ConsoleServer
    except ImportError:
        message = missing_extra("'tidegauge web'", "textual-serve", "web")
        raise CommandError(ExitCode.UNREACHABLE, message) from None

    if target and not Path(target).is_file():
        message = f"cannot read '{target}': No such file or directory{nearest_file(Path(target))}"
        raise CommandError(ExitCode.UNREACHABLE, message)
    _need_port(port)
    look = [f"--theme={theme}"] if theme else []
    look += ["--no-animation"] if no_animation else []
    if target.endswith(SUFFIX):
        arguments = ["replay", target, *look]
    else:
        options = cluster.options().words()
        script_shown(Path(target) if target else None, cluster.values(), options)
        arguments = ["console", *([target] if target else []), *look, *options]
        arguments += [
            f"--set={variable.name}={variable.value}" for variable in cluster.variables or ()
        ]
        arguments += [] if allow_changes else ["--read-only"]
    server = ConsoleServer(shlex.join(page_command(arguments)), LOOPBACK, port, "tidegauge")
    manner = "statements are taken" if allow_changes else "READ-ONLY"
    streams.narrate(f"{server.public_url}  {manner}; ctrl-c ends it")
    server.serve()


def page_command(arguments: list[str]) -> list[str]:
    """Return the command that each page runs, with the program's arguments."""
    return python_command("-c", PROGRAM.format(import_path()), *arguments)


def _need_port(port: int) -> None:
    """Exit with an error if the port is in use."""
    import socket

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            in_use = error.errno == errno.EADDRINUSE
            reason = (
                "is taken by another program" if in_use else f"cannot be used: {error.strerror}"
            )
            raise CommandError(
                ExitCode.USAGE, f"port {port} {reason}; name another by --port"
            ) from None
