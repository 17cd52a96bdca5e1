"""The incremental fetch sessions of consumers (KIP-227).

A consumer that fetches many partitions sends only what changed since its last fetch, and is told
only of partitions that have something new. The broker keeps what it fetches in a session. Sessions
are few (max.incremental.fetch.session.cache.slots); one that is idle, or that has fewer partitions
than a new one, makes room for it. A consumer that gets none fetches everything each time. Source:
``kafka.server.FetchManager``, ``FetchContext`` and ``FetchSessionCacheShard``.
"""

from collections.abc import Callable, Mapping
from typing import Final
from zlib import crc32

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.protocol import FetchedPartition, FetchPartition, FetchRequest, FetchResponse
from emulator.protocol.fetch import FINAL_EPOCH, INITIAL_EPOCH, INVALID_SESSION_ID

EVICTION_US: Final = 120_000_000
"""How long a session is kept from being evicted (MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS)."""
SHARDS: Final = 8
"""The number of parts of the cache since 3.8 (KAFKA-9401)."""
ID_RANGE: Final = (1 << 31) - 1
"""Session ids are below this."""
UNTOLD: Final = -1

Rows = dict[str, FetchedPartition]


class CachedPartition(Struct, array_like=True, gc=False):
    """A partition of a session: the requested position, and the last response's values."""

    requested: FetchPartition
    high_watermark: int = UNTOLD
    log_start: int = UNTOLD

    def update(self, row: FetchedPartition) -> bool:
        """Note a result; return True if the consumer must be told of it."""
        is_new = (
            bool(row.batches)
            or self.high_watermark != row.high_watermark
            or self.log_start != row.log_start
            or row.preferred_read_replica >= 0
            or row.error != NONE
            or row.diverging is not None
        )
        # after an error the partition is in the next response as well
        self.high_watermark = row.high_watermark if row.error == NONE else UNTOLD
        self.log_start = row.log_start
        return is_new


class Session(Struct, array_like=True):
    """A consumer's session; ``epoch`` is the one that its next fetch must have.

    ``shard`` is the part of the cache that holds it.
    """

    id: int
    shard: int
    uses_topic_ids: bool
    created_us: int
    last_used_us: int
    partitions: dict[str, CachedPartition]
    epoch: int = INITIAL_EPOCH + 1

    @property
    def is_evictable(self) -> bool:
        """Whether a session with more partitions may take its place: it was used for long."""
        return self.last_used_us - self.created_us > EVICTION_US


class FetchSessionCache(Struct, array_like=True):
    """The sessions by id; ``created`` counts the fetches that wanted one."""

    sessions: dict[int, Session] = field(default_factory=dict)
    created: int = 0


