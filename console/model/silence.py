"""What a person did that keeps a broker from fetching or from being heard: why a timer had to fire.

An ISR shrinks, and a session ends, because something did *not* happen for a while. No event causes
that, but one began it.
"""

from typing import Final

from msgspec import Struct

from console.model.lookback import last_match
from console.model.reader import EventReader
from emulator import events
from emulator.events import BROKEN_STATES, Event
from sessions.model.states import ViewState

BUDGET_MS: Final = 60.0
"""How long the search may take."""
VERBS: Final = {"crashed": "crashed", "frozen": "froze", "stopped": "was stopped"}


class Silence(Struct, frozen=True):
    """That one of ``brokers`` does not fetch a partition, or is not heard by one of ``hosts``.

    These are the partition's leader, ZooKeeper or the controllers.
    """

    brokers: frozenset[int]
    hosts: frozenset[int]
    tp: str

    def is_changed_by(self, event: Event) -> bool:
        """Whether an event may have begun or ended it."""
        match event:
            case events.BrokerStateChanged(broker=broker):
                return broker in self.brokers and event.state in {*BROKEN_STATES, "running"}
            case events.ReplicaFetchPaused(broker=broker):
                return broker in self.brokers and event.tp == self.tp
            case events.LinkChanged(source=source, destination=destination):
                return self._is_between(source, destination) or self._is_between(
                    destination, source
                )
            case _:
                return False

    def _is_between(self, broker: int, host: int) -> bool:
        return broker in self.brokers and host in self.hosts


def judges(state: ViewState) -> frozenset[int]:
    """The processes that consider a broker dead if they do not hear from it."""
    return frozenset({events.ZOOKEEPER} if state.quorum is None else state.quorum.controllers)


def began(reader: EventReader, seq: int, silence: Silence) -> Event | None:
    """The last event before ``seq`` that began a silence; None if it was undone."""
    event = last_match(reader, seq, silence.is_changed_by, BUDGET_MS)
    return event if event is not None and silences(event) else None


def silences(event: Event) -> bool:
    """Whether an event is the beginning of a silence."""
    match event:
        case events.BrokerStateChanged(state=state):
            return state in BROKEN_STATES
        case events.ReplicaFetchPaused(paused=paused):
            return paused
        case events.LinkChanged():
            return bool(event.cut or event.delay_us or event.drop_percent or event.holding)
        case _:
            return False


def in_words(event: Event) -> str:
    """``replica 2 was paused``, ``broker 2 crashed``, ``the link from 2 to 1 was cut``."""
    match event:
        case events.BrokerStateChanged(broker=broker, state=state):
            return f"broker {broker} {VERBS.get(state, state)}"
        case events.ReplicaFetchPaused(broker=broker):
            return f"replica {broker} was paused"
        case events.LinkChanged(source=source, destination=destination, cut=cut):
            how = "was cut" if cut else "was impaired"
            return f"the link from {_host(source)} to {_host(destination)} {how}"
        case _:
            return ""


def _host(host: int) -> str:
    return {events.ZOOKEEPER: "ZooKeeper", events.CLIENTS: "the clients"}.get(host, str(host))
