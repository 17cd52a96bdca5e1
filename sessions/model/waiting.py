"""Since when something waits for a process that does not respond, and until when at the latest."""

from functools import lru_cache
from typing import Final

from msgspec import Struct

from emulator.releases.config import ConfigError, resolve
from emulator.releases.config_names import BrokerConfig
from sessions.model.authority import Authority, severed_followers
from sessions.model.health import SERVING, missing_from_isr
from sessions.model.states import PartitionState, ViewState

TICK_US: Final = 2_000_000
"""ZooKeeper ends sessions by the tick (tickTime)."""
CONFIGS_KEPT: Final = 16


class Wait(Struct, frozen=True):
    """Writes with acks=all wait for ``brokers``.

    ``since_us`` is when the first of them ceased to respond, or since when records wait for one
    that does not fetch; ``until_us`` when the last one has left the ISR, or has lost its
    leadership, at the latest if it does not come back (None: unknown or never).
    """

    brokers: tuple[int, ...]
    since_us: int | None
    until_us: int | None


def wait_of(state: ViewState, partition: PartitionState) -> Wait | None:
    """Return what the writes of a partition with an acting leader wait for; None if nothing."""
    serving = {broker.id for broker in state.brokers.values() if broker.state in SERVING}
    brokers = tuple(missing_from_isr(partition, serving, severed_followers(state)))
    if not brokers and not is_stalled(state, partition):
        return None
    brokers = brokers or laggards(partition)
    wait = wait_for(state, brokers)
    has_begun = wait.since_us is not None or not partition.has_uncommitted
    return wait if has_begun else Wait(brokers, partition.hw_moved_us, None)


def is_stalled(state: ViewState, partition: PartitionState) -> bool:
    """Whether records wait above a HW that has not moved for replica.lag.time.max.ms.

    That is the release's own default unless the cluster's settings say otherwise.
    """
    if not partition.has_uncommitted:
        return False
    return state.time_us - partition.hw_moved_us > config_of(state).replica_lag_time_max_us


def laggards(partition: PartitionState) -> tuple[int, ...]:
    """The members of the ISR that, as far as their leader knows, have not fetched to its end."""
    leader = partition.leader_replica
    if leader is None:
        return ()
    return tuple(
        broker
        for broker in partition.isr
        if broker != leader.broker and leader.remote_leo.get(broker, -1) < leader.log_end_offset
    )


def wait_for(state: ViewState, brokers: tuple[int, ...]) -> Wait:
    """Return since when these brokers have not responded, and until when they are waited for.

    A broker that serves and does not fetch has no known end, nor has what should have happened by
    now and did not: nobody can change the ISR.
    """
    times = [time_us for broker in brokers if (time_us := silenced_us(state, broker)) is not None]
    if not times:
        return Wait(brokers, None, None)
    until_us = max(times) + patience_us(state)
    is_known = len(times) == len(brokers) and until_us >= state.time_us
    return Wait(brokers, min(times), until_us if is_known else None)


def silenced_us(state: ViewState, process: int) -> int | None:
    """When a broker or controller that does not run ceased to; None if that is not known."""
    broker = state.brokers.get(process)
    if broker is not None:
        return broker.silent_us or None
    return None if state.quorum is None else state.quorum.silent_us.get(process)


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


def next_controller_us(state: ViewState, here: Authority) -> int | None:
    """When ZooKeeper forgets a controller that has failed, at the latest; None if unknown."""
    if here.controller is None or state.quorum is not None:
        return None
    since = silenced_us(state, here.controller)
    return None if since is None else since + session_us(state)
