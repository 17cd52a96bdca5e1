"""Assertions and bookmarks: expect, mark."""

from typing import Annotated

import typer

from commands.language import conditions, values
from commands.language.statements.parameters import RAW, argument
from emulator.inputs.statements import Expect, ExpectError, Mark

app = typer.Typer()


@app.command("expect", context_settings=RAW)
def expect(
    what: Annotated[
        list[str], argument("CONDITION | error ERROR [on last]", text="what must hold")
    ],
) -> Expect | ExpectError:
    """Assert a condition, or that the last statement ended in an error (NONE: in none)."""
    try:
        if what[0] == "error":
            return _expect_error(what[1:])
        return Expect(clauses=conditions.parse(what))
    except values.BadWord as error:
        raise typer.BadParameter(str(error)) from None


def _expect_error(what: list[str]) -> ExpectError:
    if not what:
        raise values.BadWord("needs an error's name (written 'expect error ERROR [on last]')")
    if what[1:] not in ([], ["on", "last"]):
        raise values.BadWord(f"is written 'expect error ERROR [on last]', not '{' '.join(what)}'")
    return ExpectError(error=values.error_name(what[0]))


@app.command("mark")
def mark(
    name: Annotated[str, argument("NAME", text="the bookmark's name")],
    note: Annotated[list[str] | None, argument("NOTE", text="words about it")] = None,
) -> Mark:
    """Set a bookmark in the recording; with --json also a snapshot.

    Of two with the same name both stand in the recording; the later one's snapshot is kept.
    """
    if not name.strip():
        raise typer.BadParameter("needs a name that can be seen")
    return Mark(name=name, note=" ".join(note or []))
