"""Expiration of committed offsets.

Up to 2.0 an offset expires offsets.retention.minutes after its commit, whatever the group's state.
From 2.1 on (KIP-211) the retention period starts when the group becomes empty; only for a group
that never had members it still starts at each commit. It does so too for a topic to which no member
subscribes: in a group of consumers (2.4 and newer; since KAFKA-13636 only while it is stable), and
in one of the new protocol (KIP-848). From 4.0 on an offset is kept while a transaction has another
one for its partition. An empty group without offsets is deleted too, unless it is a share group.
Source:
``GroupMetadata.removeExpiredOffsets``, ``OffsetMetadataManager.cleanupExpiredOffsets``,
``ClassicGroup`` and ``ConsumerGroup.offsetExpirationCondition``.
"""

from msgspec.structs import replace

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.common.names import split
from emulator.coordinator.consumer_groups.embedded_protocol import MalformedError, subscription_of
from emulator.coordinator.consumer_groups.requests import deletion_records, topics_of
from emulator.coordinator.group_metadata import GroupMetadataManager
from emulator.coordinator.groups import DEAD, EMPTY, STABLE, Group, Member, Store, consumes, drop
from emulator.coordinator.records import GroupRecord, OffsetRecord, Record
from emulator.protocol import OffsetDeleteResponse


