"""What the words of statements mean, by their kind: a parser for each.

A kind is called as help shows it, so that completion knows it by the same name.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Meta

from commands.language import values
from commands.language.images import cluster_image
from commands.language.server_properties import server_properties
from sessions.grammar.words import duration, moment

Parse = Callable[[str], Any]
"""Parses a word; raises :class:`~sessions.grammar.words.BadWord`."""

PARSERS: Final[dict[str, Parse]] = {
    "T": str,
    "TP": values.topic_partition,
    "B": values.broker,
    "HOST": values.host,
    "1,2,3": values.broker_ids,
    "B:D": values.broker_difference,
    "image": cluster_image,
    "properties": server_properties,
    "brokers": values.brokers,
    "controllers": values.controllers,
    "I": values.first_broker,
    "a,b,..": values.names,
    "VERSION": values.version,
    "S": values.seed,
    "K=V": values.setting,
    "NAME=LEVEL": values.level,
    "0xN": values.java_long,
    "0|1|all": values.acks,
    "D": duration,
    "positive D": values.positive_duration,
    "TIME": moment,
    "difference": values.difference,
    "PERCENT": values.percent,
    "API": values.api,
    "refusable API": values.refusable_api,
    "ERROR": values.kafka_error,
}
"""The parsers of all kinds but numbers, texts and choices, which the field's type names."""


def parser_of(kind: str, choices: Sequence[str], bounds: Sequence[Meta]) -> Parse:
    """Return the parser of a kind of words, of one of several words, or of a bounded number."""
    if kind in PARSERS:
        return PARSERS[kind]
    if choices:
        return values.choice(*(kind.split("|")))
    least = next((bound.ge for bound in bounds), None)
    return str if least is None else values.count if least else values.natural
