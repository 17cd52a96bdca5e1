"""The read model as far as the result of a run needs it, for runs that print nothing else.

Who believes what, ZooKeeper's tree and messages make up more than half of what happens in a large
cluster, and no result says anything of them. The rest is folded as everywhere.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from emulator import events
from sessions.model.cluster_view import ClusterView
from sessions.model.folding import Handlers
from sessions.model.handlers import (
    brokers,
    clients,
    partitions,
    quorum,
    replicas,
    statements,
    znodes,
)

UNSAID: Final = (
    events.BookmarkSet,
    events.IsrChanged,
    events.MessageHeld,
    events.MessageLost,
    events.MessageReleased,
    events.MessageSent,
)
"""Events that change only what no result says."""

HANDLERS: Final[Handlers] = {
    kind: handler
    for kind, handler in {
        **brokers.HANDLERS,
        **clients.HANDLERS,
        **partitions.HANDLERS,
        **quorum.HANDLERS,
        **replicas.HANDLERS,
        **statements.HANDLERS,
        **znodes.SAYING,
    }.items()
    if kind not in UNSAID
}
"""By type of event, as in :mod:`sessions.model.handlers.table`."""


class ResultView(ClusterView):
    """A view of brokers, controller, partitions, clients and audit: what a result says.

    Give each event to the observer :attr:`by_type`, and tell it now and then how far things have
    come (:meth:`come_to`).
    """

    def __init__(self) -> None:
        super().__init__()
        self._handlers = HANDLERS

    def believers_changed(self) -> None:
        """Do nothing: cached states are not kept."""
        self.believers = ()

    @property
    def by_type(self) -> dict[type[events.Event], Callable[[events.Event], None]]:
        """The handler of each type of event; events of other types are ignored."""
        return {kind: partial(handler, self) for kind, handler in HANDLERS.items()}

    def come_to(self, seq: int, time_us: int) -> None:
        """All that concerns it has been taken, up to event ``seq``."""
        self.state.seq = seq
        self.state.time_us = time_us
