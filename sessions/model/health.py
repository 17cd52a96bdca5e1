"""What is wrong with a partition, as flags, and how many partitions have each."""

from typing import Final

from msgspec import Struct

from sessions.model.states import PartitionState

OFFLINE: Final = 1
UNDER_MIN_ISR: Final = 2
UNCLEAN: Final = 4
DIVERGED: Final = 8
AT_MIN_ISR: Final = 16
UNDER_REPLICATED: Final = 32
NON_PREFERRED: Final = 64
REASSIGNING: Final = 128

STATUSES: Final = (
    "offline",
    "under_min_isr",
    "unclean",
    "diverged",
    "at_min_isr",
    "under_replicated",
    "hw_stalled",
    "non_preferred",
    "reassigning",
    "healthy",
)
"""A partition's states, most severe first."""

BY_FLAG: Final = (
    (OFFLINE, "offline"),
    (UNDER_MIN_ISR, "under_min_isr"),
    (UNCLEAN, "unclean"),
    (DIVERGED, "diverged"),
    (AT_MIN_ISR, "at_min_isr"),
    (UNDER_REPLICATED, "under_replicated"),
)
"""The states that are worse than a HW that stands still, in order."""
BY_MILD_FLAG: Final = ((NON_PREFERRED, "non_preferred"), (REASSIGNING, "reassigning"))
"""Those that are milder."""


class Counts(Struct, frozen=True, array_like=True, gc=False):
    """How many brokers run, and how many partitions are in each state (one may be in several)."""

    brokers_up: int = 0
    brokers: int = 0
    partitions: int = 0
    offline: int = 0
    under_min_isr: int = 0
    at_min_isr: int = 0
    under_replicated: int = 0
    unclean: int = 0
    diverged: int = 0
    non_preferred: int = 0


COUNTED: Final = (
    (OFFLINE, "offline"),
    (UNDER_MIN_ISR, "under_min_isr"),
    (AT_MIN_ISR, "at_min_isr"),
    (UNDER_REPLICATED, "under_replicated"),
    (UNCLEAN, "unclean"),
    (DIVERGED, "diverged"),
    (NON_PREFERRED, "non_preferred"),
)
"""The flags that are counted, with their field in :class:`Counts`."""


def flags_of(partition: PartitionState) -> int:
    """All that is wrong with a partition, as far as it does not depend on the time."""
    flags = DIVERGED if partition.diverged else 0
    if partition.adding or partition.removing:
        flags |= REASSIGNING
    if partition.state == "nonexistent":
        return flags
    if partition.state == "offline":
        flags |= OFFLINE
    return flags | _isr_flags(partition) | _leader_flags(partition)


def _isr_flags(partition: PartitionState) -> int:
    isr = partition.isr
    replicas = partition.replicas
    flags = UNDER_REPLICATED if isr != replicas and any(b not in isr for b in replicas) else 0
    if len(isr) < partition.min_isr:
        return flags | UNDER_MIN_ISR
    if flags and len(isr) == partition.min_isr:
        return flags | AT_MIN_ISR
    return flags


def _leader_flags(partition: PartitionState) -> int:
    if partition.leader is None or partition.leader < 0:
        return 0
    flags = UNCLEAN if partition.unclean else 0
    if partition.replicas and partition.leader != partition.replicas[0]:
        flags |= NON_PREFERRED
    return flags
