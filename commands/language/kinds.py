"""The kinds of words, which statements and the program's options share.

A kind says what help calls a word and how it is parsed; it has the name of its ``metavar``, unless
several kinds of numbers have that. Completion knows it by the ``metavar``.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Meta

from commands.language import values
from commands.language.images import cluster_image
from commands.language.server_properties import server_properties
from sessions.grammar.words import duration, moment

Parse = Callable[[str], Any]
"""Parses a word; raises :class:`~sessions.grammar.words.BadWord`."""


class Kind(NamedTuple):
    """A kind of word: its name in help, and its parser."""

    metavar: str
    parse: Parse


BY_METAVAR: Final[dict[str, Parse]] = {
    "T": str,
    "TP": values.topic_partition,
    "TP@B": values.replica,
    "B": values.broker,
    "C": values.controller,
    "HOST": values.host,
    "PATH": values.znode_path,
    "NODE": values.metadata_path,
    "1,2,3": values.broker_ids,
    "0:1:2,1:2:0": values.assignment,
    "B:D": values.broker_difference,
    "N": values.count,
    "I": values.first_broker,
    "a,b,..": values.names,
    "VERSION": values.version,
    "kraft|zk": values.choice("kraft", "zk"),
    "S": values.seed,
    "K=V": values.setting,
    "NAME=LEVEL": values.level,
    "0xN": values.java_long,
    "0|1|all": values.acks,
    "D": duration,
    "TIME": moment,
    "PERCENT": values.percent,
    "API": values.api,
    "ERROR": values.kafka_error,
    "FILE": values.file_name,
}
KINDS: Final[dict[str, Kind]] = {
    **{metavar: Kind(metavar, parse) for metavar, parse in BY_METAVAR.items()},
    "image": Kind("FILE", cluster_image),
    "properties": Kind("FILE", server_properties),
    "brokers": Kind("N", values.brokers),
    "controllers": Kind("N", values.controllers),
    "natural": Kind("N", values.natural),
    "port": Kind("P", values.port_or_any),
    "positive D": Kind("D", values.positive_duration),
    "difference": Kind("D", values.difference),
    "served API": Kind("API", values.served_api),
}
"""All kinds but texts and choices, which the type of a statement's field names."""


def parser_of(kind: str, choices: Sequence[str], bounds: Sequence[Meta]) -> Parse:
    """Return the parser of a kind of words, of one of several words, or of a bounded number."""
    least = next((bound.ge for bound in bounds), None)
    if kind == "N" and least == 0:
        return KINDS["natural"].parse
    if kind in KINDS:
        return KINDS[kind].parse
    if choices:
        return values.choice(*kind.split("|"))
    return str if least is None else values.count if least else values.natural
