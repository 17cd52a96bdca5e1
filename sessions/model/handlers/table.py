"""One table: what each type of event does to the read model."""

from typing import Final

from emulator import events
from sessions.model.folding import Handlers, Model
from sessions.model.handlers import (
    brokers,
    cached_states,
    clients,
    connections,
    groups,
    partitions,
    quorum,
    replicas,
    statements,
    znodes,
)


def changes_nothing(_model: Model, _event: events.Event) -> None:
    """Do nothing: the event explains a change, but does not make one."""


HANDLERS: Final[Handlers] = {
    **cached_states.HANDLERS,
    **brokers.HANDLERS,
    **clients.HANDLERS,
    **connections.HANDLERS,
    **groups.HANDLERS,
    **partitions.HANDLERS,
    **quorum.HANDLERS,
    **replicas.HANDLERS,
    **statements.HANDLERS,
    **znodes.HANDLERS,
    events.AssignmentChanged: changes_nothing,
    events.ControllerResigned: changes_nothing,
    events.ElectionFailed: changes_nothing,
    events.ElectionHeld: changes_nothing,
    events.RequestRefused: changes_nothing,
    events.ZooKeeperRefused: changes_nothing,
    events.InputReceived: changes_nothing,
    events.IsrChangeStarted: changes_nothing,
    events.ConsumerTruncationDetected: changes_nothing,
    events.RecordsRead: changes_nothing,
    events.TimerFired: changes_nothing,
    events.TransactionStateChanged: changes_nothing,
    events.TransactionsLoaded: changes_nothing,
    events.WatchFired: changes_nothing,
}
"""The handlers by event type. Other types are not events of this program."""
