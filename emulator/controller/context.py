"""What the broker that holds the controller's office remembers.

Its own cache of ZooKeeper, and its queues to the brokers.
"""

from typing import TYPE_CHECKING

from msgspec import Struct, field

from emulator.protocol import (
    LeaderAndIsrRequest,
    PartitionInfo,
    StopReplicaRequest,
    UpdateMetadataRequest,
)

if TYPE_CHECKING:
    from emulator.controller.controller import Controller

NON_EXISTENT = "NonExistentPartition"
NEW = "NewPartition"
ONLINE = "OnlinePartition"
OFFLINE = "OfflinePartition"

ControlRequest = LeaderAndIsrRequest | StopReplicaRequest | UpdateMetadataRequest


class Channel(Struct, array_like=True):
    """The queue to one broker; ``request`` is the one under way (0: none), sent at ``sent_us``."""

    queue: list[ControlRequest] = field(default_factory=list)
    request: int = 0
    sent_us: int = 0


class Move(Struct, array_like=True):
    """A reassignment under way: the replicas there were, and those there shall be."""

    original: list[int]
    target: list[int]


class Deletion(Struct, array_like=True):
    """A topic on its way out.

    ``retried`` are its replicas (``t-0@2``) on dead brokers that were looked at again since they
    died: until their brokers return there is nothing more to be done about them.
    """

    retried: dict[str, None] = field(default_factory=dict)


class ControllerState(Struct, array_like=True):
    """The controller's cache. ``live`` maps broker ids to their registration epochs.

    ``partitions`` holds the state of each, ``replicas`` that of those (``t-0@2``) that are not
    simply online (see :mod:`emulator.controller.replica_state_machine`).
    """

    epoch: int
    epoch_zk_version: int
    live: dict[int, int] = field(default_factory=dict)
    shutting_down: dict[int, None] = field(default_factory=dict)
    assignments: dict[str, list[int]] = field(default_factory=dict)
    infos: dict[str, PartitionInfo] = field(default_factory=dict)
    partitions: dict[str, str] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    reassigning: dict[str, Move] = field(default_factory=dict)
    deleting: dict[str, Deletion] = field(default_factory=dict)
    replicas: dict[str, str] = field(default_factory=dict)


class Controllership(Struct, array_like=True):
    """The controller's cache while this broker is (or believes to be) the controller."""

    state: ControllerState | None = None


class Part:
    """One part of the work of the broker that is, or may become, the controller."""

    def __init__(self, controller: "Controller") -> None:
        """Act for ``controller``."""
        self.controller = controller
        self.context = controller.context
        self.controllership = controller.controllership
        self.world = controller.world
        self.kernel = controller.world.kernel
        self.profile = controller.world.profile

    @property
    def state(self) -> ControllerState:
        """The cache of the controller, which must be in office."""
        state = self.controllership.state
        assert state is not None
        return state

    def asks_anew(self, kind: str) -> bool:
        """Whether a change of a znode under /admin counts: from 1.1 only that it is there again."""
        return kind == "NodeCreated" or self.profile.has("admin_requests_data_watched")
