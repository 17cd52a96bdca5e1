"""The KRaft part of a cluster's state: controllers, brokers' members, committed metadata."""

from msgspec import Struct, field

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import AnyRecord
from emulator.metadata_log.shown import LogNames
from emulator.protocol import AnyMessage
from emulator.quorum_controller.state import ControllerState
from emulator.raft.state import QuorumState
from emulator.simulation.timers import TimerState


class Deferred(Struct, array_like=True):
    """A response to be sent once the log is committed up to ``offset``."""

    offset: int
    destination: int
    request: int
    response: AnyMessage


class ControllerProcess(Struct, array_like=True):
    """One controller's process; the log and the vote in ``quorum`` are on disk.

    A standby keeps ``image``, built from the records it knows to be committed. The active
    controller keeps ``active`` instead, which includes uncommitted records. ``unwritten`` are
    records waiting to be appended together, ``deferred`` responses waiting for the commit. ``told``
    is the progress emitted for each quorum member, ``last_record`` the offset of the last record
    that is not a no-op.
    """

    id: int
    status: str = "stopped"
    timers: TimerState = field(default_factory=TimerState)
    quorum: QuorumState = field(default_factory=QuorumState)
    incarnation: str = ""
    image: MetadataImage = field(default_factory=MetadataImage)
    active: ControllerState | None = None
    unwritten: list[AnyRecord] = field(default_factory=list)
    deferred: list[Deferred] = field(default_factory=list)
    told: dict[int, int] = field(default_factory=dict)
    last_record: int = -1


class CommittedMetadata(Struct, array_like=True):
    """The committed log as seen from outside; no component of the cluster reads it.

    ``epoch`` is that of the last committed record.
    """

    image: MetadataImage = field(default_factory=MetadataImage)
    names: LogNames = field(default_factory=LogNames)
    epoch: int = 0
