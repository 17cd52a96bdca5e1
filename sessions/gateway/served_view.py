"""The result of a served cluster: counted as it happens, with values looked up when asked for."""

from collections.abc import Callable
from functools import partial

from emulator import events
from emulator.storage.record_ledger import RecordLedger
from sessions.gateway.ledger_batches import LedgerBatches
from sessions.model.handlers import connections, groups
from sessions.model.handlers.clients import NAMING, sent
from sessions.model.result_view import ResultView


class ServedView(ResultView):
    """A :class:`ResultView` that knows connections and groups too.

    It keeps no batches: the cluster's own ledger has what they were.
    """

    def look_in(self, ledger: RecordLedger) -> None:
        """Find the values of records in ``ledger``."""
        self.older_batches = LedgerBatches(ledger).batch

    @property
    def by_type(self) -> dict[type[events.Event], Callable[[events.Event], None]]:
        """The handler of each type of event."""
        handlers = super().by_type
        for kind, handler in {**connections.HANDLERS, **groups.HANDLERS}.items():
            handlers[kind] = partial(handler, self)
        for kind in NAMING:
            handlers.pop(kind)
        handlers[events.ProduceSent] = partial(sent, self)
        return handlers
