"""The base of all events."""

from typing import Final

from msgspec import Struct

ZOOKEEPER: Final = -1
"""The host number of the ZooKeeper server in messages and links."""
CLIENTS: Final = -2
"""The host number shared by all producers and consumers in messages and links."""


class Event(Struct, frozen=True, array_like=True, tag=True, gc=False):
    """The fields common to all events.

    Sequence number, virtual time in microseconds, and the sequence number of the causing event.
    """

    seq: int
    time_us: int
    cause: int
