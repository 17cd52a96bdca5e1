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
    share_groups,
    statements,
    znodes,
)


def changes_nothing(_model: Model, _event: events.Event) -> None:
    """Do nothing: the event explains a change, but does not make one."""


HANDLERS: Final[Handlers] = {
    **dict.fromkeys(events.TYPES.values(), changes_nothing),
    **cached_states.HANDLERS,
    **brokers.HANDLERS,
    **clients.HANDLERS,
    **connections.HANDLERS,
    **groups.HANDLERS,
    **partitions.HANDLERS,
    **quorum.HANDLERS,
    **replicas.HANDLERS,
    **share_groups.HANDLERS,
    **statements.HANDLERS,
    **znodes.HANDLERS,
}
"""The handlers by event type. Other types are not events of this program."""
