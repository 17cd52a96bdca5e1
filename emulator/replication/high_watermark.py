"""What limits the high watermark, on leaders and on followers."""

from emulator.releases.profiles import Profile
from emulator.replication.remote_replica import RemoteReplica


def follower_high_watermark(leader_high_watermark: int, log_end_offset: int) -> int:
    """A follower's HW after a response: min(told, own LEO), even if it is lower than before.

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
