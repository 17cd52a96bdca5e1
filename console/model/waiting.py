"""Since when something waits for a process that does not respond, and until when at the latest."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from msgspec import Struct

from console.model.reader import EventReader
from emulator.events import BrokerStateChanged, ControllerStateChanged, Event
from emulator.releases.config import BrokerConfig, ConfigError, resolve
from sessions.model.authority import Authority
from sessions.model.health import SERVING
from sessions.model.states import PartitionState, ViewState

STEPS_MAX: Final = 256
"""How many events of a process are searched for the one that changed its state."""
TICK_US: Final = 2_000_000
"""ZooKeeper ends sessions by the tick (tickTime)."""
CONFIGS_KEPT: Final = 16


class Wait(Struct, frozen=True):
    """Writes with acks=all wait for ``brokers`` of the ISR.

    ``since_us`` is when the first of them ceased to respond (None: long ago), ``until_us`` when
    the last one has left the ISR at the latest, if it does not come back.
    """

    brokers: tuple[int, ...]
    since_us: int | None
    until_us: int | None


def wait_of(reader: EventReader, state: ViewState, partition: PartitionState) -> Wait | None:
    """Return what the writes of a partition with an acting leader wait for; None if nothing."""
    silent = tuple(
        broker
        for broker in partition.isr
        if (known := state.brokers.get(broker)) is None or known.state not in SERVING
    )
    if not silent:
        return None
    times = [silenced_us(reader, state, broker) for broker in silent]
    known_times = [time_us for time_us in times if time_us is not None]
    if not known_times:
        return Wait(silent, None, None)
    return Wait(silent, min(known_times), max(known_times) + patience_us(state))


def silenced_us(reader: EventReader, state: ViewState, broker: int) -> int | None:
    """When a process that does not serve ceased to; None if that is not near."""
    found = _changes(reader, f"broker.{broker}", state.seq)
    last = None
    for event in found:
        if isinstance(event, BrokerStateChanged) and event.broker == broker:
            if event.state in SERVING:
                break
            last = event.time_us
        elif isinstance(event, ControllerStateChanged) and event.controller == broker:
            if event.state == "running":
                break
            last = event.time_us
    return last


def _changes(reader: EventReader, name: str, seq: int) -> Iterable[Event]:
    last: int | None = seq + 1
    for _ in range(STEPS_MAX):
        last = reader.source.touching([name], last, -1) if last is not None else None
        event = None if last is None else reader.get(last)
        if event is None:
            return
        yield event


def patience_us(state: ViewState) -> int:
    """How long a broker that does not respond stays in an ISR at most.

    Its session ends, and the controller removes it; or the leader, which looks twice in
    replica.lag.time.max.ms, finds that it has not fetched for so long.
    """
    config = config_of(state)
    lag_us = config.replica_lag_time_max_us * 3 // 2
    return min(lag_us, session_us(state))


def session_us(state: ViewState) -> int:
    """How long a broker's session lasts after its last sign of life."""
    config = config_of(state)
    if state.quorum is not None:
        return config.broker_session_timeout_us
    return config.zookeeper_session_timeout_us + TICK_US


def config_of(state: ViewState) -> BrokerConfig:
    """The settings that all brokers of the cluster have."""
    return _resolved(state.version, tuple(sorted(state.config.items())))


@lru_cache(CONFIGS_KEPT)
def _resolved(version: str, settings: tuple[tuple[str, str], ...]) -> BrokerConfig:
    try:
        return resolve(version, dict(settings))
    except ConfigError:  # of another version of this program
        return resolve(version, {})


def next_controller_us(reader: EventReader, state: ViewState, here: Authority) -> int | None:
    """When ZooKeeper forgets a controller that has failed, at the latest; None if unknown."""
    if here.controller is None or state.quorum is not None:
        return None
    since = silenced_us(reader, state, here.controller)
    return None if since is None else since + session_us(state)
