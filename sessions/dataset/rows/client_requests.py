"""Rows for ``client_requests``: requests of external clients, and their responses.

A broker works on one request of a connection at a time, so a connection has one open row at most.
"""

from collections.abc import Callable
from typing import Any, Final

from emulator.events import (
    ClientConnected,
    ClientDisconnected,
    ClientIdentified,
    ClientRequestReceived,
    ClientResponseSent,
    Event,
)
from sessions.dataset.rows.by_name import row_maker
from sessions.dataset.tables import CLIENT_REQUESTS
from sessions.dataset.writer import Row

client_request: Final = row_maker(CLIENT_REQUESTS)


class ClientRequestFold:
    """Pairs each request with its response; a request ends with the next one of its connection."""

    def __init__(self, add: Callable[[Row], object]) -> None:
        self._add = add
        self._addresses: dict[int, str] = {}
        self._libraries: dict[int, str] = {}
        self._open: dict[int, ClientRequestReceived] = {}

    def handlers(self) -> dict[type[Event], Callable[[Any], None]]:
        return {
            ClientConnected: self._connected,
            ClientIdentified: self._identified,
            ClientRequestReceived: self._received,
            ClientResponseSent: self._on_response,
            ClientDisconnected: self._disconnected,
        }

    def finish(self) -> None:
        """End the session: emit the requests without a response."""
        for connection in list(self._open):
            self._end(connection)

    def _connected(self, event: ClientConnected) -> None:
        self._addresses[event.connection] = event.address

    def _identified(self, event: ClientIdentified) -> None:
        self._libraries[event.connection] = f"{event.software} {event.software_version}".strip()

    def _received(self, event: ClientRequestReceived) -> None:
        self._end(event.connection)
        self._open[event.connection] = event

    def _on_response(self, event: ClientResponseSent) -> None:
        self._end(event.connection, event)

    def _disconnected(self, event: ClientDisconnected) -> None:
        self._end(event.connection)
        self._addresses.pop(event.connection, None)
        self._libraries.pop(event.connection, None)

    def _end(self, connection: int, response: ClientResponseSent | None = None) -> None:
        request = self._open.pop(connection, None)
        if request is None:
            return
        self._add(
            client_request(
                seq=request.seq,
                time_us=request.time_us,
                cause=request.cause,
                connection=connection,
                client=request.client,
                address=self._addresses.get(connection, ""),
                library=self._libraries.get(connection),
                broker=request.broker,
                api=request.api,
                api_version=request.api_version,
                group=request.group or None,
                answered_seq=None if response is None else response.seq,
                answered_us=None if response is None else response.time_us,
                errors=None if response is None else response.errors,
            )
        )
