"""The groups of a cluster that starts from an image: their records in ``__consumer_offsets``.

Coordinators load them from the log as they load any others, at the start and after a failover. Only
committed offsets are known, and that a group is there: its members are clients of the real cluster,
which never join here. So every group is empty.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from emulator.cluster_image.image import ClusterImage, Group
from emulator.coordinator.consumer_groups.records import GroupEpochRecord, TargetEpochRecord
from emulator.coordinator.groups import DEAD, EMPTY
from emulator.coordinator.internal_topics import OFFSETS
from emulator.coordinator.records import GroupRecord, OffsetRecord, Record, key_of, text_of
from emulator.releases.profiles import Profile

CONSUMER: Final = "Consumer"
SHARE: Final = "Share"
"""A type of group that commits no offsets."""


class StoredGroup(Struct, frozen=True):
    """A group whose records are in a partition of ``__consumer_offsets``: ids ``first_record ..``.

    ``offsets`` are what they commit, by partition name.
    """

    name: str
    tp: str
    first_record: int
    keys: list[str | None]
    values: list[str]
    offsets: dict[str, int]

    @property
    def writer(self) -> str:
        """Who the ledger says has written the records."""
        return f"group {self.name}"

    @property
    def sizes(self) -> list[int]:
        """The size of each record in bytes, as a coordinator counts it."""
        return [len(v) + len(k or "") for k, v in zip(self.keys, self.values, strict=True)]


def stored_groups(image: ClusterImage, profile: Profile) -> list[StoredGroup]:
    """Return all groups that a log has, with the first record ids that there are.

    ``image`` is complete. Before 0.9 groups had no coordinator, and nothing is stored.
    """
    topic = image.topic(OFFSETS.name)
    stored: list[StoredGroup] = []
    if topic is None or not topic.partitions or not profile.has("consumer_groups"):
        return stored
    first = 1
    for group in image.groups:
        records = list(_records(group, profile))
        if not records:
            continue
        tp = OFFSETS.partition_of(group.id, len(topic.partitions))
        keys: list[str | None] = [key_of(record) for record in records]
        values = [text_of(record) for record in records]
        offsets = {
            record.tp: record.offset for record in records if isinstance(record, OffsetRecord)
        }
        stored.append(StoredGroup(group.id, tp, first, keys, values, offsets))
        first += len(records)
    return stored


def _records(group: Group, profile: Profile) -> Iterator[Record]:
    if group.type == SHARE or group.state == DEAD:
        return
    if group.type == CONSUMER and profile.has("consumer_group_protocol"):
        yield GroupEpochRecord(group.id, 1)
        yield TargetEpochRecord(group.id, 1)
    elif group.members or group.state not in (None, EMPTY) or not group.offsets:
        # It had members once; without any, its offsets alone may be what there is of it.
        yield GroupRecord(group.id, 1)
    for committed in group.offsets:
        if committed.offset is not None and committed.offset >= 0:
            tp = f"{committed.topic}-{committed.partition}"
            epoch = -1 if committed.leader_epoch is None else committed.leader_epoch
            yield OffsetRecord(group.id, tp, committed.offset, 0, epoch, committed.metadata or "")
