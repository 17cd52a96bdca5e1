"""The model of one partition under a release's rules, in every interleaving.

Replicas are :class:`emulator.replication.partition.Partition`, changed by its ``step``; they fetch
as in :mod:`emulator.replication.fetching`. They interact with a controller
(:mod:`emulator.explorer.zookeeper_mode`, :mod:`emulator.explorer.kraft_mode`), delayed responses to
fetches and AlterPartition requests, producers, and crashing processes
(:mod:`emulator.explorer.brokers`).

The following is abstracted: time (a follower may turn out to lag whenever the bounds allow it), the
contents of records, and the delay of fetch requests, which are handled when sent. The checkpointed
HW is always the latest one. There is a single controller, which never fails and notices a crash at
once.
"""

from functools import partial

from emulator.explorer.bounds import (
    ACKNOWLEDGED_KEPT,
    COMMITTED_AGREEMENT,
    ELR_HAS_COMMITTED,
    HW_MONOTONIC,
    ISR_HAS_COMMITTED,
    ONE_LEADER_PER_EPOCH,
    Bounds,
)
from emulator.explorer.brokers import BrokerActions, Parts, Process, Processes
from emulator.explorer.kraft_mode import KRaftMode, Metadata, Registered
from emulator.explorer.model import Model, Property, Rule
from emulator.explorer.replica import (
    AlterResponse,
    EndsResponse,
    EpochResponse,
    FetchResponse,
    Record,
    Replica,
)
from emulator.explorer.zookeeper_mode import LeaderAndIsr, Quorum, ZooKeeperMode


def partition_model(bounds: Bounds) -> Model:
    """Return the model of a partition within some bounds.

    Broker 1 is the leader in epoch 0, and the last of the assigned replicas.
    """
    actions: BrokerActions = KRaftMode(bounds) if bounds.kraft else ZooKeeperMode(bounds)
    parts = actions.parts
    return Model(
        parts.names(),
        actions.initial(),
        [
            *(Rule((parts.replica(b),), actions.act, (b,)) for b in parts.brokers),
            *(Rule((parts.channel(b),), actions.receive, (b,)) for b in parts.brokers),
            Rule((parts.decided, parts.processes, parts.elections), actions.move_leadership),
            Rule((parts.processes,), actions.start),
            *actions.rules_of_mode(),
        ],
        _properties(parts),
        faults=[Rule((parts.processes,), actions.crash), *actions.faults_of_mode()],
        kinds=(
            *(Replica, Record, FetchResponse, EpochResponse, EndsResponse, AlterResponse),
            *(Quorum, Process, LeaderAndIsr, Metadata, Registered),
        ),
    )


# ---- properties


def _properties(parts: Parts) -> list[Property]:
    properties = []
    for broker in parts.brokers:
        at = parts.replica(broker)
        is_kept = partial(_acknowledged_kept, broker)
        properties.append(
            Property(ACKNOWLEDGED_KEPT, (parts.decided, parts.acknowledged, at), is_kept)
        )
        properties.append(Property(HW_MONOTONIC, (at,), lambda replica: not replica.hw_fell))
        for other in parts.brokers:
            pair = (at, parts.replica(other))
            if broker != other:
                holds = partial(_isr_has_committed, broker, other)
                properties.append(Property(ISR_HAS_COMMITTED, (parts.decided, *pair), holds))
                holds = partial(_elr_has_committed, broker, other)
                reads = (parts.decided, parts.processes, *pair)
                properties.append(Property(ELR_HAS_COMMITTED, reads, holds))
            if broker < other:
                properties.append(Property(COMMITTED_AGREEMENT, pair, _committed_agreement))
                properties.append(Property(ONE_LEADER_PER_EPOCH, pair, _one_leader_per_epoch))
    return properties


def _is_leader(broker: int, quorum: Quorum | Metadata, replica: Replica) -> bool:
    """Whether a replica is the leader and the controller agrees."""
    return replica.leads and (quorum.leader, quorum.epoch) == (broker, replica.leader_epoch)


def _acknowledged_kept(
    broker: int, quorum: Quorum | Metadata, acknowledged: tuple[int, ...], replica: Replica
) -> bool:
    if not acknowledged or not _is_leader(broker, quorum, replica):
        return True
    return {record.id for record in replica.log}.issuperset(acknowledged)


def _isr_has_committed(
    broker: int, member: int, quorum: Quorum | Metadata, led: Replica, replica: Replica
) -> bool:
    if member not in quorum.isr or not _is_leader(broker, quorum, led):
        return True
    return replica.log[: led.high_watermark] == led.log[: led.high_watermark]


def _elr_has_committed(
    broker: int,
    member: int,
    decided: Quorum | Metadata,
    processes: Processes,
    led: Replica,
    replica: Replica,
) -> bool:
    """ELR members have the committed records; crashed ones leave the ELR when they register."""
    if isinstance(decided, Quorum) or member not in decided.elr:
        return True
    if not processes[member - 1].is_up or not _is_leader(broker, decided, led):
        return True
    return replica.log[: led.high_watermark] == led.log[: led.high_watermark]


def _committed_agreement(first: Replica, second: Replica) -> bool:
    committed = min(first.high_watermark, second.high_watermark)
    pairs = zip(first.log[:committed], second.log[:committed], strict=False)
    return all(first_record == second_record for first_record, second_record in pairs)


def _one_leader_per_epoch(first: Replica, second: Replica) -> bool:
    return not (first.leads and second.leads and first.leader_epoch == second.leader_epoch)
