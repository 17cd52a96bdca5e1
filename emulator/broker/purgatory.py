"""Produce requests that wait for the high watermark (kafka.server.DelayedProduce).

Parked fetches wait in their sessions (:mod:`emulator.broker.fetch_session`); both have their
deadlines from :class:`emulator.simulation.timers.Timers`.
"""

from msgspec import Struct, field

from emulator.broker.replica import Replica
from emulator.broker_context import BrokerContext
from emulator.protocol import ProduceResponse
from emulator.protocol.errors import NONE

TIMEOUT = "produce-timeout"


class DelayedProduce(Struct, array_like=True, gc=False):
    """An acks=all request that waits for the HW to reach ``required_offset``."""

    request: int
    client: int
    required_offset: int
    base_offset: int


class PurgatoryState(Struct, array_like=True):
    """What waits, by partition, oldest first."""

    produces: dict[str, list[DelayedProduce]] = field(default_factory=dict)


class Purgatory:
    """Answers acks=all requests when the HW has reached them, or when that fails."""

    def __init__(self, context: BrokerContext, state: PurgatoryState) -> None:
        """Keep what waits in ``state``."""
        self.context = context
        self.state = state

    def wait(self, tp: str, delayed: DelayedProduce, timeout_us: int) -> None:
        """Let a request wait, at most for ``timeout_us``."""
        self.state.produces.setdefault(tp, []).append(delayed)
        timers = self.context.timers
        timers.set_deadline(TIMEOUT, delayed.request, self.context.kernel.now + timeout_us)

    def complete(self, replica: Replica, error: str) -> None:
        """Answer the requests that the HW has reached.

        Source: Partition.checkEnoughReplicasReachOffset.
        """
        waiting = self.state.produces.get(replica.tp)
        if waiting is None:
            return
        high_watermark = replica.high_watermark
        done = [each for each in waiting if each.required_offset <= high_watermark]
        if done:
            self._keep(replica.tp, [w for w in waiting if w.required_offset > high_watermark])
            self._answer(replica.tp, done, error)

    def fail(self, replica: Replica, error: str) -> None:
        """Answer all requests that wait for a partition with an error."""
        self._answer(replica.tp, self.state.produces.pop(replica.tp, []), error)

    def expire(self) -> None:
        """Answer those whose time has run out with REQUEST_TIMED_OUT.

        Their records stay in the log.
        """
        late = set(self.context.timers.overdue(TIMEOUT))
        for tp, waiting in list(self.state.produces.items()):
            expired = [each for each in waiting if each.request in late]
            if expired:
                self._keep(tp, [each for each in waiting if each.request not in late])
                self._answer(tp, expired, "REQUEST_TIMED_OUT")

    def _keep(self, tp: str, waiting: list[DelayedProduce]) -> None:
        if waiting:
            self.state.produces[tp] = waiting
        else:
            del self.state.produces[tp]

    def _answer(self, tp: str, done: list[DelayedProduce], error: str) -> None:
        for each in done:
            self.context.timers.clear_deadline(TIMEOUT, each.request)
            base = each.base_offset if error == NONE else -1
            response = ProduceResponse(each.request, tp, error, base)
            self.context.respond(each.client, each.request, response)
