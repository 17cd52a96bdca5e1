"""The effects of a broker's parts: what has happened at one of them that others have to react to.

A part says what has happened and does not know who reacts. The table ``REACTIONS`` in
:mod:`emulator.broker.broker` does, together with the effects of partitions
(:mod:`emulator.replication.partition`). All reactions to an effect complete before the part goes
on.
"""

from msgspec import Struct

from emulator.protocol import AddPartitionsToTxnRequest


class ProcessStarted(Struct, frozen=True, gc=False):
    """The process is running: its periodic tasks begin."""


class PortsChanged(Struct, frozen=True, gc=False):
    """The broker has begun or stopped to accept requests."""


class ProcessEnded(Struct, frozen=True, gc=False):
    """The process has ended; ``status`` is the one that it is in now."""

    status: str


class LocksChanged(Struct, frozen=True, gc=False):
    """A thread of the broker holds or has released a lock that requests may need."""


class Unlocked(Struct, frozen=True, gc=False):
    """Requests that wait for a lock may be free to go on."""


class FetcherIdle(Struct, frozen=True, gc=False):
    """The last request of a fetcher without partitions has completed."""


class ControllerKnown(Struct, frozen=True, gc=False):
    """The broker has been told who the controller is; it may be the same as before."""


class RegistrationLost(Struct, frozen=True, gc=False):
    """The session with the broker's registration has expired, and the controller has resigned."""


class MetadataPublished(Struct, frozen=True, gc=False):
    """The process has applied the metadata log for the first time."""


class PartitionsDeleted(Struct, frozen=True, gc=False):
    """The broker has been told that topics with these partitions are deleted."""

    partitions: list[str]


class CoordinatorAsked(Struct, frozen=True, gc=False):
    """A leader asks its own broker, as the coordinator, about a transaction.

    ``number`` is that of the broker's own request.
    """

    number: int
    message: AddPartitionsToTxnRequest


Effect = (
    ProcessStarted
    | PortsChanged
    | ProcessEnded
    | LocksChanged
    | Unlocked
    | FetcherIdle
    | ControllerKnown
    | RegistrationLost
    | MetadataPublished
    | PartitionsDeleted
    | CoordinatorAsked
)
"""Everything that a part may carry out through :meth:`emulator.broker_context.BrokerContext`."""
