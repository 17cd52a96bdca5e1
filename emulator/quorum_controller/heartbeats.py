"""The active controller's view of brokers' heartbeats and sessions.

This is soft state, which is not in the metadata log: a new active controller restarts all
sessions. Source: ``BrokerHeartbeatManager`` and, from 4.0, ``BrokerHeartbeatTracker``
(KAFKA-17793).
"""

from enum import Enum
from typing import Final, NamedTuple

from msgspec import Struct, field

NOT_SHUTTING_DOWN: Final = -1
NO_OFFSET: Final = -1
FENCE_CHECKS_PER_SESSION: Final = 8
"""The number of stale broker checks in a session timeout, from 4.0 on."""


class BrokerControlState(Enum):
    """A broker's state in the controller (``BrokerControlState``)."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "controlled shutdown"
    SHUTDOWN_NOW = "shutdown now"


class BrokerHeartbeatState(Struct):
    """A broker's reported metadata offset, and the offset of its controlled shutdown.

    ``controlled_shutdown_offset`` is the end of the batch that moved its leaders away, or -1.
    ``last_contact_us`` is only used up to 3.9, and for unfenced brokers.
    """

    id: int
    fenced: bool
    last_contact_us: int
    metadata_offset: int = NO_OFFSET
    controlled_shutdown_offset: int = NOT_SHUTTING_DOWN

    @property
    def is_shutting_down(self) -> bool:
        return self.controlled_shutdown_offset != NOT_SHUTTING_DOWN

    @property
    def state(self) -> BrokerControlState:
        """The state until the next heartbeat."""
        if self.is_shutting_down:
            return BrokerControlState.CONTROLLED_SHUTDOWN
        return BrokerControlState.FENCED if self.fenced else BrokerControlState.UNFENCED


class Heartbeat(NamedTuple):
    """The content of a heartbeat: the broker's metadata offset and its requests.

    ``cordoned_log_dirs``: None if the broker does not name them.
    """

    metadata_offset: int
    want_fence: bool = False
    want_shut_down: bool = False
    cordoned_log_dirs: tuple[str, ...] | None = None


class BrokerHeartbeats(Struct):
    """The brokers by id, and the time of each one's last contact, as plain state.

    ``by_epoch``: contact times are kept for each broker epoch separately (4.0+), in
    ``contact_times`` by broker and epoch. They thus include fenced brokers: after a shutdown, a
    broker is fenced a second time, without effect, when its session times out.
    """

    session_timeout_us: int
    by_epoch: bool
    brokers: dict[int, BrokerHeartbeatState] = field(default_factory=dict)
    contact_times: dict[int, dict[int, int]] = field(default_factory=dict)

    def register(self, broker: int, now_us: int, *, fenced: bool) -> None:
        """Add a broker, or update whether it is fenced."""
        heartbeat = self.brokers.get(broker)
        offset = NO_OFFSET
        if heartbeat is None:
            self.brokers[broker] = BrokerHeartbeatState(broker, fenced, now_us)
        elif heartbeat.fenced != fenced:
            offset = heartbeat.metadata_offset
        self.touch(broker, now_us, fenced=fenced, metadata_offset=offset)

    def touch(self, broker: int, now_us: int, *, fenced: bool, metadata_offset: int) -> None:
        """Update a broker's state after a heartbeat or a record."""
        state = self.brokers[broker]
        state.fenced = fenced
        state.metadata_offset = metadata_offset
        state.last_contact_us = now_us
        if fenced:
            # A fenced broker is not in controlled shutdown: it may shut down at its next heartbeat.
            state.controlled_shutdown_offset = NOT_SHUTTING_DOWN

    def remove(self, broker: int) -> None:
        """Remove a broker, but not its contact time (4.0+)."""
        self.brokers.pop(broker, None)

    def track(self, broker: int, epoch: int, now_us: int) -> None:
        """Record the contact time of a heartbeat, whatever its result (4.0+)."""
        if self.by_epoch:
            times = self.contact_times.setdefault(broker, {})
            times.pop(epoch, None)
            times[epoch] = now_us

    def has_valid_session(self, broker: int, epoch: int, now_us: int) -> bool:
        """Whether a broker of that epoch was heard from within its session timeout.

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
        """Return the broker whose session timed out first, if any.

        It comes with its broker epoch, or None up to 3.9.
        """
        oldest: tuple[int, int, int | None] | None = None
        for heard_us, broker, epoch in self._sessions():
            if now_us > heard_us + self.session_timeout_us and (not oldest or heard_us < oldest[0]):
                oldest = heard_us, broker, epoch
        return None if oldest is None else oldest[1:]

    def forget_session(self, broker: int, epoch: int) -> None:
        """Remove the contact time of a broker epoch."""
        times = self.contact_times.get(broker, {})
        times.pop(epoch, None)
        if not times:
            self.contact_times.pop(broker, None)

    def next_check_us(self, now_us: int) -> int | None:
        """The time of the next stale broker check; None if no broker has a session.

        Up to 3.9 that is just after the earliest session timeout. From 4.0 on the controller checks
        eight times per session timeout, so fencing may be delayed by up to an eighth of it.
        """
        if self.by_epoch:
            return now_us + max(1_000, self.session_timeout_us // FENCE_CHECKS_PER_SESSION)
        heard = [heard_us for heard_us, _, _ in self._sessions()]
        # A session is still valid in its last microsecond.
        return max(now_us, min(heard) + self.session_timeout_us + 1) if heard else None

    def begin_controlled_shutdown(self, broker: int, offset: int) -> None:
        """Set the end of the batch that moved a broker's leaders away, unless it is set.

        Source: ``maybeUpdateControlledShutdownOffset``.
        """
        state = self.brokers[broker]
        if not state.is_shutting_down:
            state.controlled_shutdown_offset = offset

    def lowest_active_offset(self) -> int | None:
        """The lowest metadata offset of all active brokers; None if there are none."""
        return min(
            (
                broker.metadata_offset
                for broker in self.brokers.values()
                if not broker.fenced and not broker.is_shutting_down
            ),
            default=None,
        )

    def next_state(
        self, broker: int, heartbeat: Heartbeat, record_offset: int, *, has_leaderships: bool
    ) -> BrokerControlState:
        """Return the state that results from a heartbeat (``calculateNextBrokerState``).

        ``record_offset`` is the offset of the broker's registration.
        """
        broker_state = self.brokers[broker]
        state = broker_state.state
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
        if lowest is None or broker_state.controlled_shutdown_offset <= lowest:
            # All other brokers know the new leaders by now.
            return BrokerControlState.SHUTDOWN_NOW
        return state

    def _sessions(self) -> "list[tuple[int, int, int | None]]":
        """The time of each broker's last contact, with its id and epoch."""
        if self.by_epoch:
            return [
                (heard_us, broker, epoch)
                for broker, times in self.contact_times.items()
                for epoch, heard_us in times.items()
            ]
        return [
            (broker.last_contact_us, broker.id, None)
            for broker in self.brokers.values()
            if not broker.fenced
        ]


def _leave(heartbeat: Heartbeat, *, has_leaderships: bool) -> BrokerControlState:
    """Return the next state of an unfenced broker."""
    if heartbeat.want_fence:
        wants_to_go = heartbeat.want_shut_down
        return BrokerControlState.SHUTDOWN_NOW if wants_to_go else BrokerControlState.FENCED
    if not heartbeat.want_shut_down:
        return BrokerControlState.UNFENCED
    if has_leaderships:
        return BrokerControlState.CONTROLLED_SHUTDOWN
    return BrokerControlState.SHUTDOWN_NOW
