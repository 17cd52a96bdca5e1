"""Replica lists of a reassignment: when it starts, completes and is cancelled.

While it is in progress, the replicas are the target followed by those being removed. Source:
``PartitionReassignmentReplicas`` and ``PartitionReassignmentRevert``; KIP-455.
"""

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


def complete(
    replicas: Replicas, removing: Replicas, adding: Replicas, isr: Replicas
) -> tuple[Replicas, Replicas] | None:
    """Return replicas and ISR after the reassignment, or None if it is incomplete or absent.

    It is complete once every target replica is in sync.
    """
    if not removing and not adding:
        return None
    target = tuple(each for each in replicas if each not in removing)
    target_isr = tuple(each for each in isr if each not in removing)
    if not target or not target_isr or not set(target) <= set(target_isr):
        return None
    return target, target_isr


def revert(partition: PartitionRegistration) -> Reverted:
    """Return the replicas after a cancellation, without the added ones.

    They keep the order of the target, so the preferred leader may differ from the original one.
    """
    replicas = tuple(each for each in partition.replicas if each not in partition.adding_replicas)
    isr = tuple(each for each in partition.isr if each not in partition.adding_replicas)
    return Reverted(replicas, isr, unclean=False) if isr else Reverted(replicas, replicas[:1], True)
