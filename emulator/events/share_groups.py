"""Share groups: records that are acquired, acknowledged and released (KIP-932)."""

from msgspec import field

from emulator.events import fields
from emulator.events.base import TRAFFIC, Event


class SharePartitionLoaded(Event, frozen=True, label="SHARE"):
    """The leader of a partition begins to share it out in a group, from its start offset on.

    ``stored`` is what the share coordinator knows of the records from there on: first and last
    offset, ``available``, ``acknowledged`` or ``archived``, and how often they were delivered.
    Which records a former leader had given to members is not stored.
    """

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    share_start: fields.ShareStart
    stored: list[tuple[int, int, str, int]] = field(default_factory=list)


class SharePartitionForgotten(Event, frozen=True, label="SHARE"):
    """A broker shares a partition out in a group no more, and forgets who has acquired what.

    ``reason`` is ``leads no more``, ``no member has a session`` (4.1), or the error with which its
    share coordinator refused a change.
    """

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    reason: fields.Reason


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
    """A member of a share group acknowledged records that it had acquired.

    ``locked_until`` is when the acquisition lock ends after ``renew``; 0: it has ended.
    """

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    consumer: fields.Consumer
    member: fields.Member
    first_offset: fields.FirstOffset
    last_offset: fields.LastOffset
    acknowledgement: fields.Acknowledgement
    locked_until: fields.LockedUntil = 0


class RecordsReleased(Event, frozen=True, label="SHARE"):
    """Records of a share group were not acknowledged; they can be acquired again, or are archived.

    ``state`` is ``available`` or ``archived`` (they were delivered as often as is allowed, or are
    to be delivered to nobody), and ``reason`` is ``lock expired``, ``session ended``, ``deleted
    from the log`` or ``transaction aborted``. ``deliveries`` 0: not told.
    """

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    first_offset: fields.FirstOffset
    last_offset: fields.LastOffset
    state: fields.State
    reason: fields.Reason
    deliveries: fields.Deliveries = 0


class RecordsRestored(Event, frozen=True, label="SHARE"):
    """A change to records of a share group was not stored, and is undone.

    ``state`` is ``acquired`` (by ``member``, until ``locked_until``), ``available`` or
    ``archived``; ``error`` is why the share coordinator did not store the change.
    """

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    first_offset: fields.FirstOffset
    last_offset: fields.LastOffset
    state: fields.State
    member: fields.Member
    deliveries: fields.Deliveries
    locked_until: fields.LockedUntil
    error: fields.Error


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
