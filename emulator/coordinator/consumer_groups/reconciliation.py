"""A member's next current assignment on its way to the target assignment.

Source: ``CurrentAssignmentBuilder`` 4.0 and 4.4.
"""

from collections.abc import Container, Mapping, Sequence

from msgspec.structs import replace

from emulator.coordinator.consumer_groups.group import STABLE, UNRELEASED, UNREVOKED, Member
from emulator.coordinator.modern_groups.specification import Partitions


def reconcile(
    member: Member,
    target: Partitions,
    target_epoch: int,
    owners: Mapping[tuple[str, int], int],
    owned: Mapping[str, Sequence[int]] | None,
    unsubscribed: Container[str] = (),
    *,
    gives_up: bool = False,
) -> Member:
    """Return the member with its next assignment; the same member if nothing changes.

    ``owners`` has the partitions that members own or are revoking; ``owned`` are those that the
    member says it owns, None if it does not say. ``unsubscribed`` are topics to which the member
    does not subscribe, whatever the target says; it ``gives_up`` what it has of them now
    (KAFKA-19431).
    """
    subscribed = {topic: numbers for topic, numbers in target.items() if topic not in unsubscribed}
    if member.state == STABLE and member.epoch == target_epoch:
        return _without(member, owned, unsubscribed) if gives_up else member
    if member.state == UNREVOKED:
        if _still_owns(member.revoking, owned):
            return _without(member, owned, unsubscribed) if gives_up else member
        return _next(member, member.epoch + 1, subscribed, target_epoch, owners, owned)
    return _next(member, member.epoch, subscribed, target_epoch, owners, owned)


def _without(
    member: Member, owned: Mapping[str, Sequence[int]] | None, topics: Container[str]
) -> Member:
    """The member without partitions of some topics, which it has to revoke if it owns them."""
    gone = {topic: numbers for topic, numbers in member.assigned.items() if topic in topics}
    if not gone:
        return member
    kept = {topic: numbers for topic, numbers in member.assigned.items() if topic not in gone}
    revoking = {
        topic: sorted({*member.revoking.get(topic, ()), *gone.get(topic, ())})
        for topic in {**member.revoking, **gone}
    }
    if _still_owns(revoking, owned):
        return _changed(member, UNREVOKED, member.epoch, kept, revoking)
    return _changed(member, member.state, member.epoch, kept, member.revoking)


def _still_owns(revoking: Partitions, owned: Mapping[str, Sequence[int]] | None) -> bool:
    """Whether the member has not revoked all that it must; it has if it does not name them."""
    if owned is None:
        return True
    return any(number in revoking.get(topic, ()) for topic in owned for number in owned[topic])


def _next(
    member: Member,
    epoch: int,
    target: Partitions,
    target_epoch: int,
    owners: Mapping[tuple[str, int], int],
    owned: Mapping[str, Sequence[int]] | None,
) -> Member:
    assigned, revoking, pending = (
        dict[str, list[int]](),
        dict[str, list[int]](),
        dict[str, list[int]](),
    )
    waits = False
    for topic in {**target, **member.assigned}:
        targeted, has = set(target.get(topic, ())), set(member.assigned.get(topic, ()))
        new = targeted - has
        free = {number for number in new if (topic, number) not in owners}
        waits = waits or free != new
        parts = ((assigned, has & targeted), (revoking, has - targeted), (pending, free))
        for partitions, chosen in parts:
            if chosen:
                partitions[topic] = sorted(chosen)
    if revoking and _still_owns(revoking, owned):
        return _changed(member, UNREVOKED, epoch, assigned, revoking)
    for topic, numbers in pending.items():
        assigned[topic] = sorted([*assigned.get(topic, ()), *numbers])
    return _changed(member, UNRELEASED if waits else STABLE, target_epoch, assigned, {})


def _changed(
    member: Member, state: str, epoch: int, assigned: Partitions, revoking: Partitions
) -> Member:
    return replace(
        member,
        state=state,
        epoch=epoch,
        previous_epoch=member.epoch,
        assigned=assigned,
        revoking=revoking,
    )
