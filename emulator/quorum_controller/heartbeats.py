"""What the active controller knows of brokers by their heartbeats, and who it knows to be gone.

This is soft state: it is not in the metadata log, and a controller that becomes active begins with
every session anew. Source: ``BrokerHeartbeatManager`` and, from 4.0, ``BrokerHeartbeatTracker``
(KAFKA-17793).
"""

from enum import Enum
from typing import Final, NamedTuple

from msgspec import Struct, field

NOT_SHUTTING_DOWN: Final = -1
NO_OFFSET: Final = -1
FENCE_CHECKS_PER_SESSION: Final = 8
"""How often the controller of 4.0 and later looks for stale brokers in one session timeout."""


class BrokerControlState(Enum):
    """A broker's state as the controller sees it (``BrokerControlState``)."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "controlled shutdown"
    SHUTDOWN_NOW = "shutdown now"


class BrokerHeartbeatState(Struct):
    """One broker: the metadata offset that it last told, and where its controlled shutdown began.

    ``controlled_shutdown_offset`` is the end of the batch that moved its leaders away, or -1.
    ``last_contact_us`` counts up to 3.9 and for unfenced brokers only.
    """

    id: int
    fenced: bool
    last_contact_us: int
    metadata_offset: int = NO_OFFSET
    controlled_shutdown_offset: int = NOT_SHUTTING_DOWN

    @property
    def is_shutting_down(self) -> bool:
        """Whether it is in controlled shutdown."""
        return self.controlled_shutdown_offset != NOT_SHUTTING_DOWN

    @property
    def state(self) -> BrokerControlState:
        """Its state until its next heartbeat."""
        if self.is_shutting_down:
            return BrokerControlState.CONTROLLED_SHUTDOWN
        return BrokerControlState.FENCED if self.fenced else BrokerControlState.UNFENCED


class Heartbeat(NamedTuple):
    """What a broker tells: how far it has read the metadata, and what it wants."""

    metadata_offset: int
    want_fence: bool = False
    want_shut_down: bool = False


class BrokerHeartbeats(Struct):
    """The brokers by id, and when each was last heard of; plain state.

    ``by_epoch``: whether contact times are kept for each broker epoch, apart from the rest (4.0+).
    So they hold of fenced brokers too: of one that was shut down until its session times out, when
    it is fenced a second time to no effect. ``contact_times`` are those, by broker and epoch.
    """

    session_timeout_us: int
    by_epoch: bool
    brokers: dict[int, BrokerHeartbeatState] = field(default_factory=dict)
    contact_times: dict[int, dict[int, int]] = field(default_factory=dict)

    def register(self, broker: int, now_us: int, *, fenced: bool) -> None:
        """Begin with a broker, or take note that it is fenced or unfenced now."""
        known = self.brokers.get(broker)
        offset = NO_OFFSET
        if known is None:
            self.brokers[broker] = BrokerHeartbeatState(broker, fenced, now_us)
        elif known.fenced != fenced:
            offset = known.metadata_offset
        self.touch(broker, now_us, fenced=fenced, metadata_offset=offset)

    def touch(self, broker: int, now_us: int, *, fenced: bool, metadata_offset: int) -> None:
        """Take note of a heartbeat, or of what a record said."""
        state = self.brokers[broker]
        state.fenced = fenced
        state.metadata_offset = metadata_offset
        state.last_contact_us = now_us
        if fenced:
            # A fenced broker has left controlled shutdown: at its next heartbeat it may go at once.
            state.controlled_shutdown_offset = NOT_SHUTTING_DOWN

    def remove(self, broker: int) -> None:
        """Forget a broker, but not when it was last heard of (4.0+)."""
        self.brokers.pop(broker, None)

    def track(self, broker: int, epoch: int, now_us: int) -> None:
        """Take note that a broker was heard of, whatever becomes of its heartbeat (4.0+)."""
        if self.by_epoch:
            times = self.contact_times.setdefault(broker, {})
            times.pop(epoch, None)
            times[epoch] = now_us

    def has_valid_session(self, broker: int, epoch: int, now_us: int) -> bool:
        """Whether a broker of that epoch was heard of within its session timeout.

        Up to 3.9 a fenced broker has no session.
        """
        if self.by_epoch:
            heard_us = self.contact_times.get(broker, {}).get(epoch)
            return heard_us is not None and now_us <= heard_us + self.session_timeout_us
        state = self.brokers.get(broker)
        if state is None or state.fenced:
            return False
        return now_us <= state.last_contact_us + self.session_timeout_us

    def expired(self, now_us: int) -> tuple[int, int | None] | None:
        """Return a broker whose session has timed out, the one that was silent longest.

        With it comes its broker epoch, or None up to 3.9.
        """
        oldest: tuple[int, int, int | None] | None = None
        for heard_us, broker, epoch in self._sessions():
            if now_us > heard_us + self.session_timeout_us and (not oldest or heard_us < oldest[0]):
                oldest = heard_us, broker, epoch
        return None if oldest is None else oldest[1:]

    def forget_session(self, broker: int, epoch: int) -> None:
        """Forget when a broker of that epoch was last heard of."""
        times = self.contact_times.get(broker, {})
        times.pop(epoch, None)
        if not times:
            self.contact_times.pop(broker, None)

    def next_check_us(self, now_us: int) -> int | None:
        """When to look for stale brokers next; None: no broker has a session that could end.

        Up to 3.9 that is just after the longest silent session has timed out. From 4.0 on the
        controller looks eight times in a session, so fencing comes up to an eighth of it later.
        """
        if self.by_epoch:
            return now_us + max(1_000, self.session_timeout_us // FENCE_CHECKS_PER_SESSION)
        heard = [heard_us for heard_us, _, _ in self._sessions()]
        # At its last moment a session is still valid.
        return max(now_us, min(heard) + self.session_timeout_us + 1) if heard else None

    def begin_controlled_shutdown(self, broker: int, offset: int) -> None:
        """Take note of the end of the batch that moved a broker's leaders away, if it is the first.

        Source: ``maybeUpdateControlledShutdownOffset``.
        """
        state = self.brokers[broker]
        if not state.is_shutting_down:
            state.controlled_shutdown_offset = offset

    def lowest_active_offset(self) -> int | None:
        """How far the active broker that is furthest behind has read; None: there is none."""
        return min(
            (
                each.metadata_offset
                for each in self.brokers.values()
                if not each.fenced and not each.is_shutting_down
            ),
            default=None,
        )

    def next_state(
        self, broker: int, heartbeat: Heartbeat, record_offset: int, *, has_leaderships: bool
    ) -> BrokerControlState:
        """Return the state that a heartbeat leads to (``calculateNextBrokerState``).

        ``record_offset`` is where the broker's registration stands in the log.
        """
        known = self.brokers[broker]
        state = known.state
        if state is BrokerControlState.FENCED:
            if heartbeat.want_shut_down:
                return BrokerControlState.SHUTDOWN_NOW
            has_caught_up = heartbeat.metadata_offset >= record_offset
            return (
                state if heartbeat.want_fence or not has_caught_up else BrokerControlState.UNFENCED
            )
        if state is BrokerControlState.UNFENCED:
            return _leave(heartbeat, has_leaderships=has_leaderships)
        if has_leaderships:
            return state
        lowest = self.lowest_active_offset()
        if lowest is None or known.controlled_shutdown_offset <= lowest:
            # Everybody else knows by now who leads in its place.
            return BrokerControlState.SHUTDOWN_NOW
        return state

    def _sessions(self) -> "list[tuple[int, int, int | None]]":
        """When each broker was last heard of, its id and epoch."""
        if self.by_epoch:
            return [
                (heard_us, broker, epoch)
                for broker, times in self.contact_times.items()
                for epoch, heard_us in times.items()
            ]
        return [
            (each.last_contact_us, each.id, None)
            for each in self.brokers.values()
            if not each.fenced
        ]


def _leave(heartbeat: Heartbeat, *, has_leaderships: bool) -> BrokerControlState:
    """Return what becomes of an unfenced broker."""
    if heartbeat.want_fence:
        wants_to_go = heartbeat.want_shut_down
        return BrokerControlState.SHUTDOWN_NOW if wants_to_go else BrokerControlState.FENCED
    if not heartbeat.want_shut_down:
        return BrokerControlState.UNFENCED
    if has_leaderships:
        return BrokerControlState.CONTROLLED_SHUTDOWN
    return BrokerControlState.SHUTDOWN_NOW
