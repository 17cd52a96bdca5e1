"""What a person did that keeps a broker from fetching or from being heard: why a timer had to fire.

An ISR shrinks, and a session ends, because something did *not* happen for a while. No event causes
that, but one began it.
"""

from collections.abc import Collection
from typing import Final

from console.model.lookback import last_match
from console.model.reader import EventReader
from emulator import events
from emulator.events import BROKEN_STATES, Event

BUDGET_MS: Final = 60.0
"""How long the search may take."""
VERBS: Final = {"crashed": "crashed", "frozen": "froze", "stopped": "was stopped"}


def began(reader: EventReader, seq: int, brokers: Collection[int], tp: str) -> Event | None:
    """The last event before ``seq`` that kept one of the brokers from fetching a partition.

    None if it was undone.
    """
    event = last_match(reader, seq, lambda event: concerned(event, brokers, tp), BUDGET_MS)
    return event if event is not None and silences(event) else None


def concerned(event: Event, brokers: Collection[int], tp: str) -> bool:
    """Whether an event changes how one of the brokers can be heard, or fetches the partition."""
    match event:
        case events.BrokerStateChanged(broker=broker):
            return broker in brokers and event.state in {*BROKEN_STATES, "running"}
        case events.ReplicaFetchPaused(broker=broker):
            return broker in brokers and event.tp == tp
        case events.LinkChanged(source=source, destination=destination):
            return source in brokers or destination in brokers
        case _:
            return False


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
