"""Virtual time: wait, at."""

from typing import Annotated

import click
from msgspec import Struct

from commands.language.declaration import RAW, argument, option, statement
from emulator.inputs.statements import Wait, WaitUntil
from sessions.grammar import words
from sessions.grammar.clauses import clauses
from sessions.grammar.words import BadWord

app = click.Group()


class At(Struct, frozen=True):
    """When the next statement runs: a time and a number of kernel events (None: all due by then).

    It is addressed to the script runner and does not involve the cluster.
    """

    time_us: int
    steps: int | None = None


@statement(app, "wait", RAW)
def wait(
    what: Annotated[
        list[str], argument("D | until CONDITION [within D]", text="a time, or a condition")
    ],
) -> Wait | WaitUntil:
    """Let virtual time pass: for a duration, or until a condition holds (within 60s).

    A wait for a duration ends after all events due at its last microsecond.
    """
    return _wait_until(what[1:]) if what[0] == "until" else _wait(what)


def _wait(arguments: list[str]) -> Wait:
    if len(arguments) > 1:
        raise BadWord(
            f"takes one time, or 'until' and a condition, not '{' '.join(arguments)}'", arguments[1]
        )
    return Wait(duration_us=words.duration(arguments[0]))


def _wait_until(arguments: list[str]) -> WaitUntil:
    if len(arguments) > 1 and arguments[-2] == "within":
        return WaitUntil(clauses=clauses(arguments[:-2]), within_us=words.duration(arguments[-1]))
    return WaitUntil(clauses=clauses(arguments))


@statement(app, "at")
def at(
    moment: Annotated[int, argument("TIME", words.moment, "since the beginning: 4s, 4.081322s")],
    steps: Annotated[
        int | None,
        option(
            "--steps",
            kind="natural",
            text="after this many steps of the emulator",
        ),
    ] = None,
) -> At:
    """Continue at this time, even if the previous statement has not ended (scripts only).

    It does not involve the cluster, so a saved script ends in the same state as the session that
    it was saved from.
    """
    return At(time_us=moment, steps=steps)
