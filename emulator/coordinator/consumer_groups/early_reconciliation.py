"""A member's next current assignment in 3.7, where it remembers what it waits for.

A new target assignment is split at once into what the member keeps, what it has to revoke, and what
it is to get. It moves to the target's epoch when it has revoked, and then gets what others release.
Source: ``CurrentAssignmentBuilder`` 3.7.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from emulator.coordinator.consumer_groups.group import STABLE, UNRELEASED, UNREVOKED, Member
from emulator.coordinator.modern_groups.specification import Partitions


def reconcile(
    member: Member,
    target: Partitions,
    target_epoch: int,
    owners: Mapping[tuple[str, int], int],
    owned: Mapping[str, Sequence[int]] | None,
) -> Member:
    """Return the member with its next assignment; the same member if nothing changes.

    ``owners`` has the partitions that members own or are revoking; ``owned`` are those that the
    member says it owns, None if it does not say.
    """
    if target_epoch != member.target_epoch:
        held = _merged(member.assigned, member.revoking)
        kept = _common(held, target)
        member = replace(
            member,
            assigned=kept,
            revoking=_difference(held, kept),
            assigning=_difference(target, kept),
            target_epoch=target_epoch,
        )
        return replace(member, state=UNREVOKED) if member.revoking else _moved(member, owners)
    if member.state == UNREVOKED:
        return _moved(member, owners) if _has_revoked(member, owned) else member
    moved = _moved(member, owners)
    return moved if moved.assigned != member.assigned else member


def _moved(member: Member, owners: Mapping[tuple[str, int], int]) -> Member:
    """The member in the target's epoch, with what is free of that which it is to get."""
    free = {
        topic: [number for number in numbers if (topic, number) not in owners]
        for topic, numbers in member.assigning.items()
    }
    assigning = _difference(member.assigning, free)
    return replace(
        member,
        state=UNRELEASED if assigning else STABLE,
        epoch=member.target_epoch,
        previous_epoch=member.epoch,
        assigned=_merged(member.assigned, free),
        revoking={},
        assigning=assigning,
    )


def _has_revoked(member: Member, owned: Mapping[str, Sequence[int]] | None) -> bool:
    """Whether a member says that it owns partitions of just the topics that it keeps, or fewer."""
    return (
        owned is not None
        and owned.keys() == member.assigned.keys()
        and all(set(numbers) <= set(member.assigned[topic]) for topic, numbers in owned.items())
    )


def _merged(one: Partitions, other: Partitions) -> Partitions:
    merged = {
        topic: sorted({*one.get(topic, ()), *other.get(topic, ())}) for topic in {**one, **other}
    }
    return {topic: numbers for topic, numbers in merged.items() if numbers}


def _common(one: Partitions, other: Partitions) -> Partitions:
    common = {topic: sorted({*one[topic]} & {*other.get(topic, ())}) for topic in one}
    return {topic: numbers for topic, numbers in common.items() if numbers}


def _difference(one: Partitions, other: Partitions) -> Partitions:
    left = {topic: sorted({*one[topic]} - {*other.get(topic, ())}) for topic in one}
    return {topic: numbers for topic, numbers in left.items() if numbers}
