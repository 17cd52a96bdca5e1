"""The outcome of a statement."""

from typing import Any

from msgspec import Struct


class Outcome(Struct, frozen=True):
    """The outcome of a statement.

    ``error`` is the name of a Kafka or ZooKeeper error or ``NONE``; ``message`` explains it in a
    sentence. ``output`` and ``result`` are what a ``zk`` statement prints, as text and as plain
    data. ``passed`` is an assertion's result, ``actual`` its left side's value. ``refused``
    statements count as failed expectations unless the next statement expects their error.
    """

    error: str = "NONE"
    message: str = ""
    output: str | None = None
    result: Any = None
    passed: bool | None = None
    actual: Any = None
    refused: bool = False
