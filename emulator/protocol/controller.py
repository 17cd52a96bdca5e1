"""Messages between the controller and the brokers."""

from msgspec import Struct

from emulator.protocol.message import Detail, Message

DURING_DELETE = -2
"""The leader of a partition that is being deleted, in UpdateMetadata."""


class PartitionInfo(Struct, frozen=True, array_like=True, gc=False):
    """A partition's state as sent by the controller (LeaderAndIsr, UpdateMetadata).

    ``leader_recovery_state`` is 1 from an unclean election until the leader has recovered (3.2+,
    KIP-704).
    """

    leader: int
    leader_epoch: int
    isr: list[int]
    zk_version: int
    replicas: list[int]
    controller_epoch: int
    is_new: bool = False
    leader_recovery_state: int = 0


class LeaderAndIsrRequest(Message, frozen=True):
    """Tells a broker which partitions to lead and which to follow."""

    controller: int
    controller_epoch: int
    broker_epoch: int
    partitions: dict[str, PartitionInfo]
    live_brokers: list[int]

    def detail(self) -> Detail:
        """Leader and leader epoch of each partition."""
        return [[tp, p.leader, p.leader_epoch] for tp, p in self.partitions.items()]


class StopReplicaRequest(Message, frozen=True):
    """Tells a broker to stop replicas, and with ``delete`` to delete their logs.

    ``partitions`` maps each to its leader epoch.
    """

    controller: int
    controller_epoch: int
    broker_epoch: int
    partitions: dict[str, int]
    delete: bool

    def detail(self) -> Detail:
        return [[tp, epoch] for tp, epoch in self.partitions.items()]


class UpdateMetadataRequest(Message, frozen=True):
    """Sends a broker the live brokers and the partition metadata for clients.

    ``names_deleted``: the leader of some partitions may be ``DURING_DELETE``; brokers do not search
    for them otherwise.
    """

    controller: int
    controller_epoch: int
    broker_epoch: int
    live_brokers: list[int]
    partitions: dict[str, PartitionInfo]
    names_deleted: bool = False

    def detail(self) -> Detail:
        """Leader, leader epoch and version of the state znode of each partition."""
        return [[tp, p.leader, p.leader_epoch, p.zk_version] for tp, p in self.partitions.items()]


class ControlResponse(Message, frozen=True):
    """A broker's response to a controller request.

    It carries the error of the whole request and those of single partitions.
    """

    request: int
    broker: int
    error: str
    errors: dict[str, str]


class LeaderAndIsrResponse(ControlResponse, frozen=True):
    """The response to a :class:`LeaderAndIsrRequest`."""


class StopReplicaResponse(ControlResponse, frozen=True):
    """The response to a :class:`StopReplicaRequest`."""


class UpdateMetadataResponse(ControlResponse, frozen=True):
    """The response to an :class:`UpdateMetadataRequest`."""


class ControlledShutdownRequest(Message, frozen=True):
    """A broker that is shutting down asks the controller to move its leaders away."""

    broker: int
    broker_epoch: int


class ControlledShutdownResponse(Message, frozen=True):
    """The partitions that the broker still leads."""

    request: int
    error: str
    remaining: list[str]


class AlterIsrItem(Struct, frozen=True, array_like=True, gc=False):
    """One partition of an AlterPartition request.

    It contains the leader epoch, the requested ISR and the znode version (in KRaft mode: the
    partition epoch) known to the leader; in KRaft mode also the broker epochs of the members, -1 if
    unknown (KIP-903), and the topic's id (KIP-516).
    """

    leader_epoch: int
    isr: list[int]
    zk_version: int
    isr_epochs: list[int] = []
    topic_id: str = ""


class AlterPartitionRequest(Message, frozen=True):
    """A leader requests new ISRs from the controller (AlterIsr in 2.7, KIP-497)."""

    broker: int
    broker_epoch: int
    partitions: dict[str, AlterIsrItem]


class AlterPartitionResponse(Message, frozen=True):
    """The response to an :class:`AlterPartitionRequest`.

    A top-level error, or for each partition its error and its current state.
    """

    request: int
    error: str
    partitions: dict[str, tuple[str, PartitionInfo | None]]
