"""KRaft: the quorum of controllers, and its metadata log."""

from emulator.events import fields
from emulator.events.base import BROKEN_STATES, CHANGE, FAULT, TRAFFIC, Attribute, Event, Row
from emulator.events.fields import Touched


class ControllerStateChanged(
    Event,
    frozen=True,
    label="CTRL",
    row=Row("faults", kind="controller", broker=Attribute("controller")),
):
    """A controller's process changed to ``running``, ``frozen``, ``stopped`` or ``crashed``."""

    controller: Touched[fields.Controller]
    state: fields.State

    @property
    def level(self) -> int:
        """A fault if the process is no longer running."""
        return FAULT if self.state in BROKEN_STATES else CHANGE


class QuorumRoleChanged(Event, frozen=True, label="QUORUM", row=Row("quorum_roles")):
    """A controller took a role in the quorum.

    ``role`` is ``unattached``, ``follower``, ``prospective``, ``candidate``, ``leader`` or
    ``resigned``; ``leader`` is the leader that it knows of in ``epoch`` (-1: none).
    """

    controller: Touched[fields.Controller]
    role: fields.Role
    epoch: fields.Epoch
    leader: fields.Leader


class QuorumProgressChanged(Event, frozen=True, label="QUORUM", level=TRAFFIC):
    """The quorum's leader learned how far a voter or an observer (a broker) has fetched the log."""

    controller: fields.Controller
    replica: fields.Replica
    end_offset: fields.EndOffset


class MetadataRecordCommitted(Event, frozen=True, label="RECORD"):
    """A record of the metadata log was committed and is final.

    ``kind`` is Kafka's name for it without "Record", ``data`` its fields as JSON by Kafka's names,
    with topics by name and broker epochs as ``ID.N`` (the Nth registration of that broker). Records
    with the same ``batch`` (the offset of its first record) were written atomically. NoOpRecords
    emit no event.
    """

    offset: fields.Offset
    epoch: fields.Epoch
    batch: fields.Batch
    kind: fields.Kind
    version: fields.Version
    data: fields.RecordData


class MetadataApplied(Event, frozen=True, label="APPLY", level=TRAFFIC):
    """A broker or a standby controller has applied the committed log up to ``end_offset``."""

    host: fields.HostId
    end_offset: fields.EndOffset


class MetadataSnapshotTaken(Event, frozen=True, label="SNAP"):
    """A broker or a controller wrote or fetched a snapshot of the metadata log (KIP-630).

    It replaces all records before ``end_offset``, the last of which has ``epoch``. ``reason`` is
    ``bytes`` or ``time``, the limit that made the host write it
    (metadata.log.max.record.bytes.between.snapshots, metadata.log.max.snapshot.interval.ms), or
    ``fetched``: it was fetched from the quorum's leader, whose log no longer had the records that
    the host needed.
    """

    host: Touched[fields.HostId]
    end_offset: fields.EndOffset
    epoch: fields.Epoch
    size_bytes: int
    reason: fields.Reason


class MetadataLogStartChanged(Event, frozen=True, label="START"):
    """A host's metadata log now starts at ``start_offset``, where its oldest snapshot ends."""

    host: Touched[fields.HostId]
    start_offset: fields.StartOffset


class ReplicaFolderMoved(Event, frozen=True, label="FOLDER"):
    """A broker renamed the folder of a replica that it should not have, or deleted that folder.

    ``name`` is the folder's, with its suffix ``-delete`` or ``-stray``, without the random part;
    ``exists`` is False once the folder is deleted.
    """

    broker: Touched[fields.BrokerId]
    name: fields.Name
    exists: fields.Exists
