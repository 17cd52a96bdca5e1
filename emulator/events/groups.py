"""Consumer groups, their members and committed offsets."""

from emulator.events import fields
from emulator.events.base import TRAFFIC, Event


class GroupRecordsWritten(Event, frozen=True, label="GROUP", level=TRAFFIC):
    """A coordinator writes records of a group to its __consumer_offsets log.

    This event defines these records, ids ``first_record ..``.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    group: fields.Group
    first_record: fields.FirstRecord
    keys: fields.Keys
    values: fields.Values


class GroupsLoaded(Event, frozen=True, label="GROUP"):
    """A broker that became leader of a __consumer_offsets partition finished loading it.

    It is now the coordinator of ``groups``.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    groups: fields.Groups


class GroupStateChanged(Event, frozen=True, label="GROUP"):
    """A group's coordinator moved it to a new state.

    ``state`` is ``Empty``, ``PreparingRebalance``, ``CompletingRebalance``, ``Stable`` or ``Dead``
    (no longer coordinated here).
    """

    group: fields.Group
    broker: fields.BrokerId
    state: fields.State
    generation: fields.Generation


class MemberJoined(Event, frozen=True, label="GROUP"):
    """A consumer joined a group as a new member."""

    group: fields.Group
    broker: fields.BrokerId
    consumer: fields.Consumer
    member: fields.Member


class MemberLeft(Event, frozen=True, label="GROUP"):
    """A member left its group or was removed from it.

    ``reason`` is ``left``, ``session expired`` or ``did not join again``.
    """

    group: fields.Group
    broker: fields.BrokerId
    consumer: fields.Consumer
    member: fields.Member
    reason: fields.Reason


class AssignmentChanged(Event, frozen=True, label="GROUP"):
    """A member received its partitions for a generation of its group."""

    group: fields.Group
    consumer: fields.Consumer
    generation: fields.Generation
    partitions: fields.Partitions


class OffsetCommitted(Event, frozen=True, label="COMMIT", level=TRAFFIC):
    """A group's offset commit for a partition was replicated and acknowledged."""

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    offset: fields.Offset


class OffsetExpired(Event, frozen=True, label="EXPIRE"):
    """A group's committed offset for a partition expired (offsets.retention.minutes)."""

    group: fields.Group
    tp: fields.Tp
    broker: fields.BrokerId
    offset: fields.Offset