class FetchManager:
    """Keeps the sessions of consumers."""

    def __init__(
        self,
        context: BrokerContext,
        cache: FetchSessionCache,
        last_fetches: Callable[[], Mapping[int, int]],
    ) -> None:
        """Keep them in ``cache``; ``last_fetches`` is when each follower with a session fetched."""
        self.context = context
        self.kernel = context.kernel
        self.cache = cache
        self.last_fetches = last_fetches
        self.shards = SHARDS if context.profile.has("sharded_fetch_session_cache") else 1
        self.forgets_epochs = context.profile.has("incremental_fetch_without_epoch")

    def expand(self, message: FetchRequest) -> FetchRequest | str:
        """Return a fetch with all partitions of its session, or the error of its session."""
        sessions = self.cache.sessions
        if message.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            sessions.pop(message.session_id, None)
            return message
        session = sessions.get(message.session_id)
        if session is None:
            return "FETCH_SESSION_ID_NOT_FOUND"
        if session.epoch != message.session_epoch:
            return "INVALID_FETCH_SESSION_EPOCH"
        if session.uses_topic_ids != message.uses_topic_ids:
            return "FETCH_SESSION_TOPIC_ID_ERROR"
        partitions = session.partitions
        for tp, requested in message.partitions.items():
            cached = partitions.get(tp)
            if cached is None:
                partitions[tp] = CachedPartition(requested)
            else:
                cached.requested = requested
        for tp in message.forgotten:
            partitions.pop(tp, None)
        if not partitions:
            del sessions[session.id]
            return replace(message, session_id=INVALID_SESSION_ID, session_epoch=FINAL_EPOCH)
        session.last_used_us = self.kernel.now
        session.epoch = _next(session.epoch)
        return replace(message, partitions={tp: self._requested(p) for tp, p in partitions.items()})

    def _requested(self, partition: CachedPartition) -> FetchPartition:
        requested = partition.requested
        return replace(requested, current_leader_epoch=-1) if self.forgets_epochs else requested

    def respond(self, request: int, message: FetchRequest, rows: Rows) -> FetchResponse:
        """Make the response to a fetch that was expanded: a new session, or what is new in one."""
        if message.session_epoch == FINAL_EPOCH:
            return FetchResponse(request, rows)
        if message.session_epoch == INITIAL_EPOCH:
            return FetchResponse(request, rows, self._begin(message, rows))
        session = self.cache.sessions.get(message.session_id)
        if session is None:  # evicted while the fetch waited: the next one is told
            return FetchResponse(request, rows, message.session_id)
        if session.epoch != _next(message.session_epoch):
            error = "INVALID_FETCH_SESSION_EPOCH"
            return FetchResponse(request, {}, session.id, error)
        partitions = session.partitions
        changed: Rows = {}
        for tp, row in rows.items():
            partition = partitions.get(tp)
            if partition is None:
                continue
            if partition.update(row):
                changed[tp] = row
            if row.batches:  # others come first next time
                partitions[tp] = partitions.pop(tp)
        return FetchResponse(request, changed, session.id)

    def _begin(self, message: FetchRequest, rows: Rows) -> int:
        """Create a session if there is room; return its id, or else 0."""
        cache, now_us = self.cache, self.kernel.now
        shard = cache.created % self.shards
        cache.created += 1
        if not self._makes_room(shard, len(rows)):
            return INVALID_SESSION_ID
        partitions = {
            tp: CachedPartition(message.partitions[tp], row.high_watermark, row.log_start)
            for tp, row in rows.items()
        }
        session = Session(
            self._new_id(shard), shard, message.uses_topic_ids, now_us, now_us, partitions
        )
        cache.sessions[session.id] = session
        return session.id

    def _new_id(self, shard: int) -> int:
        """Return an unused id in the range of a shard; a restarted broker gives other ids."""
        span = ID_RANGE // self.shards
        seed = f"{self.context.id} {self.kernel.now} {self.cache.created}"
        at = crc32(seed.encode()) % span
        while (new_id := shard * span + at) in self.cache.sessions or new_id == INVALID_SESSION_ID:
            at = (at + 1) % span
        return new_id

    def _makes_room(self, shard: int, size: int) -> bool:
        """Evict the session unused for longest, if idle, or else the smallest if it is smaller.

        The sessions of followers take slots as well, and keep them while they fetch. Source:
        ``FetchSessionCacheShard.tryEvict``.
        """
        sessions = [session for session in self.cache.sessions.values() if session.shard == shard]
        since_us = self.kernel.now - EVICTION_US
        followers = sum(fetched_us >= since_us for fetched_us in self.last_fetches().values())
        used = len(sessions) + len(range(shard, followers, self.shards))
        if used < self.context.config.fetch_session_slots // self.shards:
            return True
        if not sessions:
            return False
        evicted = min(sessions, key=lambda session: (session.last_used_us, session.id))
        if self.kernel.now - evicted.last_used_us <= EVICTION_US:
            evictable = [session for session in sessions if session.is_evictable]
            if not evictable:
                return False
            evicted = min(evictable, key=lambda session: (len(session.partitions), session.id))
            if size <= len(evicted.partitions):
                return False
        del self.cache.sessions[evicted.id]
        return True


def _next(epoch: int) -> int:
    """Return the epoch after ``epoch``; the largest is followed by 1 (``FetchMetadata``)."""
    return 1 if epoch >= ID_RANGE else epoch + 1
