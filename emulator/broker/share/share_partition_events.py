"""The events of share-partitions: what members acquire and acknowledge, and what becomes of it."""

from collections.abc import Callable, Sequence
from typing import Final

from emulator import events
from emulator.broker.share.acknowledgements import covers, runs_of
from emulator.broker.share.in_flight import (
    ACKNOWLEDGED,
    ACQUIRED,
    ARCHIVED,
    ARCHIVING,
    AVAILABLE,
    Run,
)
from emulator.broker.share.share_partition import RELEASE, RENEW, Acquired, Limits, SharePartition
from emulator.broker_context import BrokerContext
from emulator.protocol import (
    Acknowledgement,
    ShareAcknowledgeRequest,
    ShareFetchRequest,
    StateBatch,
)

DELETED, ABORTED = "deleted from the log", "transaction aborted"
STATE_NAMES: Final = {
    AVAILABLE: "available",
    ACQUIRED: "acquired",
    ACKNOWLEDGED: "acknowledged",
    ARCHIVING: "archived",
    ARCHIVED: "archived",
}
KINDS: Final = ("gap", "accept", "release", "reject", "renew")
"""The names of types of acknowledgements."""


class SharePartitionEvents:
    """Emits the events of a broker's share-partitions."""

    def __init__(self, context: BrokerContext, limits: Callable[[str], Limits]) -> None:
        """Emit in ``context``; ``limits`` returns what a group is allowed."""
        self.context = context
        self.kernel = context.kernel
        self._limits = limits

    def loaded(self, share: SharePartition) -> None:
        stored = [
            (run.first, run.last, STATE_NAMES[run.state.state], run.state.deliveries)
            for run in share.runs()
        ]
        self.kernel.emit(events.SharePartitionLoaded, *self._fields(share), share.start, stored)

    def forgotten(self, share: SharePartition, reason: str) -> None:
        self.kernel.emit(events.SharePartitionForgotten, *self._fields(share), reason)

    def acquired(
        self,
        message: ShareFetchRequest,
        share: SharePartition,
        acquired: Sequence[Acquired],
    ) -> None:
        fields = (*self._fields(share), message.client, message.member_id)
        until = self.kernel.now + self._limits(share.group).lock_us
        for piece in acquired:
            self.kernel.emit(events.RecordsAcquired, *fields, *piece, until)

    def acknowledged(
        self,
        message: ShareFetchRequest | ShareAcknowledgeRequest,
        share: SharePartition,
        batches: Sequence[Acknowledgement],
        stored: Sequence[StateBatch],
    ) -> None:
        fields = (*self._fields(share), message.client, message.member_id)
        renewed_until = self.kernel.now + self._limits(share.group).lock_us
        for batch in batches:
            for first, last, kind in runs_of(batch):
                row = (first, last, KINDS[kind], renewed_until if kind == RENEW else 0)
                self.kernel.emit(events.RecordsAcknowledged, *fields, *row)
        released = [(batch.first, batch.last) for batch in batches if RELEASE in batch.types]
        for change in stored:
            if change.state in (ARCHIVING, ARCHIVED) and covers(released, change.first):
                archived = (change.first, change.last, change.deliveries)
                self.kernel.emit(events.RecordsArchived, *self._fields(share), *archived)

    def released(self, share: SharePartition, changes: Sequence[StateBatch], reason: str) -> None:
        """Tell of records that members have no longer, or that no member will have."""
        for change in changes:
            self.kernel.emit(
                events.RecordsReleased,
                *self._fields(share),
                change.first,
                change.last,
                STATE_NAMES[change.state],
                reason,
                change.deliveries,
            )

    def deleted(self, share: SharePartition, runs: Sequence[Run]) -> None:
        archived = [StateBatch(run.first, run.last, ARCHIVED, run.state.deliveries) for run in runs]
        self.released(share, archived, DELETED)

    def restored(self, share: SharePartition, run: Run, error: str) -> None:
        state = run.state
        self.kernel.emit(
            events.RecordsRestored,
            *self._fields(share),
            run.first,
            run.last,
            STATE_NAMES[state.state],
            state.member,
            state.deliveries,
            state.expires_us,
            error,
        )

    def start_moved(self, share: SharePartition, former_start: int) -> None:
        if share.start != former_start:
            self.kernel.emit(events.ShareStartMoved, *self._fields(share), share.start)

    def _fields(self, share: SharePartition) -> tuple[str, str, int]:
        """What each event of a share-partition begins with."""
        return share.group, share.tp, self.context.id
