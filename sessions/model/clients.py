"""Values derived from the state of an external client: its lag, and a summary.

The lag of a group is that of its committed offsets, as in ``kafka-consumer-groups``; the lag of a
client that reads without a group is that of the position after the last record returned to it.
"""

from collections.abc import Mapping
from typing import Any, Final

from sessions.model.cluster_view import ClusterView
from sessions.model.states import ConnectionState

US_PER_MS: Final = 1_000
DEAD: Final = "Dead"
"""The state of a group that is no more."""


def behind(view: ClusterView, positions: Mapping[str, int]) -> dict[str, int]:
    """How many committed records follow each position, where the partition has a leader."""
    lags = {}
    for tp, position in positions.items():
        partition = view.partitions.get(tp)
        leader = None if partition is None else partition.leader_replica
        if leader is not None:
            lags[tp] = max(0, leader.high_watermark - position)
    return lags


def behind_by_group(view: ClusterView) -> dict[str, int]:
    """Return how many committed records each consumer group has yet to read."""
    return {
        name: sum(behind(view, group.offsets).values())
        for name, group in view.state.groups.items()
        if group.state != DEAD
    }


def positions_of(view: ClusterView, connection: ConnectionState) -> Mapping[str, int]:
    """The positions that a client's lag is measured from: its group's, or its own."""
    state = view.state
    group = state.groups.get(connection.group) if connection.group else None
    if group is not None:
        return group.offsets
    consumer = state.consumers.get(connection.client) if connection.fetched else None
    return {} if consumer is None else consumer.positions


def lag_of(view: ClusterView, connection: ConnectionState) -> int | None:
    """How many committed records a client has yet to read; None: it has no position anywhere."""
    lags = behind(view, positions_of(view, connection))
    return sum(lags.values()) if lags else None


def library_of(connection: ConnectionState) -> str:
    """The client's library with its version, as it says (KIP-511); empty if it does not."""
    return f"{connection.software} {connection.software_version}".strip()


def summary_of(view: ClusterView, connection: ConnectionState, now_us: int) -> dict[str, Any]:
    """All that is known of a connection, as plain data."""
    return {
        "connection": connection.number,
        "client_id": connection.client,
        "library": library_of(connection),
        "peer": connection.address,
        "broker": connection.broker,
        "requests": connection.requests,
        "requests_per_second": connection.requests_per_second(now_us),
        "last_request": connection.api,
        "last_request_version": connection.api_version if connection.api else None,
        "idle_ms": (now_us - (connection.asked_us or connection.opened_us)) // US_PER_MS,
        "waiting": connection.waiting,
        "errors": connection.errors,
        "group": connection.group,
        "lag": lag_of(view, connection),
    }
