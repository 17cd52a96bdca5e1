"""How the fields of an input are written as words of a statement.

An input whose class names a ``statement`` declares it: each field with a :class:`Word` is an
argument or an option, and parsing, help, completion and documentation are made from that. A kind
of word is called by its ``metavar`` in help; a number, a flag or one of several words is parsed by
the field's type.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct


class Word(Struct, frozen=True):
    """A positional argument, or an option, which has ``names``.

    ``text`` is its help, ``default`` the default that help shows. ``kind`` says how it is parsed,
    if that is neither its ``metavar`` nor follows from the field's type. ``many``: any number of
    words. A flag with ``off`` makes the field False.
    """

    text: str
    metavar: str = ""
    names: tuple[str, ...] = ()
    default: str = ""
    kind: str = ""
    many: bool = False
    off: bool = False


def argument(metavar: str, text: str, *, kind: str = "", many: bool = False) -> Word:
    """Declare a positional argument."""
    return Word(text, metavar, kind=kind, many=many)


def option(
    name: str, metavar: str, text: str, *, default: str = "", kind: str = "", many: bool = False
) -> Word:
    """Declare an option with a value; without a ``metavar`` help lists the words that it takes."""
    return Word(text, metavar, (name,), default, kind, many)


def flag(name: str, text: str, *, off: bool = False) -> Word:
    """Declare an option without a value."""
    return Word(text, names=(name,), off=off)


Count = Annotated[int, Meta(ge=1)]
Natural = Annotated[int, Meta(ge=0)]

TopicName = Annotated[str, argument("T", "the topic")]
TopicPartition = Annotated[str, argument("TP", "a partition: orders-0")]
BrokerId = Annotated[int, argument("B", "a broker id")]
Host = Annotated[int, argument("HOST", "a broker or controller id, zk or clients")]
OneWay = Annotated[bool, flag("--one-way", "only from the first host to the second")]
ProducerName = Annotated[str, option("--producer", "PRODUCER", "the producer", default="p1")]
Config = Annotated[
    dict[str, str], option("--config", "K=V", "set a property; may be repeated", many=True)
]
MESSAGE: Final = "only this request or response"
