"""The segments of a log.

Logs are not stored in segments here: their boundaries are derived from the batches when they
matter, by ``segment.bytes`` and ``segment.ms``. Source: ``UnifiedLog.maybeRoll`` 0.8 to 4.1.
"""

from collections.abc import Iterator

from msgspec import Struct

from emulator.broker.replication.replica import Replica
from emulator.broker_context import BrokerContext
from emulator.protocol.record_batch import NO_RECORDS
from emulator.releases.config import TopicValues
from emulator.storage.log import Log


class Segment(Struct):
    """Consecutive batches: the offset after them, their size, first and last arrival times."""

    end: int
    size_bytes: int
    first_us: int
    last_us: int


class LogSegments(Struct, eq=False):
    """Divides the logs of a broker into segments."""

    context: BrokerContext

    def of(self, replica: Replica, values: TopicValues) -> Iterator[Segment]:
        """The segments of a log of a topic with ``values``, from its first batch on."""
        segment: Segment | None = None
        for batch in replica.log.batches:
            came_us = self.came_us(batch.first_record)
            if segment is None or (
                segment.size_bytes + batch.size_bytes > values.segment_bytes
                or came_us - segment.first_us > values.segment_us
            ):
                if segment is not None:
                    yield segment
                segment = Segment(batch.end_offset, batch.size_bytes, came_us, came_us)
            else:
                segment.end, segment.last_us = batch.end_offset, came_us
                segment.size_bytes += batch.size_bytes
        if segment is not None:
            yield segment

    def end_after(self, replica: Replica, offset: int) -> int:
        """The end of the segment with an offset: a read goes no further (``LogSegment.read``)."""
        log = replica.log
        values = self.context.topic_values(replica.tp.rpartition("-")[0])
        if not log.batches or self._is_one(log, values):
            return log.end
        return next(
            (segment.end for segment in self.of(replica, values) if segment.end > offset), log.end
        )

    def _is_one(self, log: Log, values: TopicValues) -> bool:
        """Whether all batches are in one segment, without reading them."""
        first_us, last_us = (self.came_us(log.batches[at].first_record) for at in (0, -1))
        return log.size_bytes <= values.segment_bytes and last_us - first_us <= values.segment_us

    def came_us(self, record: int) -> int:
        """When a record was written; what was there before the cluster started counts from then."""
        if record == NO_RECORDS:
            return 0
        return self.context.ledger.entry_of(record).created_us
