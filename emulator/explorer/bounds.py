"""The bounds of a search, the settings of its partition, and the properties to check."""

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
"""The properties, in words."""


class Bounds(Struct, frozen=True):
    """The bounds of a search, and the settings of the partition.

    ``elections`` limits elections that move leadership from a live leader; ``isr_changes`` limits
    followers found to lag. ``power_losses`` limits crashes that lose all unflushed data, which is
    the whole log. Restarts are unbounded. With ``acks`` 1 a record is acknowledged once the leader
    has appended it.

    ``kraft``: the cluster runs in KRaft mode; ``elr``: it uses eligible leader replicas (KIP-966).
    In KRaft mode only, ``shutdowns`` limits orderly stops (controlled shutdowns), and ``fencings``
    the times that a running broker is fenced because its heartbeats are late.
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
    shutdowns: int = 0
    fencings: int = 0


def properties_for(bounds: Bounds) -> tuple[str, ...]:
    """The properties that Kafka guarantees within some bounds.

    Acknowledged records may be lost if a single replica acknowledged them, if all replicas that had
    them lost power, or after an unclean election.
    """
    promised = dict.fromkeys(PROPERTIES)
    if bounds.acks == 1 or bounds.power_losses or bounds.unclean:
        del promised[ACKNOWLEDGED_KEPT], promised[COMMITTED_AGREEMENT]
    if not bounds.elr:
        del promised[ELR_HAS_COMMITTED]
    return tuple(promised)
