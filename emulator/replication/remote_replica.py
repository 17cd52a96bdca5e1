"""A leader's record of one follower, its update by a fetch, and what follows from it.

That is who leaves the ISR, who may join it, and what limits the high watermark.
"""

from msgspec import Struct

from emulator.releases.profiles import Profile

NEVER_US = -(10**15)
"""Longer ago than any maximum lag: virtual time begins at 0."""


class RemoteReplica(Struct, array_like=True, gc=False):
    """A leader's record of one follower (Kafka's class Replica); offsets of -1 are unknown.

    ``since_us`` is when the leader's epoch began: earlier fetches do not count. ``told_hw`` is the
    last HW sent to it, in the releases that track it (2.4 and 2.5).
    """

    leo: int = -1
    last_caught_up_us: int = NEVER_US
    last_fetch_us: int = NEVER_US
    last_fetch_leader_leo: int = -1
    told_hw: int = -1
    since_us: int = 0


def record_fetch(
    profile: Profile, remote: RemoteReplica, offset: int, leader_leo: int, now_us: int
) -> None:
    """Record a follower's fetch at ``offset``, made while the leader's LEO was ``leader_leo``.

    The offset is the follower's acknowledgement.

    Source: Replica.updateFetchState (0.10.2+), Replica.updateLogReadResult (0.9),
    Replica.logEndOffset (0.8).
    """
    if offset >= leader_leo or profile.has("lag_time_since_last_fetch"):
        remote.last_caught_up_us = now_us
    elif profile.has("caught_up_at_previous_fetch") and offset >= remote.last_fetch_leader_leo >= 0:
        remote.last_caught_up_us = max(remote.last_caught_up_us, remote.last_fetch_us)
    remote.leo = offset
    remote.last_fetch_leader_leo = leader_leo
    remote.last_fetch_us = now_us


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


def follower_high_watermark(leader_high_watermark: int, log_end_offset: int) -> int:
    """A follower's HW after a response, min(leader's HW, own LEO), even if it falls.

    Source: ReplicaFetcherThread.processPartitionData; the documents' rule 4.
    """
    return max(0, min(leader_high_watermark, log_end_offset))


def holds_high_watermark(
    profile: Profile, remote: RemoteReplica, leader_leo: int, now_us: int, lag_time_us: int
) -> bool:
    """Whether an assigned replica outside the ISR holds back the HW because it is caught up.

    Source: Partition.maybeIncrementLeaderHW 0.10.2+, KAFKA-4485.
    """
    if not profile.has("caught_up_replicas_hold_high_watermark"):
        return False
    if profile.has("caught_up_at_log_end") and remote.leo == leader_leo:
        return True
    return now_us - remote.last_caught_up_us <= lag_time_us
