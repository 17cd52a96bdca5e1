"""Produce requests that wait for the high watermark (kafka.server.DelayedProduce)."""

from emulator.broker.replication.purgatory import (
    DelayedOperation,
    DelayedOperationPurgatory,
    PurgatoryState,
)
from emulator.broker.replication.replica import Replicas
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.protocol import ProduceResponse
from emulator.replication.partition import acks_all_error

TIMEOUT = "produce-timeout"


class DelayedProduce(DelayedOperation, frozen=True):
    """An acks=all request whose records end at ``required_offset``."""

    tp: str
    required_offset: int
    base_offset: int
    log_start: int
    append_time_ms: int


class DelayedProduces:
    """Answers acks=all requests once the HW reaches them, or once that cannot happen here."""

    def __init__(self, context: BrokerContext, state: PurgatoryState, replicas: Replicas) -> None:
        """Keep the requests waiting for ``replicas`` in ``state``."""
        self.context = context
        self.replicas = replicas
        self.purgatory = DelayedOperationPurgatory[DelayedProduce, str](
            context,
            state,
            TIMEOUT,
            partitions=lambda delayed: (delayed.tp,),
            try_complete=self._error,
            on_expiration=lambda _delayed: "REQUEST_TIMED_OUT",  # the records stay in the log
            on_complete=self._respond,
        )

    def _error(self, delayed: DelayedProduce) -> str | None:
        replicas, replica = self.replicas, self.replicas.by_name[delayed.tp]
        required = delayed.required_offset
        return acks_all_error(replica, required, replicas.rules, replicas.moment)

    def _respond(self, delayed: DelayedProduce, error: str) -> None:
        response = ProduceResponse(delayed.request, delayed.tp, error, -1)
        if error == NONE:
            response = ProduceResponse(
                delayed.request,
                delayed.tp,
                error,
                delayed.base_offset,
                delayed.log_start,
                delayed.append_time_ms,
            )
        self.context.respond(delayed.client, delayed.request, response)
