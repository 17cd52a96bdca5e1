"""The rules of replication as functions of plain values, each with its source.

Class names are Kafka's (kafka.cluster.Partition, kafka.cluster.Replica,
kafka.server.AbstractFetcherThread); releases say where a rule was first seen. What changed between
releases is asked of the profile by feature.
"""

from collections.abc import Iterable

from msgspec import Struct

from emulator.profiles import Profile
from emulator.replica import Remote

UNDEFINED = -1
"""An epoch or offset that the leader does not know."""


def high_watermark(current: int, log_end_offset: int, counted: Iterable[int]) -> int:
    """A leader's next HW: max(HW, min(own LEO, LEOs of those that count)).

    An unknown LEO (-1) holds it still.

    Source: Partition.maybeIncrementLeaderHW, every release; the documents' rule 2.
    """
    return max(current, min((log_end_offset, *counted)))


def follower_high_watermark(told: int, log_end_offset: int) -> int:
    """A follower's HW after a response: min(told, own LEO), even when that is lower than before.

    Source: ReplicaFetcherThread.processPartitionData; the documents' rule 4.
    """
    return max(0, min(told, log_end_offset))


def record_fetch(
    profile: Profile, remote: Remote, offset: int, leader_leo: int, now_us: int
) -> None:
    """Remember a follower's fetch at ``offset``, made while the leader's LEO was ``leader_leo``.

    The offset is the acknowledgement.

    Source: Replica.updateFetchState (0.10.2+), Replica.updateLogReadResult (0.9),
    Replica.logEndOffset (0.8).
    """
    if profile.has("lag_since_fetch"):
        remote.last_caught_up_us = now_us
    elif offset >= leader_leo:
        remote.last_caught_up_us = max(remote.last_caught_up_us, now_us)
    elif profile.has("caught_up_by_last_fetch") and offset >= remote.last_fetch_leader_leo >= 0:
        remote.last_caught_up_us = max(remote.last_caught_up_us, remote.last_fetch_us)
    remote.leo = offset
    remote.last_fetch_leader_leo = leader_leo
    remote.last_fetch_us = now_us


def is_out_of_sync(
    profile: Profile,
    remote: Remote,
    leader_leo: int,
    now_us: int,
    *,
    lag_time_us: int,
    lag_messages: int,
) -> bool:
    """Whether a member has to leave the ISR.

    Source: Partition.getOutOfSyncReplicas; KIP-16 (0.9: time only); 2.1+: never while it has
    everything.
    """
    if profile.has("in_sync_at_log_end") and remote.leo == leader_leo:
        return False
    if profile.has("lag_in_messages") and 0 <= remote.leo < leader_leo - lag_messages:
        return True
    return now_us - remote.last_caught_up_us > lag_time_us


def holds_high_watermark(
    profile: Profile, remote: Remote, leader_leo: int, now_us: int, lag_time_us: int
) -> bool:
    """Whether an assigned replica outside the ISR holds the HW back because it is caught up.

    Source: Partition.maybeIncrementLeaderHW 0.10.2+, KAFKA-4485.
    """
    if not profile.has("caught_up_holds_hw"):
        return False
    if profile.has("isr_answer_rechecks_hw") and remote.leo == leader_leo:
        return True
    return now_us - remote.last_caught_up_us <= lag_time_us


def may_join_isr(
    profile: Profile, follower_leo: int, leader_hw: int, epoch_start: int | None
) -> bool:
    """Whether a follower's fetch offset admits it to the ISR.

    The leader's HW, and (2.0.1+) the start of its epoch.

    Source: Partition.isFollowerInSync; KAFKA-7128.
    """
    if follower_leo < leader_hw:
        return False
    if profile.has("expand_needs_epoch_start"):
        return epoch_start is not None and follower_leo >= epoch_start
    return True


class Truncation(Struct, frozen=True):
    """Where a follower has to cut, and whether that ends the question or it has to ask again."""

    offset: int
    done: bool


def truncation_by_answer(
    profile: Profile,
    answer: tuple[int, int],
    own: tuple[int, int],
    *,
    log_end_offset: int,
    high_watermark: int,
) -> Truncation:
    """What a follower does with the leader's (epoch, end offset).

    ``own`` is its own cache's answer for that epoch.

    Source: ReplicaFetcherThread.maybeTruncate 0.11 (KIP-101),
    AbstractFetcherThread.getOffsetTruncationState 2.0+ (KIP-279).
    """
    epoch, end = answer
    if end == UNDEFINED:
        return Truncation(min(high_watermark, log_end_offset), done=True)
    if not profile.has("epoch_in_answer") or epoch == UNDEFINED:
        return Truncation(min(end, log_end_offset), done=True)
    own_epoch, own_end = own
    if own_end == UNDEFINED:
        return Truncation(min(end, log_end_offset), done=True)
    if own_epoch != epoch:
        return Truncation(min(own_end, log_end_offset), done=False)
    return Truncation(min(own_end, end, log_end_offset), done=True)
