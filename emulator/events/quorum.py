"""KRaft: the quorum of controllers, and its metadata log."""

from emulator.events.base import Event


class ControllerStateChanged(Event, frozen=True, gc=False):
    """A controller's process changed to ``running``, ``frozen``, ``stopped`` or ``crashed``."""

    controller: int
    state: str


class QuorumRoleChanged(Event, frozen=True, gc=False):
    """A controller took a role in the quorum.

    ``role`` is ``unattached``, ``follower``, ``prospective``, ``candidate``, ``leader`` or
    ``resigned``; ``leader`` is the leader that it knows of in ``epoch`` (-1: none).
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
    """A record of the metadata log was committed and is final.

    ``kind`` is Kafka's name for it without "Record", ``data`` its fields as JSON by Kafka's names,
    with topics by name and broker epochs as ``ID.N`` (the Nth registration of that broker). Records
    with the same ``batch`` (the offset of its first record) were written atomically. NoOpRecords
    emit no event.
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
    """A broker or a controller wrote or fetched a snapshot of the metadata log (KIP-630).

    It replaces all records before ``end_offset``, the last of which has ``epoch``. ``reason`` is
    ``bytes`` or ``time``, the limit that made the host write it
    (metadata.log.max.record.bytes.between.snapshots, metadata.log.max.snapshot.interval.ms), or
    ``fetched``: it was fetched from the quorum's leader, whose log no longer had the records that
    the host needed.
    """

    host: int
    end_offset: int
    epoch: int
    size_bytes: int
    reason: str


class MetadataLogStartChanged(Event, frozen=True, gc=False):
    """A host's metadata log now starts at ``start_offset``, where its oldest snapshot ends."""

    host: int
    start_offset: int


class ReplicaFolderMoved(Event, frozen=True, gc=False):
    """A broker renamed the folder of a replica that it should not have, or deleted that folder.

    ``name`` is the folder's, with its suffix ``-delete`` or ``-stray``, without the random part;
    ``exists`` is False once the folder is deleted.
    """

    broker: int
    name: str
    exists: bool
