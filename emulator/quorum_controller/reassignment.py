"""Replica lists of a reassignment: when it starts, completes and is cancelled.

While it is in progress, the replicas are the target followed by those being removed. Source:
``PartitionReassignmentReplicas`` and ``PartitionReassignmentRevert``; KIP-455.
"""

from enum import Enum
from typing import NamedTuple

from emulator.metadata_log.records import Replicas
from emulator.metadata_log.registrations import PartitionRegistration


class Reassignment(NamedTuple):
    """The replicas during a reassignment."""

    replicas: Replicas
    removing: Replicas
    adding: Replicas


class Reverted(NamedTuple):
    """The result of a cancelled reassignment.

    ``unclean``: no member of the ISR remains, so ``isr`` is the first replica, in sync or not.
    """

    replicas: Replicas
    isr: Replicas
    unclean: bool


def begin(current: Replicas, target: Replicas) -> Reassignment:
    """Return the replicas during a reassignment from ``current`` to ``target``."""
    removing = tuple(sorted(set(current) - set(target)))
    adding = tuple(sorted(set(target) - set(current)))
    return Reassignment(target + removing, removing, adding)


class Completion(Enum):
    """Which replicas must be in sync before a reassignment is complete."""

    ADDED = "added"
    """The added ones (up to 3.7)."""
    ALL = "all"
    """Every target replica (3.8 to 4.2, KAFKA-15665)."""
    NOT_SHRINKING = "not shrinking"
    """The added ones, and every target replica if there will be fewer (4.3, KAFKA-19975)."""


def complete(
    replicas: Replicas,
    removing: Replicas,
    adding: Replicas,
    isr: Replicas,
    completion: Completion = Completion.ALL,
) -> tuple[Replicas, Replicas] | None:
    """Return replicas and ISR after the reassignment, or None if it is incomplete or absent."""
    if not removing and not adding:
        return None
    target = tuple(replica for replica in replicas if replica not in removing)
    target_isr = tuple(member for member in isr if member not in removing)
    if not target or (removing and not target_isr):
        return None
    needs_all = completion is Completion.ALL or (
        completion is Completion.NOT_SHRINKING and len(adding) < len(removing)
    )
    if not set(target if needs_all else adding) <= set(target_isr):
        return None
    return target, target_isr


def revert(partition: PartitionRegistration) -> Reverted:
    """Return the replicas after a cancellation, without the added ones.

    They keep the order of the target, so the preferred leader may differ from the original one.
    """
    replicas = tuple(
        replica for replica in partition.replicas if replica not in partition.adding_replicas
    )
    isr = tuple(member for member in partition.isr if member not in partition.adding_replicas)
    return Reverted(replicas, isr, unclean=False) if isr else Reverted(replicas, replicas[:1], True)
