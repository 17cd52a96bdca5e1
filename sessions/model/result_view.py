"""The read model as far as the result of a run needs it, for runs that print nothing else.

Who believes what, ZooKeeper's tree and messages make up more than half of what happens in a large
cluster, and no result says anything of them. The rest is folded as everywhere.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from emulator import events
from emulator.storage.record_ledger import RecordLedger
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
from sessions.model.ledger_batches import LedgerBatches
from sessions.model.states import PartitionState

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
    come (:meth:`come_to`). It keeps no batches: the cluster's own ledger has what they were.
    """

    def __init__(self) -> None:
        self._unjudged: dict[str, None] = {}
        super().__init__()
        self._handlers = HANDLERS

    def judge(self, tp: str, partition: PartitionState) -> None:
        """Judge the partition at :meth:`come_to`: it changes several times while it is created."""
        self._unjudged[tp] = None

    def believers_changed(self) -> None:
        """Do nothing: cached states are not kept."""
        self.believers = ()

    @property
    def by_type(self) -> dict[type[events.Event], Callable[[events.Event], None]]:
        """The handler of each type of event; events of other types are ignored."""
        handlers: dict[type[events.Event], Callable[[events.Event], None]] = {
            kind: partial(handler, self)
            for kind, handler in HANDLERS.items()
            if kind not in clients.NAMING
        }
        handlers[events.ProduceSent] = partial(clients.sent, self)
        return handlers

    def look_in(self, ledger: RecordLedger) -> None:
        """Find the values of records in ``ledger``."""
        self.older_batches = LedgerBatches(ledger).batch

    def come_to(self, seq: int, time_us: int) -> None:
        """All that concerns it has been taken, up to event ``seq``."""
        self.state.seq = seq
        self.state.time_us = time_us
        unjudged, self._unjudged = self._unjudged, {}
        for tp in unjudged:
            if (partition := self.partitions.get(tp)) is not None:
                super().judge(tp, partition)
