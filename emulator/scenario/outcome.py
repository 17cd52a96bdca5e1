"""How a statement ended."""

from typing import Any

from msgspec import Struct


class Outcome(Struct, frozen=True):
    """How a statement ended.

    ``error`` is a Kafka or ZooKeeper error's name or ``NONE``; ``message`` says it in a sentence.
    ``output`` and ``result`` are what a ``zk`` statement prints, as text and as plain data.
    ``passed`` is an assertion's verdict, ``actual`` its left side's value. ``refused`` statements
    count as failed expectations unless the next one expects their error.
    """

    error: str = "NONE"
    message: str = ""
    output: str | None = None
    result: Any = None
    passed: bool | None = None
    actual: Any = None
    refused: bool = False
