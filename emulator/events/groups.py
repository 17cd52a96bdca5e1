"""Consumer groups, their members and committed offsets."""

from emulator.events.base import Event


class GroupRecordsWritten(Event, frozen=True, gc=False):
    """A coordinator writes records of a group to its log of __consumer_offsets.

    This event is the place where these records, ids ``first_record ..``, are named.
    """

    tp: str
    broker: int
    group: str
    first_record: int
    keys: list[str | None]
    values: list[str]


class GroupsLoaded(Event, frozen=True, gc=False):
    """A broker that became leader of a partition of __consumer_offsets has read it.

    It is now the coordinator of these groups.
    """

    tp: str
    broker: int
    groups: list[str]


class GroupStateChanged(Event, frozen=True, gc=False):
    """A group's coordinator took it from one state to another.

    ``state`` is ``Empty``, ``PreparingRebalance``, ``CompletingRebalance``, ``Stable`` or ``Dead``
    (no longer coordinated here).
    """

    group: str
    broker: int
    state: str
    generation: int


class MemberJoined(Event, frozen=True, gc=False):
    """A consumer is a new member of a group."""

    group: str
    broker: int
    consumer: str
    member: str


class MemberLeft(Event, frozen=True, gc=False):
    """A member is no longer in its group.

    ``reason`` is ``left``, ``session expired`` or ``did not join again``.
    """

    group: str
    broker: int
    consumer: str
    member: str
    reason: str


class AssignmentChanged(Event, frozen=True, gc=False):
    """A member took the partitions that it has in a generation of its group."""

    group: str
    consumer: str
    generation: int
    partitions: list[str]


class OffsetCommitted(Event, frozen=True, gc=False):
    """A group's position in a partition is committed: replicated, and told to who asked."""

    group: str
    tp: str
    broker: int
    offset: int


class OffsetExpired(Event, frozen=True, gc=False):
    """A group's position in a partition is forgotten: offsets.retention.minutes are over."""

    group: str
    tp: str
    broker: int
    offset: int
