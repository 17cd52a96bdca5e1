"""The locks that a broker's threads hold while they wait, and the requests blocked by them.

A partition's lock is held while its leader waits for ZooKeeper (``Partition.leaderIsrUpdateLock``):
up to 2.6 a leader stores ISR changes itself, under the partition's write lock. If ZooKeeper does
not respond, the thread keeps waiting with the lock held, and blocks every operation that needs the
lock for reading or writing: producers' records, fetches, and the controller's requests that would
end its leadership.

Other locks are held while idle fetchers are shut down: up to 1.0 this waits for the last response
to each, and blocks the controller's next requests.

As long as no thread waits this costs nothing: a broker checks only while a lock is held.

Source: ``Partition.maybeShrinkIsr``, ``maybeExpandIsr`` and ``appendRecordsToLeader`` 0.8 to 2.6,
``ReplicaManager.replicaStateChangeLock``, ``AbstractFetcherManager.shutdownIdleFetcherThreads``.
"""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field

from emulator.broker_context import BrokerContext
from emulator.broker_effects import LocksChanged
from emulator.protocol import (
    AnyMessage,
    FetchRequest,
    FetchResponse,
    LeaderAndIsrRequest,
    ListOffsetsRequest,
    OffsetsForLeaderEpochRequest,
    ProduceRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from emulator.replication.partition import EXPAND, SHRINK, ProposeIsr

STATE_CHANGES = (LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest)
"""The controller's requests, which a broker handles one at a time (replicaStateChangeLock)."""
BEHIND_LOCKS = (
    ProduceRequest,
    FetchRequest,
    ListOffsetsRequest,
    OffsetsForLeaderEpochRequest,
    *STATE_CHANGES,
)
"""Requests that may need a partition's lock."""

MAP = "AbstractFetcherManager.mapLock"
"""Held after a StopReplica was answered: it blocks starting and stopping fetchers."""
STATE_CHANGE = "ReplicaManager.replicaStateChangeLock"
"""Held before a LeaderAndIsr is answered: it blocks all further requests of controllers."""

Waiting = tuple[int, int, AnyMessage]
"""The source of a request, its number, and the request."""


class LocksState(Struct, array_like=True):
    """Held locks and the requests waiting for them; lost when the process ends.

    ``held`` maps each locked partition to its ISR change, in the order of locking. ``fetchers`` is
    the lock held while idle fetchers are shut down (up to 1.0): MAP or STATE_CHANGE; empty if none.
    ``responses`` are fetches that were read but whose handler thread waits: follower and response
    by request.
    """

    held: dict[str, ProposeIsr] = field(default_factory=dict)
    fetchers: str = ""
    waiting: list[Waiting] = field(default_factory=list)
    responses: dict[int, tuple[int, FetchResponse]] = field(default_factory=dict)


class PartitionLocks:
    """The locks that a broker's threads hold while they wait for ZooKeeper."""

    def __init__(
        self,
        context: BrokerContext,
        state: LocksState,
        session_partitions: Callable[[int], Mapping[str, object]],
    ) -> None:
        """Keep the waiting requests in ``state``.

        ``session_partitions`` returns the partitions in a follower's fetch session.
        """
        self.context = context
        self.state = state
        self.session_partitions = session_partitions
        self.reads_need_lock = context.profile.has("reads_need_partition_lock")

    @property
    def expiring(self) -> bool:
        """Whether the thread of the isr-expiration task is waiting."""
        return any(held.change == SHRINK for held in self.state.held.values())

    def hold(self, tp: str, proposed: ProposeIsr) -> None:
        """Hold a partition's lock until ZooKeeper responds."""
        self.state.held[tp] = proposed
        self.context.carry_out(LocksChanged())

    def release(self, tp: str) -> None:
        """Release a partition's lock: ZooKeeper has responded, or the session is over."""
        del self.state.held[tp]
        self.context.carry_out(LocksChanged())

    def hold_fetchers(self, lock: str) -> None:
        """Hold a lock until the last requests of idle fetchers have completed."""
        self.state.fetchers = lock
        self.context.carry_out(LocksChanged())

    def freed(self) -> list[Waiting]:
        """Remove and return the unblocked requests, in order; send delayed fetch responses."""
        state = self.state
        for request, (follower, response) in list(state.responses.items()):
            if not self._delays(follower, self.session_partitions(follower)):
                del state.responses[request]
                self.context.respond(follower, request, response)
        waiting, state.waiting = state.waiting, []
        free: list[Waiting] = []
        for blocked in waiting:
            source, _, message = blocked
            if self.blocks(source, message):
                state.waiting.append(blocked)
            else:
                free.append(blocked)
        return free

    # ---- blocked requests

    def blocks(self, source: int, message: AnyMessage) -> bool:
        """Whether a request needs a lock that is held."""
        if isinstance(message, ProduceRequest):
            return message.tp in self.state.held
        if isinstance(message, FetchRequest):
            if message.replica < 0:
                return self.reads_need_lock and self._any_held(message.partitions)
            session = {} if message.one_shot else self.session_partitions(source)
            return self._any_held(message.partitions) or self._any_held(session)
        if isinstance(message, ListOffsetsRequest):
            return self.reads_need_lock and message.tp in self.state.held
        if isinstance(message, OffsetsForLeaderEpochRequest):
            return self._any_held(message.partitions)
        return isinstance(message, STATE_CHANGES) and self._blocks_change(message)

    def _blocks_change(
        self, message: LeaderAndIsrRequest | StopReplicaRequest | UpdateMetadataRequest
    ) -> bool:
        state = self.state
        if state.fetchers == STATE_CHANGE or any(
            isinstance(other, STATE_CHANGES) for _, _, other in state.waiting
        ):
            return True
        if isinstance(message, UpdateMetadataRequest):
            return False
        return bool(state.fetchers) or self._any_held(message.partitions)

    def wait(self, source: int, request: int, message: AnyMessage) -> None:
        """Queue a request until the locks that it needs are free."""
        self.state.waiting.append((source, request, message))

    def _any_held(self, tps: Iterable[str]) -> bool:
        held = self.state.held
        return any(tp in held for tp in tps)

    # ---- responses

    def keep(self, follower: int, request: int, response: FetchResponse) -> bool:
        """Hold back the response to a follower if the thread that made it waits for a lock.

        This affects the thread that expands the ISR by the follower; from 2.1 on also a thread that
        reads again to complete a parked fetch.
        """
        if not self._delays(follower, self.session_partitions(follower)):
            return False
        self.state.responses[request] = (follower, response)
        return True

    def _delays(self, follower: int, session: Mapping[str, object]) -> bool:
        return any(
            tp in session
            and (self.reads_need_lock or (held.change == EXPAND and held.follower == follower))
            for tp, held in self.state.held.items()
        )
