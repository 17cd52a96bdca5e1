"""The base of all messages, and a host's notifications from its timers and connections."""

from typing import ClassVar

from msgspec import Struct

Detail = list[list[str | int]]


class Message(Struct, array_like=True, tag=True, frozen=True, gc=False):
    """The base of all messages."""

    def detail(self) -> Detail:
        """What it says about partitions, for :class:`emulator.events.MessageSent`."""
        return []


class CoordinatorMessage(Message, frozen=True):
    """The base of messages to and from coordinators, about a group or a transactional id.

    ``key`` is the field that names it, ``tells`` are those whose values the detail has of it. They
    come before what the message says about partitions.
    """

    key: ClassVar[str] = "group"
    tells: ClassVar[tuple[str, ...]] = ()

    @property
    def subject(self) -> str:
        """The group or transactional id, as an object that the message concerns."""
        kind = "group" if self.key == "group" else "transaction"
        return f"{kind}.{getattr(self, self.key)}"

    def detail(self) -> Detail:
        return [[self.subject, *(getattr(self, name) for name in self.tells)], *self.other_rows()]

    def other_rows(self) -> Detail:
        """What it says about partitions, and of others that it concerns."""
        return []


class ControllerRequest(Message, frozen=True):
    """The base of requests that only KRaft's controllers take."""


class ConnectionLost(Message, frozen=True):
    """The connection to ``peer`` broke.

    ``request`` is the request that was refused; 0: all requests in flight are lost. ``lost`` is a
    request that was lost in transit, or whose response was: of several connections to ``peer``,
    only the one it was sent on broke.
    """

    peer: int
    request: int = 0
    lost: bool = False


class Timer(Message, frozen=True):
    """A timer of the host itself; ``task`` names it, ``key`` and ``number`` are its arguments."""

    task: str
    key: str = ""
    number: int = 0
