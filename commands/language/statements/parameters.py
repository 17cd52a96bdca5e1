"""The kinds of words that statements take, as types that typer reads.

The name that help shows (``metavar``) also tells completion what may stand there, so it is the same
wherever the kind is.
"""

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Final

import typer

from commands.language import values
from commands.language.values import Replica, Setting

RAW: Final = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""For statements that read their words themselves: ``-1`` and the like are words, not options."""


Parse = Callable[[str], Any]
"""What a word means; raises :class:`commands.language.values.BadWord`."""
Given = Any
"""What typer hands to a parser: the word, or a default."""
Declaration = Any
"""What typer's ``Argument`` and ``Option`` return."""


def parsed(parse: Parse) -> Callable[[Given], Given]:
    """``parse`` for typer: defaults pass, and what is wrong becomes typer's error."""

    @wraps(parse)
    def checked(value: Given) -> Given:
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except values.BadWord as error:
            raise typer.BadParameter(str(error)) from None

    return checked


def argument(metavar: str, parse: Parse | None = None, text: str = "") -> Declaration:
    """A word that stands at its place."""
    parser = parsed(parse) if parse else None
    return typer.Argument(metavar=metavar, parser=parser, help=text, show_default=False)


def option(
    *names: str, metavar: str, parse: Parse | None = None, text: str, default: str = ""
) -> Declaration:
    """An option with a value; ``default`` is what help says of it being left out."""
    return typer.Option(
        *names,
        metavar=metavar,
        parser=parsed(parse) if parse else None,
        help=f"{text} [default: {default}]" if default else text,
        show_default=False,
    )


def flag(*names: str, text: str) -> Declaration:
    """An option without a value."""
    return typer.Option(*names, help=text, show_default=False)


Topic = Annotated[str, argument("T", text="the topic")]
TopicPartition = Annotated[str, argument("TP", values.topic_partition, "a partition: orders-0")]
ReplicaName = Annotated[Replica, argument("TP@B", values.replica, "a replica: orders-0@2")]
Broker = Annotated[int, argument("B", values.broker, "a broker id")]
Host = Annotated[int, argument("HOST", values.host, "a broker id, zk or clients")]
Settings = Annotated[
    list[Setting] | None,
    option("--config", metavar="K=V", parse=values.setting, text="a setting; may be repeated"),
]
SettingWords = Annotated[
    list[Setting], argument("K=V", values.setting, "settings; an empty V removes one")
]
Path = Annotated[str, argument("PATH", values.znode_path, "a znode: /brokers/ids")]
OneWay = Annotated[bool, flag("--one-way", text="only from the first host to the second")]
Partition = Annotated[
    int | None, option("--partition", metavar="P", parse=values.natural, text="only this partition")
]
