"""KRaft: controllers, the quorum's leader, the metadata log, and each host's position in it."""

from typing import Final

from emulator import events
from sessions.decoding import decode_object
from sessions.model.folding import Handlers, Model
from sessions.model.long_metadata_log import LongMetadataLog
from sessions.model.states import CommittedRecord, QuorumState

LONG_RECORDS: Final = 65_536
ELECTION: Final = "LeaderChange"
GONE: Final = ("stopped", "crashed")


def _quorum(model: Model) -> QuorumState:
    state = model.state
    if state.quorum is None:
        state.quorum = QuorumState()
    return state.quorum


def controller_state_changed(model: Model, event: events.ControllerStateChanged) -> None:
    """Update a controller's process; once it has ended, it is no longer the leader."""
    quorum = _quorum(model)
    quorum.controllers[event.controller] = event.state
    if event.state in GONE:
        quorum.applied.pop(event.controller, None)
        quorum.roles.pop(event.controller, None)
        if quorum.leader == event.controller:
            quorum.leader = None
    if event.state == "running":
        quorum.silent_us.pop(event.controller, None)
    else:
        quorum.silent_us.setdefault(event.controller, event.time_us)
    model.watch_authority()


def role_changed(model: Model, event: events.QuorumRoleChanged) -> None:
    """Update the quorum's leader: the one elected last, until it resigns."""
    quorum = _quorum(model)
    quorum.roles[event.controller] = event.role
    if event.role == "leader":
        quorum.leader, quorum.epoch, quorum.fetched = event.controller, event.epoch, {}
    elif event.controller == quorum.leader:
        quorum.leader = None
    model.watch_authority()


def progress_changed(model: Model, event: events.QuorumProgressChanged) -> None:
    """Update what the leader knows of a member; a former leader's knowledge is ignored."""
    quorum = _quorum(model)
    if event.controller == quorum.leader:
        quorum.fetched[event.replica] = event.end_offset


def record_committed(model: Model, event: events.MetadataRecordCommitted) -> None:
    """The log grows; a very long one is packed, since a real cluster's has millions of records."""
    quorum = _quorum(model)
    log = quorum.log
    log.append(
        CommittedRecord(
            event.offset, event.epoch, event.batch, event.kind, event.version, event.data
        )
    )
    if event.kind == ELECTION and event.data:
        quorum.led[elected(event.data)] = event.epoch
    if len(log) == LONG_RECORDS and isinstance(log, list):
        quorum.log = LongMetadataLog(log)


def elected(data: str) -> int:
    """Return the controller that a LeaderChange record names; -1 if it names none."""
    leader = decode_object(data).get("leaderId")
    return leader if isinstance(leader, int) else -1


def applied(model: Model, event: events.MetadataApplied) -> None:
    """Advance a host's applied offset."""
    _quorum(model).applied[event.host] = event.end_offset


def folder_moved(model: Model, event: events.ReplicaFolderMoved) -> None:
    """A broker renamed a replica's folder, or removed it."""
    names = list(_quorum(model).folders.get(event.broker, []))
    if event.exists:
        names.append(event.name)
    elif event.name in names:
        names.remove(event.name)
    _quorum(model).folders[event.broker] = names


def snapshot_taken(model: Model, event: events.MetadataSnapshotTaken) -> None:
    """Add a host's snapshot; a fetched snapshot replaces all others."""
    snapshots = _quorum(model).snapshots
    before = [] if event.reason == "fetched" else snapshots.get(event.host, [])
    snapshots[event.host] = [*before, (event.end_offset, event.epoch)]


def log_start_changed(model: Model, event: events.MetadataLogStartChanged) -> None:
    """Move a host's log start, and remove the snapshots before it."""
    quorum = _quorum(model)
    quorum.log_starts[event.host] = start = event.start_offset
    newer = [snapshot for snapshot in quorum.snapshots.get(event.host, []) if snapshot[0] >= start]
    quorum.snapshots[event.host] = newer


def statement_finished(model: Model, _event: events.InputFinished) -> None:
    """The first statement creates the cluster: when it finishes, the cluster is up."""
    quorum = model.state.quorum
    if quorum is not None and quorum.booted < 0:
        quorum.booted = quorum.log[-1].offset + 1 if quorum.log else 0


HANDLERS: Final[Handlers] = {
    events.ControllerStateChanged: controller_state_changed,
    events.QuorumRoleChanged: role_changed,
    events.QuorumProgressChanged: progress_changed,
    events.MetadataRecordCommitted: record_committed,
    events.MetadataApplied: applied,
    events.ReplicaFolderMoved: folder_moved,
    events.MetadataSnapshotTaken: snapshot_taken,
    events.MetadataLogStartChanged: log_start_changed,
    events.InputFinished: statement_finished,
}
