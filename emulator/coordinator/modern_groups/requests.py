"""What requests about groups of both types have in common: rules, refusals, and what is computed.

Source: ``GroupMetadataManager`` and ``TargetAssignmentBuilder`` 4.1 and 4.3 in
``org.apache.kafka.coordinator.group``.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from emulator.common.java_collections import ids_in_order
from emulator.coordinator.modern_groups.group import MemberT, ModernGroup
from emulator.coordinator.modern_groups.records import TopicMetadata
from emulator.coordinator.modern_groups.specification import Partitions

UNKNOWN_MEMBER: Final = "UNKNOWN_MEMBER_ID"
FENCED_EPOCH: Final = "FENCED_MEMBER_EPOCH"
INVALID: Final = "INVALID_REQUEST"
NO_GROUP: Final = "GROUP_ID_NOT_FOUND"

RecordT = TypeVar("RecordT")


class Topics(Protocol):
    """What the coordinator knows of topics."""

    def topic(self, name: str) -> TopicMetadata | None:
        """A topic; None if it does not exist."""


class Refused(Exception):
    """A request that is answered with an error; nothing changes."""

    def __init__(self, error: str, message: str) -> None:
        """Answer with ``error``, which ``message`` explains."""
        super().__init__(message)
        self.error = error
        self.message = message


class Outcome(NamedTuple, Generic[RecordT, MemberT]):
    """What a request comes to: records to write, in this order, and the answer.

    ``member`` is the member after it; ``assignment`` is what it is told, None: nothing new.
    ``reason`` says why the group's epoch was bumped, empty if it was not. ``resolves``: regular
    expressions of a consumer group are to be resolved. ``begins`` are the partitions with whose
    state a share group begins, by topic id.
    """

    records: list[RecordT]
    member: MemberT
    assignment: Partitions | None = None
    reason: str = ""
    resolves: bool = False
    begins: Partitions = {}  # noqa: RUF012 - never changed


def existing(names: Iterable[str], topics: Topics) -> dict[str, TopicMetadata]:
    """The topics with some names, sorted, as far as they exist."""
    known = {name: topics.topic(name) for name in sorted(set(names))}
    return {name: topic for name, topic in known.items() if topic is not None}


def hash_of(subscribed: Mapping[str, TopicMetadata]) -> int:
    """A number that changes with the topics' metadata; 0 without topics.

    Kafka's is another function of the same (``Utils.computeGroupHash``).
    """
    mixed = 0
    for name, topic in subscribed.items():
        for byte in f"{name} {topic.id} {topic.partitions}\n".encode():
            mixed = ((mixed ^ byte) * 0x100000001B3) & ((1 << 63) - 1)
    return mixed


def known_member(group: ModernGroup[MemberT], name: str) -> MemberT:
    """A member.

    Raises:
        Refused: there is no such member.
    """
    member = group.members.get(name)
    if member is None:
        raise Refused(UNKNOWN_MEMBER, f"Member {name} is not a member of group {group.name}.")
    return member


def may_compute(group: ModernGroup[MemberT], interval_us: int | None, now_us: int) -> bool:
    """Whether a target assignment may follow the last one already."""
    return not group.assigned_at_us or now_us >= group.assigned_at_us + (interval_us or 0)


def first_epochs(interval_us: int | None) -> tuple[int, int]:
    """The epochs of a new group and of its target assignment.

    From 4.3 on the first epoch has an empty target assignment.
    """
    return (0, -1) if interval_us is None else (1, 1)


def changed_targets(
    group: ModernGroup[MemberT], members: Iterable[str], computed: Mapping[str, Partitions]
) -> Iterator[tuple[str, Partitions]]:
    """The members whose target assignment is another one than before, with it."""
    for name in ids_in_order(members):
        target = computed.get(name, {})
        if name not in group.target or target != group.target[name]:
            yield name, target
