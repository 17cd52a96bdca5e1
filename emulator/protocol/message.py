"""What all messages share, and what a host tells itself or is told by its connections."""

from msgspec import Struct

Detail = list[list[str | int]]


class Message(Struct, array_like=True, tag=True, frozen=True, gc=False):
    """What all messages share."""

    def detail(self) -> Detail:
        """What it says of partitions, for :class:`emulator.events.MessageSent`."""
        return []


class ConnectionLost(Message, frozen=True):
    """The connection to ``peer`` broke.

    ``request`` is the one that was refused; 0: whatever was outstanding is lost. Under ``lost`` it
    is the request that was lost on the way, or whose answer was: of many connections to ``peer``,
    only the one that it was sent on broke.
    """

    peer: int
    request: int = 0
    lost: bool = False


class Timer(Message, frozen=True):
    """A timer of the host itself; ``task`` names it, ``key`` and ``number`` say of what."""

    task: str
    key: str = ""
    number: int = 0
