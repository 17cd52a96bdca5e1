"""The base of all events."""

from typing import Final

from msgspec import Struct

ZOOKEEPER: Final = -1
"""The host number of the ZooKeeper server in messages and links."""
CLIENTS: Final = -2
"""The host number shared by all producers and consumers in messages and links."""


class Event(Struct, frozen=True, array_like=True, tag=True, gc=False):
    """What all events share.

    Number, virtual time in microseconds, and the number of the event that caused it.
    """

    seq: int
    time_us: int
    cause: int
