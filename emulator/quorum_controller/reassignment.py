"""Moving replicas: how a reassignment begins, completes and is cancelled.

While it is under way the replicas are the target and, after it, those who go. Source:
``PartitionReassignmentReplicas`` and ``PartitionReassignmentRevert``; KIP-455.
"""

from typing import NamedTuple

from emulator.metadata_log.records import Replicas
from emulator.metadata_log.registrations import PartitionRegistration


class Reassignment(NamedTuple):
    """The replicas while a reassignment is under way."""

    replicas: Replicas
    removing: Replicas
    adding: Replicas


class Reverted(NamedTuple):
    """What a cancelled reassignment leaves.

    ``unclean``: no member of the ISR remains, so ``isr`` is the first replica, in sync or not.
    """

    replicas: Replicas
    isr: Replicas
    unclean: bool


def begin(current: Replicas, target: Replicas) -> Reassignment:
    """Return the replicas on the way from ``current`` to ``target``."""
    removing = tuple(sorted(set(current) - set(target)))
    adding = tuple(sorted(set(target) - set(current)))
    return Reassignment(target + removing, removing, adding)


def complete(
    replicas: Replicas, removing: Replicas, adding: Replicas, isr: Replicas
) -> tuple[Replicas, Replicas] | None:
    """Return replicas and ISR after the reassignment, or None if it is not complete, or none is.

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
    """Return what is left when a reassignment is cancelled: the replicas without the added ones.

    Their order is that of the target, so the preferred leader may be another than before.
    """
    replicas = tuple(each for each in partition.replicas if each not in partition.adding_replicas)
    isr = tuple(each for each in partition.isr if each not in partition.adding_replicas)
    return Reverted(replicas, isr, unclean=False) if isr else Reverted(replicas, replicas[:1], True)
