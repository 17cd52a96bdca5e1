"""The truncation offset of a follower's log."""

from msgspec import Struct

from emulator.releases.profiles import Profile
from emulator.replication.leader_epoch_cache import UNDEFINED


class Truncation(Struct, frozen=True):
    """A follower's truncation offset, and whether it is final or the follower has to ask again."""

    offset: int
    done: bool


def truncation_by_response(
    profile: Profile,
    response: tuple[int, int],
    own: tuple[int, int],
    *,
    log_end_offset: int,
    high_watermark: int,
) -> Truncation:
    """A follower's truncation for the leader's (epoch, end offset).

    ``own`` is its own cache's result for that epoch.

    Source: ReplicaFetcherThread.maybeTruncate 0.11 (KIP-101),
    AbstractFetcherThread.getOffsetTruncationState 2.0+ (KIP-279).
    """
    epoch, end = response
    if end == UNDEFINED:
        return Truncation(min(high_watermark, log_end_offset), done=True)
    if not profile.has("epoch_end_offset_has_epoch") or epoch == UNDEFINED:
        return Truncation(min(end, log_end_offset), done=True)
    own_epoch, own_end = own
    if own_end == UNDEFINED:
        return Truncation(min(end, log_end_offset), done=True)
    if own_epoch != epoch:
        return Truncation(min(own_end, log_end_offset), done=False)
    return Truncation(min(own_end, end, log_end_offset), done=True)
