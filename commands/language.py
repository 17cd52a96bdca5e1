"""The whole command language: one typer program of all statements, and its errors in words.

The program is built once, on first use; from then on a statement parses in a fraction of a
millisecond.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import typer
from typer.main import get_command

from commands.statements import (
    admin,
    brokers,
    clients,
    cluster,
    expecting,
    network,
    replication,
    showing,
    time,
    topics,
    zookeeper,
)
from commands.statements.cluster import Include
from commands.statements.showing import Show
from commands.words import BadWord, nearest
from emulator.inputs import AnyInput

Command = Any
"""A command or a group as typer makes them; their classes moved between its releases."""
UsageProblem = Any
"""What typer raises about words, whose classes moved likewise."""
Meaning = AnyInput | Show | Include
"""What a statement's words mean."""

_SURPLUS = re.compile(r"unexpected extra arguments?(?:\(s\))? \((.*)\)", re.DOTALL)
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def meaning(words: Sequence[str]) -> Meaning:
    """What a statement's words mean.

    Raises:
        BadWord: they are no statement; one sentence with the nearest valid word.
    """
    command, name, rest = find(words)
    try:
        with command.make_context(name, list(rest)) as context:
            found: Meaning = command.invoke(context)
            return found
    except _UsageError as error:
        raise BadWord(_explained(error, command, name)) from None


def find(words: Sequence[str]) -> tuple[Command, str, Sequence[str]]:
    """The command that the first words name, its full name, and the words after it.

    Raises:
        BadWord: there is no such statement, or its second word is missing or unknown.
    """
    commands, name = program().commands, words[0]
    if name not in commands:
        raise BadWord(f"there is no statement '{name}'{_nearest_statement(name)}")
    command = commands[name]
    if not is_group(command):
        return command, name, words[1:]
    known = command.commands
    if len(words) == 1:
        raise BadWord(f"'{name}' needs a second word ({', '.join(known)})")
    if words[1] not in known:
        hint = nearest(words[1], known) or f" ({', '.join(known)})"
        raise BadWord(f"'{name}' has no '{words[1]}'{hint}")
    return known[words[1]], f"{name} {words[1]}", words[2:]


@cache
def program() -> Command:
    """All statements as one group, in the order of the documentation."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, help="The command language.")
    app.add_typer(cluster.app)
    app.add_typer(topics.app)
    app.add_typer(clients.app)
    app.add_typer(replication.app)
    app.add_typer(replication.replica_app)
    app.add_typer(brokers.app)
    app.add_typer(network.app)
    app.add_typer(zookeeper.app)
    app.add_typer(admin.election_app)
    app.add_typer(admin.app)
    app.add_typer(admin.config_app)
    app.add_typer(time.app)
    app.add_typer(expecting.app)
    app.add_typer(showing.app)
    group = get_command(app)
    for _, command in leaves(group):
        command.add_help_option = False
    return group


def leaves(group: Command) -> Iterator[tuple[str, Command]]:
    """Every statement by its full name, such as ``topic create``."""
    for name, command in group.commands.items():
        if is_group(command):
            yield from ((f"{name} {second}", leaf) for second, leaf in leaves(command))
        else:
            yield name, command


def is_group(command: Command) -> bool:
    """Whether a second word follows."""
    return hasattr(command, "commands")


def _nearest_statement(word: str) -> str:
    """The statement nearest to a first word, which may be another's second (``create``)."""
    owners = [name for name, _ in leaves(program()) if name.split()[-1] == word]
    if owners:
        return f"; did you mean '{owners[0]}'?"
    return nearest(word, program().commands) or " (tidegauge statements lists them)"


def _explained(error: UsageProblem, command: Command, name: str) -> str:
    """A usage error in one sentence: the statement, what is wrong, the nearest valid word."""
    option = getattr(error, "option_name", None)
    if option is not None:
        return _option_explained(option, command, name)
    param = getattr(error, "param", None)
    if param is None:
        found = _SURPLUS.search(error.message)
        return f"'{name}' does not take '{found[1]}'" if found else f"'{name}': {error.message}"
    called = param.opts[0] if param.opts[0].startswith("-") else ""
    if error.message:
        return f"'{name}'{' ' if called else ''}{called}: {error.message}"
    return f"'{name}' needs {called or param.metavar}"


def _option_explained(option: str, command: Command, name: str) -> str:
    options = {word: param for param in command.params for word in param.opts if word[0] == "-"}
    if option in options:
        needed = "takes no value" if options[option].is_flag else "needs a value"
        return f"'{name}': {option} {needed}"
    hint = nearest(option, options) or f" ({', '.join(options) or 'it has none'})"
    return f"'{name}' has no option '{option}'{hint}"
