"""External clients: their connections, their requests, and the responses."""

from copy import copy
from typing import Final

from emulator import events
from sessions.model import copies
from sessions.model.folding import Handlers, Model
from sessions.model.states import US_PER_SECOND, ConnectionState, FaultState

FETCH: Final = "Fetch"


def _connection(model: Model, number: int, seq: int) -> ConnectionState:
    """Return the connection, to be changed by event ``seq``."""
    connections = model.state.connections
    connection = connections[number]
    if connection.changed <= model.frozen:
        connection = connections[number] = copies.copied(connection)
    connection.changed = seq
    return connection


def connected(model: Model, event: events.ClientConnected) -> None:
    """A client is there; nothing was asked yet."""
    model.state.connections[event.connection] = ConnectionState(
        event.connection, event.broker, event.address, event.time_us, changed=event.seq
    )


def identified(model: Model, event: events.ClientIdentified) -> None:
    """Note the client's library."""
    connection = _connection(model, event.connection, event.seq)
    connection.software = event.software
    connection.software_version = event.software_version


def request_received(model: Model, event: events.ClientRequestReceived) -> None:
    """It asks for something."""
    connection = _connection(model, event.connection, event.seq)
    connection.client = event.client
    connection.group = event.group or connection.group
    connection.requests += 1
    connection.api, connection.api_version = event.api, event.api_version
    connection.asked_us, connection.waiting = event.time_us, True
    connection.fetched = connection.fetched or event.api == FETCH
    second = event.time_us // US_PER_SECOND
    if second != connection.second:
        follows = second == connection.second + 1
        connection.in_second_before = connection.in_second if follows else 0
        connection.second, connection.in_second = second, 0
    connection.in_second += 1


def response_sent(model: Model, event: events.ClientResponseSent) -> None:
    """Record the response."""
    connection = _connection(model, event.connection, event.seq)
    connection.waiting = False
    for error in event.errors:
        connection.errors[error] = connection.errors.get(error, 0) + 1
        connection.last_error, connection.last_error_us = error, event.time_us


def fault_prepared(model: Model, event: events.FaultPrepared) -> None:
    """A fault is to come over some requests."""
    model.state.faults[event.name] = FaultState(
        event.name, event.api, event.effect, event.times, changed=event.seq
    )


def fault_injected(model: Model, event: events.FaultInjected) -> None:
    """It has come once more."""
    faults = model.state.faults
    fault = faults[event.name]
    if fault.changed <= model.frozen:
        fault = faults[event.name] = copy(fault)
    fault.injected, fault.changed = fault.injected + 1, event.seq


def disconnected(model: Model, event: events.ClientDisconnected) -> None:
    """Forget a connection that was closed."""
    model.state.connections.pop(event.connection, None)


HANDLERS: Final[Handlers] = {
    events.ClientConnected: connected,
    events.ClientIdentified: identified,
    events.ClientRequestReceived: request_received,
    events.ClientResponseSent: response_sent,
    events.FaultPrepared: fault_prepared,
    events.FaultInjected: fault_injected,
    events.ClientDisconnected: disconnected,
}
