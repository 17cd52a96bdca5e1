"""Positions that a group has not needed for long are forgotten.

Up to 2.0 a position lives for offsets.retention.minutes from its commit, whatever its group does.
From 2.1 on (KIP-211) its time begins when its group has become empty; only of a group that never
had members does each still count from its commit. An empty group without positions is forgotten
too. Source: ``GroupMetadataManager.cleanupGroupMetadata``, ``GroupMetadata.expiredOffsets``.
"""

from typing import TYPE_CHECKING

from emulator import events
from emulator.coordinator.groups import DEAD, EMPTY, Group, Store
from emulator.coordinator.records import GroupRecord, OffsetRecord, Record

if TYPE_CHECKING:
    from emulator.coordinator.group_coordinator import GroupCoordinator


class Expiry:
    """Looks from time to time whether positions have grown old."""

    def __init__(self, coordinator: "GroupCoordinator") -> None:
        """Act for ``coordinator``."""
        self.coordinator = coordinator
        self.context = coordinator.context
        self.state = coordinator.state
        self.kernel = coordinator.kernel
        self.only_when_empty = coordinator.context.world.profile.has(
            "offsets_expire_when_group_empty"
        )

    def begin(self) -> None:
        """There are groups to look at: the first look is one interval away."""
        state = self.state
        if state.next_look_us == 0:
            state.next_look_us = self.kernel.now + self.context.config.offsets_check_interval_us

    def due(self) -> list[int]:
        """When to look next; nothing while there is no group."""
        state = self.state
        return [state.next_look_us] if state.groups else []

    def tick(self) -> None:
        """Forget what is too old, if it is time to look."""
        state = self.state
        if not 0 < state.next_look_us <= self.kernel.now:
            return
        state.next_look_us = self.kernel.now + self.context.config.offsets_check_interval_us
        for group in list(state.groups.values()):
            self._look_at(group)

    def _look_at(self, group: Group) -> None:
        records: list[Record] = []
        for tp in self._expired(group):
            offset = group.offsets.pop(tp)
            del group.committed_us[tp]
            self.kernel.emit(events.OffsetExpired, group.name, tp, self.context.id, offset)
            records.append(OffsetRecord(group.name, tp, -1))
        if group.state == EMPTY and not group.offsets and not group.pending:
            self.coordinator.to(group, DEAD)
            del self.state.groups[group.name]
            if group.generation:
                records.append(GroupRecord(group.name, -1))
        if records:
            self.coordinator.offsets.write(Store(group.name), records)

    def _expired(self, group: Group) -> list[str]:
        stores = self.state.stores.values()
        under_way = {tp for each in stores if each.group == group.name for tp in each.offsets}
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
