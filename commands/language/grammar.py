"""The whole command language: one typer program of all statements, and its errors in words.

The program is built once, on first use; from then on a statement parses in a fraction of a
millisecond.
"""

from collections.abc import Iterator, Sequence
from functools import cache

import typer
from typer.main import get_command

from commands.language.statements import (
    admin,
    brokers,
    clients,
    cluster,
    expect,
    network,
    replication,
    show,
    time,
    topics,
    zookeeper,
)
from commands.language.statements.cluster import Include
from commands.language.statements.show import Show
from commands.language.statements.time import At
from commands.language.usage import Command, UsageError, explained
from commands.language.values import BadWord, nearest
from emulator.inputs.statements import AnyInput

Meaning = AnyInput | Show | At | Include
"""What a statement's words mean."""


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
    except UsageError as error:
        raise BadWord(explained(error, command, name)) from None


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
    app.add_typer(expect.app)
    app.add_typer(show.app)
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
