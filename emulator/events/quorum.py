"""KRaft: the quorum of controllers, and the metadata log that it commits."""

from emulator.events.base import Event


class ControllerStateChanged(Event, frozen=True, gc=False):
    """A controller's process is ``running``, ``frozen``, ``stopped`` or ``crashed``."""

    controller: int
    state: str


class QuorumRoleChanged(Event, frozen=True, gc=False):
    """A controller took a role in the quorum.

    ``role`` is ``unattached``, ``follower``, ``prospective``, ``candidate``, ``leader`` or
    ``resigned``; ``leader`` is whom it takes for the leader in ``epoch`` (-1: nobody).
    """

    controller: int
    role: str
    epoch: int
    leader: int


class QuorumProgressChanged(Event, frozen=True, gc=False):
    """The quorum's leader learned how far a voter or an observer (a broker) has fetched the log."""

    controller: int
    replica: int
    end_offset: int


class MetadataRecordCommitted(Event, frozen=True, gc=False):
    """A record of the metadata log is committed: whatever happens, it stays.

    ``kind`` is Kafka's name for it without "Record", ``data`` its fields as JSON by Kafka's names,
    with topics by name and broker epochs as ``ID.N`` (the Nth registration of that broker). Records
    with one ``batch`` (the offset of its first) were written together. NoOpRecords are not stated.
    """

    offset: int
    epoch: int
    batch: int
    kind: str
    version: int
    data: str


class MetadataApplied(Event, frozen=True, gc=False):
    """A broker or a standby controller has applied the committed log up to ``end_offset``."""

    host: int
    end_offset: int


class MetadataSnapshotTaken(Event, frozen=True, gc=False):
    """A broker or a controller has a snapshot of the metadata log (KIP-630).

    It stands for all records before ``end_offset``, the last of which is of ``epoch``. ``reason``
    is ``bytes`` or ``time``, which were enough for the host to write it
    (metadata.log.max.record.bytes.between.snapshots, metadata.log.max.snapshot.interval.ms), or
    ``fetched``: it came from the quorum's leader, whose log no longer had what the host lacked.
    """

    host: int
    end_offset: int
    epoch: int
    size_bytes: int
    reason: str


class MetadataLogStartChanged(Event, frozen=True, gc=False):
    """A host's metadata log now begins at ``start_offset``, where its oldest snapshot ends."""

    host: int
    start_offset: int


class ReplicaFolderMoved(Event, frozen=True, gc=False):
    """A broker renamed the folder of a replica that it is not to have, or removed it for good.

    ``name`` is the folder's, with ``-delete`` or ``-stray`` at its end and without the random part;
    ``exists`` is False when it is gone.
    """

    broker: int
    name: str
    exists: bool
