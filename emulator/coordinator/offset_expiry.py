"""Positions that a group has not needed for long are forgotten.

Up to 2.0 a position lives for offsets.retention.minutes from its commit, whatever its group does.
From 2.1 on (KIP-211) its time begins when its group has become empty; only of a group that never
had members does each still count from its commit. An empty group without positions is forgotten
too. Source: ``GroupMetadataManager.cleanupGroupMetadata``, ``GroupMetadata.expiredOffsets``.
"""

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.coordinator.group_metadata import GroupMetadataManager
from emulator.coordinator.groups import DEAD, EMPTY, Group, Store
from emulator.coordinator.records import GroupRecord, OffsetRecord, Record


class OffsetExpiration:
    """Looks from time to time whether positions have grown old."""

    def __init__(self, context: BrokerContext, metadata: GroupMetadataManager) -> None:
        """Act in ``context`` on the groups of ``metadata``."""
        self.context = context
        self.metadata = metadata
        self.state = metadata.state
        self.kernel = context.kernel
        self.only_when_empty = context.profile.has("offsets_expire_when_group_empty")

    def begin(self) -> None:
        """There are groups to look at: the first look is one interval away."""
        state = self.state
        if state.next_look_us == 0:
            state.next_look_us = self.kernel.now + self.context.config.offsets_check_interval_us

    def due_us(self) -> int | None:
        """When to look next; None while there is no group."""
        return self.state.next_look_us if self.state.groups else None

    def look(self) -> None:
        """Forget what is too old, if it is time to look."""
        state = self.state
        if not 0 < state.next_look_us <= self.kernel.now:
            return
        state.next_look_us = self.kernel.now + self.context.config.offsets_check_interval_us
        under_way: dict[str, set[str]] = {}
        for store in state.stores.values():
            under_way.setdefault(store.group, set()).update(store.offsets)
        for group in list(state.groups.values()):
            self._look_at(group, under_way.get(group.name, set()))

    def _look_at(self, group: Group, under_way: set[str]) -> None:
        """Forget a group's old positions, but for those that are just being committed."""
        records: list[Record] = []
        for tp in self._expired(group, under_way):
            offset = group.offsets.pop(tp)
            del group.committed_us[tp]
            group.epochs.pop(tp, None)
            group.notes.pop(tp, None)
            self.kernel.emit(events.OffsetExpired, group.name, tp, self.context.id, offset)
            records.append(OffsetRecord(group.name, tp, -1))
        if group.state == EMPTY and not (group.offsets or group.pending or group.unstable):
            self.metadata.to(group, DEAD)
            del self.state.groups[group.name]
            if group.generation:
                records.append(GroupRecord(group.name, -1))
        if records:
            self.metadata.write(Store(group.name), records)

    def forget(self, group: Group) -> None:
        """A group that nobody is in goes, with all its positions (DeleteGroups)."""
        records: list[Record] = [OffsetRecord(group.name, tp, -1) for tp in group.offsets]
        self.metadata.to(group, DEAD)
        del self.state.groups[group.name]
        if group.generation:
            records.append(GroupRecord(group.name, -1))
        if records:
            self.metadata.write(Store(group.name), records)

    def forget_positions(self, group: Group, partitions: list[str]) -> None:
        """Positions that nobody reads from go (OffsetDelete)."""
        records: list[Record] = []
        for tp in partitions:
            if group.offsets.pop(tp, None) is not None:
                del group.committed_us[tp]
                group.epochs.pop(tp, None)
                group.notes.pop(tp, None)
                records.append(OffsetRecord(group.name, tp, -1))
        if records:
            self.metadata.write(Store(group.name), records)

    def _expired(self, group: Group, under_way: set[str]) -> list[str]:
        limit_us = self.kernel.now - self.context.config.offsets_retention_us
        return [
            tp
            for tp in group.offsets
            if tp not in under_way and 0 <= self._counts_from(group, tp) <= limit_us
        ]

    def _counts_from(self, group: Group, tp: str) -> int:
        """Since when a position grows old; -1: it does not."""
        if not self.only_when_empty or not group.generation:
            return group.committed_us[tp]
        return group.empty_since_us if group.state == EMPTY else -1
