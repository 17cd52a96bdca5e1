"""How a broker belongs to a cluster: what any membership does, and what any of them needs.

A membership connects a broker's core to ZooKeeper, to a quorum of controllers, or to both. The core
asks it about the cluster through :class:`emulator.broker_context.ClusterMetadata`, and for
producers' ids through :class:`ProducerIdSource`. How a change of an ISR is stored is the reaction
of one of its parts to :class:`emulator.replication.partition.ProposeIsr`.

Source of the block of producer ids: ``ProducerIdsBlock``, ``ProducerIdManager`` 0.11 to 4.1
(KIP-98, KIP-730).
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, Protocol

from msgspec import Struct

from emulator.common.acls import Acl
from emulator.protocol import ConnectionLost, InitProducerIdRequest

Handler = Callable[[int, int, Any], object]
"""Handles a message of one type: its source, its number, and the message."""
Task = Callable[[], None]
"""Runs when a timer is due."""


class Membership(Protocol):
    """How a broker belongs to a cluster."""

    @property
    def acls(self) -> Collection[Acl]:
        """The access control entries that the broker knows."""

    @property
    def handles_administration(self) -> bool:
        """Whether the broker handles requests for the controller, or passes them on."""

    def parts(self) -> Iterable[object]:
        """Its parts, which may react to effects."""

    def requests(self) -> dict[type, Handler]:
        """The messages that it handles, beside those of the core."""

    def tasks(self) -> dict[str, Task]:
        """Its timers."""

    def start(self) -> None:
        """Start the process."""

    def stop(self) -> None:
        """Begin a controlled shutdown."""

    def thaw(self) -> None:
        """Continue after a freeze, before the messages that were received meanwhile."""

    def connection_lost(self, message: ConnectionLost) -> None:
        """Handle a lost connection to a controller, to ZooKeeper, or to another broker."""

    def replace_disk(self) -> None:
        """Discard what it keeps on the disk of a process that is down."""

    def end_process(self) -> None:
        """Discard what is not on disk."""


class ProducerIdSource(Protocol):
    """Allocates producers' ids."""

    def give_out(self, source: int, request: int, message: InitProducerIdRequest) -> None:
        """Answer a request for an id, now or once there is one."""


def reset(state: Struct, fresh: Struct) -> None:
    """Overwrite a struct in place with the fields of ``fresh``, keeping references to it valid."""
    for name in state.__struct_fields__:
        now, new = getattr(state, name), getattr(fresh, name)
        if isinstance(now, Struct) and isinstance(new, Struct):
            reset(now, new)
        else:
            setattr(state, name, new)


BLOCK_SIZE: Final = 1_000
PREFETCH_LEFT: Final = 99
"""The following block is asked for when the id is given that leaves so many."""
FIRST_EPOCH: Final = 0


class ProducerIdBlock(Struct, array_like=True):
    """The rest of the broker's block: the next id and the last one; -1 if it is used up.

    ``following`` is the first id of the block after it, -1 if there is none yet.
    """

    next: int = -1
    last: int = -1
    following: int = -1

    def add(self, start: int) -> None:
        """Add the block that begins with the id ``start``."""
        if self.next >= 0:
            self.following = start
        else:
            self.next, self.last = start, start + BLOCK_SIZE - 1

    def claim(self) -> int:
        """Return the next id; -1 if there is none."""
        producer_id = self.next
        self.next = producer_id + 1 if 0 <= producer_id < self.last else -1
        if self.next < 0 <= self.following:
            start, self.following = self.following, -1
            self.add(start)
        return producer_id

    def is_low(self, producer_id: int) -> bool:
        """Whether ``producer_id`` is the id at which the following block is asked for."""
        return producer_id >= 0 and self.last - producer_id == PREFETCH_LEFT
