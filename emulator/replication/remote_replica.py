"""A leader's record of one follower, and its update by a fetch."""

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
