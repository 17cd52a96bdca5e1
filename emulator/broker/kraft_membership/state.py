"""The additional state of a broker in KRaft mode."""

from typing import Final

from msgspec import Struct, field

from emulator.broker.membership import ProducerIdBlock
from emulator.broker.replication.alter_partition_manager import AlterPartitionState
from emulator.metadata_log.image import MetadataImage
from emulator.protocol import AnyMessage
from emulator.raft.log import MetadataLog
from emulator.raft.state import QuorumState

STARTING: Final = "starting"
RECOVERY: Final = "recovery"
RUNNING: Final = "running"
PENDING_CONTROLLED_SHUTDOWN: Final = "pending controlled shutdown"
SHUTTING_DOWN: Final = "shutting down"


class Pending(Struct, array_like=True):
    """A request for the controller; ``source`` and ``client_request`` say whose it is (-1: own).

    It times out at ``deadline_us``.
    """

    message: AnyMessage
    deadline_us: int
    source: int = -1
    client_request: int = 0


class ChannelState(Struct, array_like=True):
    """Queued requests for the controller; ``request`` is the one in flight (0: none).

    ``controller`` is the presumed active controller (-1: unknown).
    """

    controller: int = -1
    request: int = 0
    queue: list[Pending] = field(default_factory=list)


class BrokerLifecycleState(Struct, array_like=True):
    """The state of the broker's lifecycle (``BrokerLifecycleManager``).

    ``previous_epoch`` is the epoch in the clean-shutdown file when the process started, ``epoch``
    the one of its registration with the controllers (0: not registered).
    ``failures`` counts consecutive failed attempts. ``ready``: it may be unfenced. ``ready_us``:
    when it may become ready, if it has to wait. ``shutdown_answered``: the controller knows that it
    wants to shut down.
    """

    state: str = STARTING
    incarnation: str = ""
    previous_epoch: int = -1
    epoch: int = 0
    failures: int = 0
    ready: bool = False
    shutdown_answered: bool = False
    ready_us: int = 0


class KRaftMembershipState(Struct, array_like=True, tag="kraft"):
    """A broker's knowledge and pending requests in KRaft mode.

    On disk are the log in ``quorum``, ``topic_ids`` (the partition.metadata file of each replica),
    ``folders`` (the renamed ones by name, with the times in microseconds at which they are removed;
    0: never) and ``clean_shutdown_epoch`` (the broker epoch in the clean-shutdown file; -1 if there
    is no such file). ``directory`` is the log directory: the number of disks that it had before.
    ``image`` is the metadata applied so far, ``unassigned`` are the replicas (topic id and number)
    which the controller does not know to be in the directory.
    """

    quorum: QuorumState = field(default_factory=QuorumState)
    topic_ids: dict[str, str] = field(default_factory=dict)
    folders: dict[str, list[int]] = field(default_factory=dict)
    clean_shutdown_epoch: int = -1
    image: MetadataImage = field(default_factory=MetadataImage)
    published: bool = False
    lifecycle: BrokerLifecycleState = field(default_factory=BrokerLifecycleState)
    heartbeats: ChannelState = field(default_factory=ChannelState)
    forwarding: ChannelState = field(default_factory=ChannelState)
    producer_ids: ChannelState = field(default_factory=ChannelState)
    block: ProducerIdBlock = field(default_factory=ProducerIdBlock)
    alter_partition: AlterPartitionState = field(default_factory=AlterPartitionState)
    waits_for_ids: list[tuple[int, int]] = field(default_factory=list)
    directory: int = 0
    unassigned: list[tuple[str, int]] = field(default_factory=list)
    assignments: ChannelState = field(default_factory=ChannelState)

    def replace_disk(self) -> None:
        """Discard what is on disk."""
        reset(self.quorum.log, MetadataLog())
        reset(self.quorum, QuorumState(self.quorum.log))
        self.topic_ids.clear()
        self.folders.clear()
        self.clean_shutdown_epoch = -1
        self.directory += 1

    def end_process(self) -> None:
        """Discard what is not on disk."""
        self.quorum.end_process()
        fresh = KRaftMembershipState()
        self.image, self.published = fresh.image, False
        self.waits_for_ids, self.unassigned = [], []
        reset(self.lifecycle, fresh.lifecycle)
        reset(self.block, fresh.block)
        reset(self.alter_partition, fresh.alter_partition)
        for channel in (self.heartbeats, self.forwarding, self.producer_ids, self.assignments):
            reset(channel, ChannelState())


def reset(state: Struct, fresh: Struct) -> None:
    """Overwrite a struct in place with the fields of ``fresh``, keeping references to it valid."""
    for name in state.__struct_fields__:
        setattr(state, name, getattr(fresh, name))