class OffsetExpiration:
    """Checks periodically for expired offsets."""

    def __init__(self, context: BrokerContext, metadata: GroupMetadataManager) -> None:
        """Act in ``context`` on the groups of ``metadata``."""
        self.context = context
        self.metadata = metadata
        self.state = metadata.state
        self.kernel = context.kernel
        has = context.profile.has
        self.only_when_empty = has("offsets_expire_when_group_empty")
        self.knows_topics = has("offsets_expire_without_subscription")
        self.only_when_stable = has("offsets_kept_in_rebalances")
        self.removes_later = has("group_records_need_no_min_isr")
        self.keeps_open = has("offsets_kept_for_transactions")
        self.ends_with_topics = has("offsets_deleted_with_topics")

    def begin(self) -> None:
        """Schedule the first check one interval from now."""
        state = self.state
        if state.next_look_us == 0:
            state.next_look_us = self.kernel.now + self.context.config.offsets_check_interval_us

    def due_us(self) -> int | None:
        """When the next check is due; None while there is no group."""
        return self.state.next_look_us if self.state.groups else None

    def look(self) -> None:
        """Expire old offsets if a check is due."""
        state = self.state
        if not 0 < state.next_look_us <= self.kernel.now:
            return
        state.next_look_us = self.kernel.now + self.context.config.offsets_check_interval_us
        under_way: dict[str, set[str]] = {}
        for store in state.stores.values():
            under_way.setdefault(store.group, set()).update(store.offsets, store.drops)
        for group in [group for group in state.groups.values() if group.share is None]:
            self._look_at(group, under_way.get(group.name, set()))

    def _look_at(self, group: Group, under_way: set[str]) -> None:
        """Expire a group's old offsets, except those that are being committed."""
        records: list[Record] = []
        expired = self._expired(group, under_way)
        for tp in expired:
            offset = group.offsets[tp]
            self.kernel.emit(events.OffsetExpired, group.name, tp, self.context.id, offset)
            records.append(OffsetRecord(group.name, tp, -1))
        has_offsets = len(group.offsets) > len(expired) or group.unstable or under_way
        if group.state == EMPTY and not (has_offsets or group.pending):
            self._delete(group, records)
        elif records:
            self._drop(group, expired, records)

    def _drop(
        self,
        group: Group,
        partitions: list[str],
        records: list[Record],
        answer: OffsetDeleteResponse | None = None,
    ) -> bool:
        """Remove offsets, from 4.0 on once their tombstones are replicated.

        Return whether the answer waits for that.
        """
        store = Store(group.name)
        if self.removes_later:
            store.drops, store.answers = partitions, [] if answer is None else [answer]
        else:
            for tp in partitions:
                drop(group, tp)
        self.metadata.write(store, records, removes=True)
        return self.removes_later

    def forget(self, group: Group, request: int = 0) -> None:
        """Delete a group without members, and all its offsets (DeleteGroups).

        ``request`` waits until that is replicated; 0: none does.
        """
        records: list[Record] = [OffsetRecord(group.name, tp, -1) for tp in group.offsets]
        self._delete(group, records, request)

    def _delete(self, group: Group, records: list[Record], request: int = 0) -> None:
        """Delete a group, and write its tombstone after those of its offsets."""
        consumer, former = group.consumer, replace(group)
        self.metadata.to(group, DEAD)
        del self.state.groups[group.name]
        if consumer is not None:
            records += deletion_records(consumer)
        elif group.generation or self.context.profile.has("new_groups_written"):
            # Otherwise no record of the group was ever written.
            records.append(GroupRecord(group.name, -1))
        if records:
            store = Store(group.name, deletes=request, reverts=former)
            self.metadata.write(store, records, removes=True)

    def forget_deleted(self, partitions: list[str]) -> None:
        """Delete all groups' offsets of partitions that have been deleted, also pending ones.

        Source: ``GroupMetadata.removeOffsets``, ``OffsetMetadataManager.onPartitionsDeleted``.
        """
        if not self.ends_with_topics:
            return
        deleted = set(partitions)
        pending: dict[str, set[str]] = {}
        for store in self.state.stores.values():
            pending.setdefault(store.group, set()).update(store.offsets)
            if not self.removes_later:
                offsets = store.offsets.items()
                store.offsets = {tp: offset for tp, offset in offsets if tp not in deleted}
        for group in [group for group in self.state.groups.values() if group.share is None]:
            for positions in group.unstable.values():
                for tp in partitions:
                    positions.pop(tp, None)
            held = {*group.offsets, *pending.get(group.name, ())}
            known = [
                tp for tp in partitions if tp in (held if self.removes_later else group.offsets)
            ]
            self._forget_positions(group, known, None, is_written=group.name in pending)

    def forget_positions(
        self, group: Group, partitions: list[str], answer: OffsetDeleteResponse
    ) -> bool:
        """Delete offsets of partitions that no member reads (OffsetDelete).

        Return whether the answer waits until that is replicated.
        """
        known = [tp for tp in partitions if tp in group.offsets]
        is_written = any(store.group == group.name for store in self.state.stores.values())
        return self._forget_positions(group, known, answer, is_written=is_written)

    def _forget_positions(
        self,
        group: Group,
        known: list[str],
        answer: OffsetDeleteResponse | None,
        *,
        is_written: bool,
    ) -> bool:
        """Delete offsets; up to 3.9 an empty group ends with its last (``cleanupGroupMetadata``).

        ``is_written``: records of the group are being written. Return whether the answer waits
        until the deletion is replicated.
        """
        records: list[Record] = [OffsetRecord(group.name, tp, -1) for tp in known]
        is_in_use = group.pending or group.unstable or is_written or len(group.offsets) > len(known)
        if not self.removes_later and group.state == EMPTY and not is_in_use:
            self._delete(group, records)
            return False
        if records:
            return self._drop(group, known, records, answer)
        if answer is None or not self.removes_later:
            return False
        return self.metadata.await_pending(group.name, answer)

    def _expired(self, group: Group, under_way: set[str]) -> list[str]:
        limit_us = self.kernel.now - self.context.config.offsets_retention_us
        topics = subscribed_topics(group)
        kept = set(under_way)
        if self.keeps_open:
            kept.update(*group.unstable.values())
        return [
            tp
            for tp in group.offsets
            if tp not in kept and 0 <= self._counts_from(group, tp, topics) <= limit_us
        ]

    def _counts_from(self, group: Group, tp: str, topics: set[str] | None) -> int:
        """When an offset's retention period started; -1 if it has not started."""
        is_read = topics is None or split(tp)[0] in topics
        if group.consumer is not None:
            return -1 if is_read else group.committed_us[tp]
        if not self.only_when_empty or not group.generation:
            return group.committed_us[tp]
        if group.state == EMPTY:
            return group.empty_since_us
        expires = self.knows_topics and (group.state == STABLE or not self.only_when_stable)
        return group.committed_us[tp] if expires and not is_read else -1


def subscribed_topics(group: Group) -> set[str] | None:
    """The topics that the members of a group of consumers subscribe to; None: nobody knows.

    Classic members that have joined since the generation began do not count yet
    (``GroupMetadata.computeSubscribedTopics``).
    """
    if group.consumer is not None:
        members = group.consumer.members.values()
        return {topic for member in members for topic in topics_of(group.consumer, member)}
    if not group.members:
        return set()
    if not consumes(group) or not group.generation:
        return None
    joined = [member for member in group.members.values() if not member.is_new]
    try:
        return {topic for member in joined for topic in _topics(group, member)}
    except MalformedError:
        return None


def _topics(group: Group, member: Member) -> list[str]:
    """The topics of a classic member, by its metadata for the protocol that was chosen."""
    if not group.protocol_type:  # it is emulated
        return member.subscription.topics
    return subscription_of(member.metadata_of(group.assignor)).topics
