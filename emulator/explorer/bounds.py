"""What bounds the search of a release, the settings of its partition, and what must hold."""

from typing import Final

from msgspec import Struct

ACKNOWLEDGED_KEPT: Final = "AcknowledgedKept"
ISR_HAS_COMMITTED: Final = "IsrHasCommitted"
ELR_HAS_COMMITTED: Final = "ElrHasCommitted"
COMMITTED_AGREEMENT: Final = "CommittedAgreement"
HW_MONOTONIC: Final = "HwMonotonic"
ONE_LEADER_PER_EPOCH: Final = "OneLeaderPerEpoch"
PROPERTIES: Final = {
    ACKNOWLEDGED_KEPT: "every acknowledged record is in the leader's log",
    ISR_HAS_COMMITTED: "every member of the ISR has what is below the leader's HW",
    ELR_HAS_COMMITTED: "so has every eligible leader replica that has not crashed since",
    COMMITTED_AGREEMENT: "no two replicas have different records below both their HWs",
    HW_MONOTONIC: "the HW of a leader never falls within its epoch",
    ONE_LEADER_PER_EPOCH: "no two replicas lead in the same epoch",
}
"""What must hold, in words."""


class Bounds(Struct, frozen=True):
    """What bounds a search, and the settings of the partition.

    ``elections`` are those by which leadership moves though the leader is alive; ``isr_changes``
    are followers that turn out to have been silent for too long. ``power_losses`` are crashes that
    lose everything that is not flushed, which is the whole log. Restarts are never bounded. With
    ``acks`` 1 a record is acknowledged when the leader has written it. ``kraft``: the cluster has
    no ZooKeeper; ``elr``: it keeps eligible leader replicas (KIP-966).
    """

    version: str
    replicas: int = 2
    records: int = 2
    elections: int = 2
    isr_changes: int = 0
    crashes: int = 1
    power_losses: int = 0
    acks: int = -1
    min_insync_replicas: int = 1
    unclean: bool = False
    kraft: bool = False
    elr: bool = False


def properties_for(bounds: Bounds) -> tuple[str, ...]:
    """What Kafka promises within some bounds.

    Records that were acknowledged by one replica, or were lost with the power of all that had them,
    or lost an unclean election, may be gone.
    """
    promised = dict.fromkeys(PROPERTIES)
    if bounds.acks == 1 or bounds.power_losses or bounds.unclean:
        del promised[ACKNOWLEDGED_KEPT], promised[COMMITTED_AGREEMENT]
    if not bounds.elr:
        del promised[ELR_HAS_COMMITTED]
    return tuple(promised)
