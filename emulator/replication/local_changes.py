"""How a broker's replica reacts to a change of its partition in the metadata log.

Source: ``ReplicaManager.applyDelta`` (applyLocalLeadersDelta, applyLocalFollowersDelta).
"""

from emulator.metadata_log.registrations import PartitionRegistration
from emulator.replication.partition import (
    LEADER,
    BecomeFollower,
    BecomeLeader,
    FollowNobody,
    Partition,
    UpdateFollower,
    UpdateLeader,
)


def command_for(
    state: Partition,
    partition: PartitionRegistration,
    controller_epoch: int,
    *,
    leader_is_registered: bool,
) -> BecomeLeader | UpdateLeader | BecomeFollower | UpdateFollower | FollowNobody:
    """Return the command for a replica of a changed partition."""
    epoch, version = partition.leader_epoch, partition.partition_epoch
    isr, assigned = list(partition.isr), list(partition.replicas)
    if partition.leader == state.broker:
        if state.role == LEADER and state.leader_epoch == epoch:
            return UpdateLeader(isr, assigned, version)
        return BecomeLeader(epoch, controller_epoch, isr, assigned, version)
    if epoch <= state.leader_epoch and state.is_known:
        return UpdateFollower(assigned, version)
    if not leader_is_registered:
        return FollowNobody(epoch, controller_epoch, assigned, version)
    return BecomeFollower(
        partition.leader, epoch, controller_epoch, assigned, version, leader_is_alive=True
    )
