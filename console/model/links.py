"""What a line on screen leads to, as plain data."""

from typing import NamedTuple


class Link(NamedTuple):
    """What a line leads to: ``kind`` is one that :mod:`console.controllers.navigation` opens.

    ``name`` is a topic-partition, a broker's id, a path, an event's number, ..
    """

    kind: str
    name: str
