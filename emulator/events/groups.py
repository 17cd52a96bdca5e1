"""Consumer groups, their members and committed offsets."""

from msgspec import field

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
    (no longer coordinated here). A group of the new protocol is ``Assigning`` until its target
    assignment is computed, and ``Reconciling`` until all members have it; ``generation`` is its
    epoch.
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

    ``reason`` is ``left``, ``session expired``, ``did not join again`` or, in a group of the new
    protocol, ``did not revoke in time``.
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


class GroupEpochBumped(Event, frozen=True, label="GROUP"):
    """A group of the new protocol has other members, subscriptions or topics than before (KIP-848).

    ``generation`` is its epoch, for which a new target assignment is computed.
    """

    group: fields.Group
    broker: fields.BrokerId
    generation: fields.Generation
    reason: fields.Reason


class GroupConverted(Event, frozen=True, label="GROUP"):
    """A group changed between the classic and the consumer protocol with its members (KIP-848).

    ``protocol`` is the one that it uses now: ``consumer`` (an upgrade) or ``classic`` (a
    downgrade).
    """

    group: fields.Group
    broker: fields.BrokerId
    generation: fields.Generation
    protocol: fields.Protocol
    reason: fields.Reason


class TargetAssignmentComputed(Event, frozen=True, label="GROUP"):
    """A coordinator assigned the partitions of a group of the new protocol.

    ``generation`` is the group's epoch, ``strategy`` the assignor: ``uniform`` or ``range``, in a
    share group ``simple``. ``targets`` are the partitions that each member is to have, by its id.
    """

    group: fields.Group
    broker: fields.BrokerId
    generation: fields.Generation
    strategy: fields.Strategy
    targets: dict[str, list[str]] = field(default_factory=dict)


class MemberAssignmentChanged(Event, frozen=True, label="GROUP"):
    """A coordinator moved a member towards its target assignment.

    ``state`` is ``STABLE``, ``UNREVOKED_PARTITIONS`` (it has to revoke ``revoking`` first) or
    ``UNRELEASED_PARTITIONS`` (it waits for partitions that the members in ``awaited`` own).
    """

    group: fields.Group
    broker: fields.BrokerId
    consumer: fields.Consumer
    member: fields.Member
    member_epoch: fields.MemberEpoch
    state: fields.State
    partitions: fields.Partitions
    revoking: fields.Revoking
    awaited: fields.Awaited


class MemberFenced(Event, frozen=True, label="GROUP"):
    """A coordinator rejected a member, which has to give up its partitions and join again.

    ``member_epoch`` is what it sent, ``error`` why it was rejected.
    """

    group: fields.Group
    broker: fields.BrokerId
    consumer: fields.Consumer
    member: fields.Member
    error: fields.Error
    member_epoch: fields.MemberEpoch


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
