"""Consumer groups, their members and committed offsets."""

from emulator.events.base import Event


class GroupRecordsWritten(Event, frozen=True, gc=False):
    """A coordinator writes records of a group to its __consumer_offsets log.

    This event defines these records, ids ``first_record ..``.
    """

    tp: str
    broker: int
    group: str
    first_record: int
    keys: list[str | None]
    values: list[str]


class GroupsLoaded(Event, frozen=True, gc=False):
    """A broker that became leader of a __consumer_offsets partition finished loading it.

    It is now the coordinator of ``groups``.
    """

    tp: str
    broker: int
    groups: list[str]


class GroupStateChanged(Event, frozen=True, gc=False):
    """A group's coordinator moved it to a new state.

    ``state`` is ``Empty``, ``PreparingRebalance``, ``CompletingRebalance``, ``Stable`` or ``Dead``
    (no longer coordinated here).
    """

    group: str
    broker: int
    state: str
    generation: int


class MemberJoined(Event, frozen=True, gc=False):
    """A consumer joined a group as a new member."""

    group: str
    broker: int
    consumer: str
    member: str


class MemberLeft(Event, frozen=True, gc=False):
    """A member left its group or was removed from it.

    ``reason`` is ``left``, ``session expired`` or ``did not join again``.
    """

    group: str
    broker: int
    consumer: str
    member: str
    reason: str


class AssignmentChanged(Event, frozen=True, gc=False):
    """A member received its partitions for a generation of its group."""

    group: str
    consumer: str
    generation: int
    partitions: list[str]


class OffsetCommitted(Event, frozen=True, gc=False):
    """A group's offset commit for a partition was replicated and acknowledged."""

    group: str
    tp: str
    broker: int
    offset: int


class OffsetExpired(Event, frozen=True, gc=False):
    """A group's committed offset for a partition expired (offsets.retention.minutes)."""

    group: str
    tp: str
    broker: int
    offset: int
