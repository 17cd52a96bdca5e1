"""Deletes whole segments from the start of a log, by retention time or size.

A record's age counts from its arrival in the cluster, because external clients have their own
clocks. Source: ``LogManager.cleanupLogs``,
``UnifiedLog.deleteRetentionMsBreachedSegments`` and ``deleteRetentionSizeBreachedSegments`` 0.8 to
4.1.
"""

from typing import Final

from msgspec import Struct

from emulator.broker.replication.log_segments import LogSegments
from emulator.broker.replication.replica import Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.releases.config import TopicValues
from emulator.replication.partition import OFFLINE, DeleteSegments

INITIAL_DELAY_US: Final = 30_000_000
"""The delay after startup before the first check (``LogManager.InitialTaskDelayMs``)."""


class RetentionState(Struct, array_like=True):
    """When the next check is due; 0 if the process has not checked yet."""

    next_look_us: int = 0


class LogRetention(Struct, eq=False):
    """Checks all logs of a broker periodically."""

    context: BrokerContext
    state: RetentionState
    replicas: Replicas
    segments: LogSegments

    def look(self) -> None:
        """Delete expired segments if a check is due."""
        now_us, state = self.context.kernel.now, self.state
        if not state.next_look_us:
            state.next_look_us = now_us + INITIAL_DELAY_US
        if now_us < state.next_look_us:
            return
        state.next_look_us = now_us + self.context.config.log_retention_check_interval_us
        for replica in list(self.replicas.by_name.values()):
            if replica.log.batches and replica.role != OFFLINE:
                self._look_at(replica, now_us)

    def _look_at(self, replica: Replica, now_us: int) -> None:
        values = self.context.topic_values(replica.tp.rpartition("-")[0])
        if not self._is_due(replica, values, now_us):
            return
        start, left_bytes = replica.first_segment, replica.log.size_bytes
        for segment in self.segments.of(replica, values):
            is_below = segment.end <= replica.log_start
            is_old = 0 <= values.retention_us < now_us - segment.last_us
            is_much = 0 <= values.retention_bytes <= left_bytes - segment.size_bytes
            is_due = is_below or (values.deletes and (is_old or is_much))
            if not is_due or segment.end > replica.high_watermark:
                break
            start = segment.end
            left_bytes -= segment.size_bytes
        self.replicas.do(replica, DeleteSegments(start))

    def _is_due(self, replica: Replica, values: TopicValues, now_us: int) -> bool:
        """Whether there may be anything to delete, without reading the whole log."""
        if replica.first_segment < replica.log_start:
            return True
        oldest_us = self.segments.came_us(replica.log.batches[0].first_record)
        is_old = 0 <= values.retention_us < now_us - oldest_us
        return values.deletes and (values.retention_bytes >= 0 or is_old)
