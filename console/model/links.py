"""What a line on screen links to, as plain data."""

from typing import NamedTuple


class Link(NamedTuple):
    """A link: ``kind`` is one that :mod:`console.controllers.navigation` opens.

    ``name`` is a topic-partition, a broker's id, a path, an event's number, ..
    """

    kind: str
    name: str
