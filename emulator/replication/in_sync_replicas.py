"""The rules for leaving and joining the ISR."""

from emulator.releases.profiles import Profile
from emulator.replication.remote_replica import RemoteReplica


def is_out_of_sync(
    profile: Profile,
    remote: RemoteReplica,
    leader_leo: int,
    now_us: int,
    *,
    lag_time_us: int,
    lag_messages: int,
) -> bool:
    """Whether a member has to leave the ISR.

    Source: Partition.getOutOfSyncReplicas; KIP-16 (0.9: time only); 2.1+: never while it is
    caught up.
    """
    if profile.has("in_sync_at_log_end") and remote.leo == leader_leo:
        return False
    if profile.has("replica_lag_in_messages") and 0 <= remote.leo < leader_leo - lag_messages:
        return True
    return now_us - remote.last_caught_up_us > lag_time_us


def may_join_isr(
    profile: Profile, follower_leo: int, leader_hw: int, epoch_start: int | None
) -> bool:
    """Whether a follower's fetch offset admits it to the ISR.

    It must have reached the leader's HW and, from 2.0.1 on, the start of the leader's epoch.

    Source: Partition.isFollowerInSync; KAFKA-7128.
    """
    if follower_leo < leader_hw:
        return False
    if profile.has("isr_expand_needs_epoch_start"):
        return epoch_start is not None and follower_leo >= epoch_start
    return True
