"""The whole command language: one group of all statements, and its error messages.

The click program is built once, on first use; after that, a statement parses in a fraction of a
millisecond.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, get_args

import click

from commands.language.declaration import Finish, WrongWordError, command_of
from commands.language.statements import (
    admin,
    clients,
    cluster,
    controllers,
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
from commands.language.usage import explained, surplus_words
from emulator.inputs.statements import (
    AnyInput,
    Consume,
    CreateCluster,
    CutLink,
    DelayLink,
    DropOnLink,
    HealLinks,
    HoldMessages,
    InjectError,
    Input,
    ReleaseMessages,
)
from sessions.grammar.words import BadWord, nearest

Meaning = AnyInput | Show | At | Include
"""What a parsed statement returns."""

GROUPS: Final = (
    *(cluster.app, topics.app, replication.app, replication.replica_app, controllers.app),
    *(zookeeper.app, admin.app, admin.config_app, time.app, expect.app, show.app),
)
"""The statements made of functions; a nameless group has one-word statements."""
OF_INPUTS: Final = {
    "broker": "Stop, crash, start, freeze and thaw brokers.",
    "transaction": "Begin, commit and abort a producer's transactions, and produce in them.",
    "network": "Cut, slow down and hold up the links between hosts.",
    "election": "Elect leaders.",
}
"""The groups whose statements are declared by inputs alone, with their help."""
FINISH: Final[dict[type[Input], Finish]] = {
    CreateCluster: cluster.cluster,
    Consume: clients.consume,
    InjectError: clients.inject,
    **dict.fromkeys((CutLink, HealLinks, DelayLink, DropOnLink), network.two_hosts),
    **dict.fromkeys((HoldMessages, ReleaseMessages), network.two_hosts),
}
"""What completes an input that a statement's words have made, or rejects it."""
ORDER: Final = (
    *(
        "cluster",
        "run",
        "topic",
        "produce",
        "transaction",
        "consume",
        "inject",
        "fetch",
        "tick",
        "replica",
    ),
    *("broker", "controller", "network", "zk", "election", "reassign", "describe"),
    *("alterpartition", "config", "wait", "settle", "at", "expect", "mark", "show"),
)
"""The order of the documentation; other statements come last."""


def meaning(words: Sequence[str]) -> Meaning:
    """Parse a statement's words.

    Raises:
        BadWord: they are not a valid statement; one sentence with the nearest valid word.
    """
    command, name, rest = find(words)
    try:
        with command.make_context(name, list(rest)) as context:
            parsed: Meaning = command.invoke(context)
            return parsed
    except click.UsageError as error:
        raise BadWord(explained(error, command, name), _wrong_word(error, rest)) from None
    except BadWord as error:
        raise BadWord(f"'{name}': {error}", error.word) from None


def _wrong_word(error: click.UsageError, words: Sequence[str]) -> str | None:
    """Return the word that click's error is about; None if something is missing."""
    if isinstance(error, WrongWordError):
        return error.word
    if isinstance(error, click.NoSuchOption | click.BadOptionUsage):
        option = error.option_name
        return next((word for word in words if word.partition("=")[0] == option), None)
    if surplus := surplus_words(error):
        return next((word for word in reversed(words) if word == surplus[0]), None)
    return None


def find(words: Sequence[str]) -> tuple[click.Command, str, Sequence[str]]:
    """Return the command that the first words name, its full name, and the remaining words.

    Raises:
        BadWord: there is no such statement, or its second word is missing or unknown.
    """
    commands, name = program().commands, words[0]
    if name not in commands:
        raise BadWord(f"there is no statement '{name}'{_nearest_statement(name)}", name)
    command = commands[name]
    if not isinstance(command, click.Group):
        return command, name, words[1:]
    subcommands = command.commands
    if len(words) == 1:
        raise BadWord(f"'{name}' needs a second word ({', '.join(subcommands)})")
    if words[1] not in subcommands:
        hint = nearest(words[1], subcommands) or f" ({', '.join(subcommands)})"
        raise BadWord(f"'{name}' has no '{words[1]}'{hint}", words[1])
    return subcommands[words[1]], f"{name} {words[1]}", words[2:]


@cache
def program() -> click.Group:
    """Return all statements as one group, in the order of the documentation."""
    whole = click.Group(help="The command language.")
    for name, text in OF_INPUTS.items():
        whole.add_command(click.Group(name, help=text))
    for group in GROUPS:
        if group.name is not None:
            whole.add_command(click.Group(group.name, {**group.commands}, help=group.help))
        else:
            whole.commands.update(group.commands)
    for kind in get_args(AnyInput):
        if kind.statement:
            first, _, second = kind.statement.partition(" ")
            owner = whole.commands[first] if second else whole
            assert isinstance(owner, click.Group)
            owner.add_command(command_of(kind, FINISH.get(kind)))
    whole.commands = dict(sorted(whole.commands.items(), key=_rank))
    return whole


def _rank(entry: tuple[str, click.Command]) -> int:
    return ORDER.index(entry[0]) if entry[0] in ORDER else len(ORDER)


def leaves(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """Return every statement by its full name, such as ``topic create``."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from ((f"{name} {second}", leaf) for second, leaf in leaves(command))
        else:
            yield name, command


def _nearest_statement(word: str) -> str:
    """Return the statement nearest to a first word, which may match a second word (``create``)."""
    owners = [name for name, _ in leaves(program()) if name.split()[-1] == word]
    if owners:
        return f"; did you mean '{owners[0]}'?"
    return nearest(word, program().commands) or " (tidegauge statements lists them)"
