"""Share sessions: the partitions that a member fetches from a broker, between its requests.

A session ends with the member's connection, but not in 4.0. Its partitions are in the order in
which they last had records, so that each gets its turn. Source: ``ShareSessionCache``,
``ShareSession`` and ``ShareSessionContext`` 4.1.2 and 4.2.0.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field

from emulator.common.errors import NONE

INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
EPOCH_MAX: Final = (1 << 31) - 1
NOT_FOUND: Final = "SHARE_SESSION_NOT_FOUND"
INVALID_EPOCH: Final = "INVALID_SHARE_SESSION_EPOCH"
LIMIT_REACHED: Final = "SHARE_SESSION_LIMIT_REACHED"


class ShareSession(Struct, array_like=True):
    """A member's session: the epoch of its next request, and its partitions.

    A partition is mapped to whether the member is told of it in any case: it is new to the session,
    or had an error before. ``limits`` are how many bytes the member reads of partitions at once, as
    far as it has said so (4.0).
    """

    group: str
    member_id: str
    connection: str
    epoch: int = 1
    partitions: dict[str, bool] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)

    def update(
        self, added: Iterable[str], limits: dict[str, int], forgotten: Iterable[str]
    ) -> None:
        """Add partitions with their limits, and then let others leave."""
        for tp in added:
            self.partitions.setdefault(tp, True)
        self.limits |= limits
        for tp in forgotten:
            self.partitions.pop(tp, None)
            self.limits.pop(tp, None)

    def advance(self) -> None:
        self.epoch = 1 if self.epoch == EPOCH_MAX else self.epoch + 1

    def rotated(self, epoch: int) -> list[str]:
        """The partitions in their order for a request with an epoch."""
        partitions = list(self.partitions)
        first = epoch % len(partitions) if partitions and epoch >= 1 else 0
        return [*partitions[first:], *partitions[:first]]

    def must_include(self, tp: str, error: str, *, has_records: bool) -> bool:
        """Whether a response has to name a partition; what it says is remembered."""
        is_due = self.partitions.get(tp, False)
        if tp in self.partitions:
            self.partitions[tp] = error != NONE
            if has_records:
                del self.partitions[tp]
                self.partitions[tp] = False
        return has_records or error != NONE or is_due


class ShareSessions(Struct, array_like=True):
    """The share sessions of a broker, by group and member."""

    sessions: dict[str, ShareSession] = field(default_factory=dict)

    def find(self, group: str, member_id: str) -> ShareSession | None:
        return self.sessions.get(_key(group, member_id))

    def open(self, session: ShareSession, max_sessions: int) -> str:
        """Open a session in place of a former one; return an error if there are too many."""
        key = _key(session.group, session.member_id)
        self.sessions.pop(key, None)
        if len(self.sessions) >= max_sessions:
            return LIMIT_REACHED
        self.sessions[key] = session
        return NONE

    def close(self, session: ShareSession) -> None:
        self.sessions.pop(_key(session.group, session.member_id), None)


def _key(group: str, member_id: str) -> str:
    return f"{group}\n{member_id}"
