"""Sessions: connected clients, their ephemerals, and their expiry."""

from typing import Final

from msgspec import Struct, field

TICKS_MIN: Final = 2
TICKS_MAX: Final = 20
"""Session timeouts are limited to between these multiples of the tick."""


class Session(Struct, array_like=True):
    """One client's session; ``expires_us`` is the end of its tick bucket, ``ephemerals`` a set.

    If ``is_kept_alive`` it does not time out: its client's pings are not emulated.
    """

    host: int
    timeout_ms: int
    expires_us: int
    ephemerals: dict[str, None] = field(default_factory=dict)
    is_kept_alive: bool = False


class Sessions(Struct, array_like=True):
    """All live sessions by id, and each host's latest one (``SessionTrackerImpl``).

    A session's deadline is its last sign of life plus its timeout, rounded up to the next tick: it
    expires at that tick, never earlier than its timeout and at most one tick later.
    """

    tick_time_ms: int
    next_id: int
    live: dict[int, Session] = field(default_factory=dict)
    latest: dict[int, int] = field(default_factory=dict)

    def open(self, host: int, timeout_ms: int, now_us: int, *, is_kept_alive: bool = False) -> int:
        """Open a session of ``host`` with the nearest allowed timeout; return its id."""
        granted = min(max(timeout_ms, TICKS_MIN * self.tick_time_ms), TICKS_MAX * self.tick_time_ms)
        session = self.next_id
        self.next_id += 1
        deadline_us = self.deadline_us(now_us, granted)
        self.live[session] = Session(host, granted, deadline_us, is_kept_alive=is_kept_alive)
        self.latest[host] = session
        return session

    def heard_from(self, session: int, now_us: int) -> bool:
        """Extend the session's deadline; False if there is no such session (any longer)."""
        state = self.live.get(session)
        if state is None:
            return False
        state.expires_us = self.deadline_us(now_us, state.timeout_ms)
        return True

    def end(self, session: int) -> Session:
        """Remove a live session; the server handles the consequences."""
        ended = self.live.pop(session)
        if self.latest.get(ended.host) == session:
            del self.latest[ended.host]
        return ended

    def due(self, now_us: int) -> list[int]:
        """Return the sessions whose bucket has ended, earliest first."""
        due = [
            (state.expires_us, session)
            for session, state in self.live.items()
            if state.expires_us <= now_us and not state.is_kept_alive
        ]
        return [session for _, session in sorted(due)]

    def next_expiry_us(self) -> int | None:
        """Return when the next bucket with a session in it ends."""
        ends = (state.expires_us for state in self.live.values() if not state.is_kept_alive)
        return min(ends, default=None)

    def deadline_us(self, heard_us: int, timeout_ms: int) -> int:
        """Return the end of the bucket for a session heard from at ``heard_us``."""
        tick_us = self.tick_time_ms * 1000
        return ((heard_us + timeout_ms * 1000) // tick_us + 1) * tick_us


def first_session_id(server_id: int, started_ms: int) -> int:
    """Return the id of a server's first session: its number above 40 bits of its start time.

    Ids then count up; they print like 0x20191d7053f0009 (``initializeNextSessionId``).
    """
    return server_id << 56 | (started_ms << 24 & (1 << 64) - 1) >> 8
