"""``tidegauge sessions why``: what led to a partition's state, or to an event."""

from math import inf
from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import argument, option
from commands.cli.sessions.arguments import AsJson, File
from commands.exits import CommandError, ExitCode
from commands.output import streams
from commands.runs.opening import opened
from sessions.grammar.places import Place, place

app = typer.Typer()


@app.command(
    "why",
    epilog=examples(
        "tidegauge sessions why run.tide.db",
        "tidegauge sessions why run.tide.db orders-0",
        "tidegauge sessions why run.tide.db orders-0 --at 12s --json",
        "tidegauge sessions why run.tide.db '#1289'",
    ),
)
def why(
    file: File,
    subject: Annotated[
        str,
        argument("SUBJECT", text="a partition, or an event's number [default: all that is wrong]"),
    ] = "",
    at: Annotated[
        Place | None,
        option(
            "--at",
            metavar="PLACE",
            parse=place,
            text="look at this time (12s, -3m) or event (#1289)",
            default="the end",
        ),
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Explain a partition's state, or an event, by the chain of causes that led to it.

    The chain begins with what a person did or what chance brought, and ends with the change that
    is explained. Without a subject, there is one sentence for each partition that is not healthy.
    """
    from commands.runs import why as explanation
    from console.model.workspace import Stage
    from sessions.format.errors import consistent
    from sessions.grammar.words import BadWord
    from sessions.sources.recorded import ReplaySource

    with opened(file) as session, consistent(session.path):
        source = ReplaySource(session.path)
        try:
            source.to_tail()
            if at is not None:
                explanation.go_to(source, at)
            stage = Stage(source, paused=True, patience=inf)
            if subject:
                answers = [explanation.answer(stage, subject)]
            else:
                answers = explanation.troubles(stage)
        except BadWord as error:
            raise CommandError(ExitCode.USAGE, str(error)) from None
        finally:
            source.session.close()
    if as_json and subject:
        streams.emit_json(answers[0].plain())
    elif as_json:
        streams.emit_json([answer.plain() for answer in answers])
    elif subject:
        streams.emit("".join(f"{line}\n" for line in answers[0].lines()))
    else:
        lines = [answer.headline for answer in answers] or ["every partition is healthy"]
        streams.emit("".join(f"{line}\n" for line in lines))
    return ExitCode.OK
