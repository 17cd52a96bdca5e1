"""Share groups: records that are acquired, acknowledged and released (KIP-932)."""

from emulator.events import fields
from emulator.events.base import TRAFFIC, Event


class SharePartitionLoaded(Event, frozen=True, label="SHARE"):
    """The leader of a partition begins to share it out in a group, from its start offset on."""

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    share_start: fields.ShareStart


class RecordsAcquired(Event, frozen=True, label="SHARE", level=TRAFFIC):
    """A member of a share group was given records; no other member is, until ``locked_until``."""

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    consumer: fields.Consumer
    member: fields.Member
    first_offset: fields.FirstOffset
    last_offset: fields.LastOffset
    deliveries: fields.Deliveries
    locked_until: fields.LockedUntil


class RecordsAcknowledged(Event, frozen=True, label="SHARE", level=TRAFFIC):
    """A member of a share group acknowledged records that it had acquired."""

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    consumer: fields.Consumer
    member: fields.Member
    first_offset: fields.FirstOffset
    last_offset: fields.LastOffset
    acknowledgement: fields.Acknowledgement


class RecordsReleased(Event, frozen=True, label="SHARE"):
    """Records of a share group were not acknowledged; they can be acquired again, or are archived.

    ``state`` is ``available`` or ``archived`` (they were delivered as often as is allowed), and
    ``reason`` is ``lock expired`` or ``session ended``.
    """

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    first_offset: fields.FirstOffset
    last_offset: fields.LastOffset
    state: fields.State
    reason: fields.Reason


class RecordsArchived(Event, frozen=True, label="SHARE"):
    """Records of a share group were released, but delivered as often as is allowed: never again."""

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    first_offset: fields.FirstOffset
    last_offset: fields.LastOffset
    deliveries: fields.Deliveries


class ShareStartMoved(Event, frozen=True, label="SHARE", level=TRAFFIC):
    """All records of a partition before an offset are done in a share group."""

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    share_start: fields.ShareStart
