"""How much each event matters: the traffic of every day, a change, or a fault."""

from typing import Final

from emulator import events
from emulator.events import Event

TRAFFIC: Final = 0
"""Level of routine traffic: messages, fetches, appends."""
CHANGE: Final = 1
"""Level of what changes the cluster's state."""
FAULT: Final = 2
"""Level of what goes wrong, or is broken on purpose."""

LEVELS: Final[dict[type[Event], int]] = {
    events.InputFinished: TRAFFIC,
    events.MessageSent: TRAFFIC,
    events.MessageLost: TRAFFIC,
    events.RecordsAppended: TRAFFIC,
    events.HighWatermarkChanged: TRAFFIC,
    events.RemoteLogEndOffsetChanged: TRAFFIC,
    events.HighWatermarksCheckpointed: TRAFFIC,
    events.RecoveryPointsCheckpointed: TRAFFIC,
    events.RecordsRead: TRAFFIC,
    events.PartitionCached: TRAFFIC,
    events.MetadataUpdated: TRAFFIC,
    events.ProduceSent: TRAFFIC,
    events.ProduceAcknowledged: TRAFFIC,
    events.RecordsConsumed: TRAFFIC,
    events.GroupRecordsWritten: TRAFFIC,
    events.OffsetCommitted: TRAFFIC,
    events.TransactionRecordWritten: TRAFFIC,
    events.TransactionMarkerWritten: TRAFFIC,
    events.LastStableOffsetChanged: TRAFFIC,
    events.ClientRequestReceived: TRAFFIC,
    events.ClientResponseSent: TRAFFIC,
    events.QuorumProgressChanged: TRAFFIC,
    events.MetadataApplied: TRAFFIC,
    events.LogTruncated: FAULT,
    events.ElectionFailed: FAULT,
    events.ProduceFailed: FAULT,
    events.ConsumerTruncationDetected: FAULT,
    events.AuditChanged: FAULT,
    events.InvariantViolated: FAULT,
}
"""The usual level of the classes of events that are not usually changes."""
OF_CLIENT: Final = "client "
"""The prefix of inputs from external clients; no statement starts with it."""
BROKEN_STATES: Final = frozenset({"crashed", "frozen", "stopped"})


def level_of(event: Event) -> int:
    """The level of an event; for some classes it depends on their values."""
    match event:
        case events.BrokerStateChanged(state=state) | events.ControllerStateChanged(state=state):
            return FAULT if state in BROKEN_STATES else CHANGE
        case events.ExpectationChecked(passed=False) | events.SessionEnded(reason="expired"):
            return FAULT
        case events.LinkChanged(cut=cut, drop_percent=percent, holding=holding):
            return FAULT if cut or percent or holding else CHANGE
        case events.PartitionStateChanged(leader=-1) | events.LeaderElected(strategy="Unclean"):
            return FAULT
        case events.InputReceived(text=text) if text.startswith(OF_CLIENT):
            return TRAFFIC
        case events.InputFinished(error=error) if error != "NONE":
            return CHANGE
        case (
            events.AuditChanged(lost=[], duplicated=[], diverged=[], consumed_lost=[])
            | events.ClientResponseSent(errors=[_, *_])
        ):
            return CHANGE
        case _:
            return LEVELS.get(type(event), CHANGE)
