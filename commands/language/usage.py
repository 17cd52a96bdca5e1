"""Describe what is wrong with the words of a statement or of the program, in one sentence.

Statements are click commands. The program's commands are typer's, which bundles its own copy of
click's classes under other names; so only what both have in common is used here.
"""

import re
from typing import Any

from sessions.grammar.words import nearest

Command = Any
"""A command or a group, of click or of typer."""
UsageProblem = Any
"""click's ``UsageError``, or typer's copy of it."""

_SURPLUS = re.compile(r"unexpected extra arguments?(?:\(s\))? \((.*)\)", re.DOTALL)
_MISSING = "Missing command"
_UNKNOWN = re.compile(r"No such command '([^']*)'")


def surplus_words(error: UsageProblem) -> list[str]:
    """Return the superfluous words, if those are the error."""
    surplus = _SURPLUS.search(str(error.message))
    return surplus[1].split(" ") if surplus else []


def explained(error: UsageProblem, command: Command, name: str) -> str:
    """Return the statement or command, what is wrong with its words, and the nearest valid word."""
    option = getattr(error, "option_name", None)
    if option is not None:
        return _option_explained(option, command, name)
    param = getattr(error, "param", None)
    if param is None:
        return _words_explained(str(error.message), command, name)
    option_name = param.opts[0] if param.opts[0].startswith("-") else ""
    if error.message:
        return f"'{name}'{' ' if option_name else ''}{option_name}: {error.message}"
    return f"'{name}' needs {option_name or param.metavar}"


def _option_explained(option: str, command: Command, name: str) -> str:
    options = {word: param for param in command.params for word in param.opts if word[0] == "-"}
    if option in options:
        needed = "takes no value" if options[option].is_flag else "needs a value"
        return f"'{name}': {option} {needed}"
    hint = nearest(option, options) or f" ({', '.join(options) or 'it has none'})"
    return f"'{name}' has no option '{option}'{hint}"


def _words_explained(message: str, command: Command, name: str) -> str:
    if surplus := _SURPLUS.search(message):
        return f"'{name}' does not take '{surplus[1]}'"
    if message.startswith(_MISSING):
        return f"'{name}' needs a command ({', '.join(command.commands)})"
    if unknown := _UNKNOWN.search(message):
        commands = list(command.commands)
        hint = nearest(unknown[1], commands) or f" ({', '.join(commands)})"
        return f"'{name}' has no command '{unknown[1]}'{hint}"
    return f"'{name}': {message}"
