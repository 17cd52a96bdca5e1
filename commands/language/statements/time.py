"""Virtual time: wait, settle, at."""

from typing import Annotated

import typer
from msgspec import Struct

from commands.language import conditions, values
from commands.language.statements.parameters import RAW, argument, option
from emulator.inputs.statements import Settle, Wait, WaitUntil

app = typer.Typer()


class At(Struct, frozen=True):
    """Where the next statement is given: a time, after so many kernel events (None: all till then).

    It is for whoever runs a script; the cluster knows nothing of it.
    """

    time_us: int
    steps: int | None = None


@app.command("wait", context_settings=RAW)
def wait(
    what: Annotated[
        list[str], argument("D | until CONDITION [within D]", text="a time, or a condition")
    ],
) -> Wait | WaitUntil:
    """Let virtual time pass: for a while, or until a condition holds (within 60s).

    A wait for a time ends after everything that is due at its last microsecond.
    """
    try:
        return _wait_until(what[1:]) if what[0] == "until" else _wait(what)
    except values.BadWord as error:
        raise typer.BadParameter(str(error)) from None


def _wait(what: list[str]) -> Wait:
    if len(what) > 1:
        raise values.BadWord(f"takes one time, or 'until' and a condition, not '{' '.join(what)}'")
    return Wait(duration_us=values.duration(what[0]))


def _wait_until(what: list[str]) -> WaitUntil:
    if len(what) > 1 and what[-2] == "within":
        return WaitUntil(clauses=conditions.parse(what[:-2]), within_us=values.duration(what[-1]))
    return WaitUntil(clauses=conditions.parse(what))


@app.command("settle")
def settle(
    quiet: Annotated[
        int, argument("D", values.duration, "how long nothing may happen; 1s if left out")
    ] = 1_000_000,
) -> Settle:
    """Let time pass until nothing but idle traffic has happened for D; at most 20s."""
    return Settle(quiet_us=quiet)


@app.command("at")
def at(
    moment: Annotated[int, argument("TIME", values.moment, "since the beginning: 4s, 4.081322s")],
    steps: Annotated[
        int | None,
        option(
            "--steps", metavar="N", parse=values.natural, text="after so many steps of the emulator"
        ),
    ] = None,
) -> At:
    """Go on at this time, even if the statement before has not ended (scripts only).

    Nothing is asked of the cluster, so a saved script comes to the same state as what it was saved
    from.
    """
    return At(time_us=moment, steps=steps)
