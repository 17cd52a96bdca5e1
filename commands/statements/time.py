"""Virtual time: wait, settle."""

from typing import Annotated

import typer

from commands import conditions, words
from commands.statements.kinds import RAW, argument
from emulator.inputs import Settle, Wait, WaitUntil

app = typer.Typer()


@app.command("wait", context_settings=RAW)
def wait(
    what: Annotated[
        list[str], argument("D | until CONDITION [within D]", text="a time, or a condition")
    ],
) -> Wait | WaitUntil:
    """Let virtual time pass: for a while, or until a condition holds (within 60s)."""
    try:
        return _wait_until(what[1:]) if what[0] == "until" else _wait(what)
    except words.BadWord as error:
        raise typer.BadParameter(str(error)) from None


def _wait(what: list[str]) -> Wait:
    if len(what) > 1:
        raise words.BadWord(f"takes one time, or 'until' and a condition, not '{' '.join(what)}'")
    return Wait(duration_us=words.duration(what[0]))


def _wait_until(what: list[str]) -> WaitUntil:
    if len(what) > 1 and what[-2] == "within":
        return WaitUntil(clauses=conditions.parse(what[:-2]), within_us=words.duration(what[-1]))
    return WaitUntil(clauses=conditions.parse(what))


@app.command("settle")
def settle(
    quiet: Annotated[
        int, argument("D", words.duration, "how long nothing may happen; 1s if left out")
    ] = 1_000_000,
) -> Settle:
    """Let time pass until nothing but idle traffic has happened for D; at most 20s."""
    return Settle(quiet_us=quiet)
