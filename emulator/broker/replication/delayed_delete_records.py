"""DeleteRecords requests that wait for the followers (``kafka.server.DelayedDeleteRecords``).

Records are gone once no live replica has them: each follower tells the start of its log with its
fetches, and the response has the lowest of all, the low watermark.
"""

from msgspec import Struct

from emulator.broker.replication.fetch_session import FetchSessionsState
from emulator.broker.replication.purgatory import (
    DelayedOperation,
    DelayedOperationPurgatory,
    PurgatoryState,
)
from emulator.broker.replication.replica import LEADER, Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE, NOT_LEADER
from emulator.protocol import DeleteRecordsResponse
from emulator.replication.partition import StopLeading

TIMEOUT = "delete-records-timeout"
UNKNOWN = -1

Result = tuple[str, int]
"""An error, and the low watermark (-1 with an error that is not a timeout)."""


class Deletion(Struct, frozen=True, array_like=True, gc=False):
    """The result for one partition: an error, or the offset before which records are deleted.

    ``low_watermark`` is the one of that time: a request that times out returns it.
    """

    error: str
    offset: int = UNKNOWN
    low_watermark: int = UNKNOWN


class DelayedDeleteRecords(DelayedOperation, frozen=True):
    """A request whose records are deleted here."""

    deletions: dict[str, Deletion]


class DelayedDeletes:
    """Answers requests once the followers have deleted the records, too."""

    def __init__(
        self,
        context: BrokerContext,
        state: PurgatoryState,
        replicas: Replicas,
        sessions: FetchSessionsState,
    ) -> None:
        """Keep the requests waiting for ``replicas``; ``sessions`` know what followers fetch."""
        self.context = context
        self.replicas = replicas
        self.sessions = sessions
        self.purgatory = DelayedOperationPurgatory[DelayedDeleteRecords, dict[str, Result]](
            context,
            state,
            TIMEOUT,
            partitions=lambda delayed: delayed.deletions,
            try_complete=self._results,
            on_expiration=self._results_so_far,
            on_complete=self._respond,
        )

    def stopped_leading(self, replica: Replica, _effect: StopLeading) -> None:
        """Check the waiting requests: they end with the leadership."""
        self.purgatory.check_and_complete(replica.tp)

    def low_watermark(self, replica: Replica) -> int:
        """The lowest log start of the live replicas, as far as they have told it.

        Source: ``Partition.lowWatermarkIfLeader``.
        """
        live = self.context.process.live_brokers
        log_starts = [
            self.sessions.log_start_of(follower, replica.tp)
            for follower in replica.remotes
            if follower in live
        ]
        return min([replica.log_start, *log_starts])

    def _result(self, tp: str, deletion: Deletion) -> Result | None:
        """The result for a partition; None while a follower has the records."""
        if deletion.error != NONE:
            return deletion.error, UNKNOWN
        replica = self.replicas.get(tp)
        if replica is None or replica.role != LEADER:
            return NOT_LEADER, UNKNOWN
        low_watermark = self.low_watermark(replica)
        return (NONE, low_watermark) if low_watermark >= deletion.offset else None

    def _results(self, delayed: DelayedDeleteRecords) -> dict[str, Result] | None:
        results: dict[str, Result] = {}
        for tp, deletion in delayed.deletions.items():
            result = self._result(tp, deletion)
            if result is None:
                return None
            results[tp] = result
        return results

    def _results_so_far(self, delayed: DelayedDeleteRecords) -> dict[str, Result]:
        return {
            tp: self._result(tp, deletion) or ("REQUEST_TIMED_OUT", deletion.low_watermark)
            for tp, deletion in delayed.deletions.items()
        }

    def _respond(self, delayed: DelayedDeleteRecords, results: dict[str, Result]) -> None:
        response = DeleteRecordsResponse(delayed.request, results)
        self.context.respond(delayed.client, delayed.request, response)
