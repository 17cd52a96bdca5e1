"""``tidegauge mcp``: an emulated cluster for assistants, over the Model Context Protocol."""

import typer

from commands.cli.examples import examples
from commands.exits import CommandError, ExitCode
from emulator.common.extras import missing_extra

app = typer.Typer()


@app.command("mcp", epilog=examples("tidegauge mcp", "claude mcp add tidegauge -- tidegauge mcp"))
def mcp() -> None:
    """Serve tools to an assistant, over standard input and output (Model Context Protocol).

    The assistant can start an emulated cluster, break it, look at it, ask why, open recorded
    sessions, rehearse failures of a cluster that somebody runs, and explore interleavings. It can
    change nothing but that emulated cluster. Ends when standard input ends.
    """
    from commands.assistant.workbench import Workbench

    try:
        from commands.assistant.server import server_of
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        message = missing_extra("'tidegauge mcp'", "mcp", "mcp")
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    workbench = Workbench()
    try:
        server_of(workbench).run("stdio")
    finally:
        workbench.close()
