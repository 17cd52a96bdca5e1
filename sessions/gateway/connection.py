"""A connection of a client outside to a broker's port."""

import asyncio
from typing import TYPE_CHECKING, Final, cast

from sessions.gateway.frames import LENGTH_BYTES, BadFrameError, FrameBuffer

if TYPE_CHECKING:
    from sessions.gateway.gateway import Gateway

REQUESTS_MAX: Final = 64
"""How many requests of a connection may be under way before no more are read from it."""


class ClientConnection(asyncio.Protocol):
    """Passes frames on to the gateway, and responses back.

    What a client may have in memory is bounded: it is read from no further while it has too many
    requests under way, or too many bytes in them, or does not take its responses.
    """

    def __init__(self, gateway: "Gateway", broker: int) -> None:
        """Belong to the port of ``broker``."""
        self.gateway = gateway
        self.broker = broker
        self.number = 0
        self.peer = ""
        self._transport: asyncio.Transport | None = None
        self._frames = FrameBuffer(gateway.limit_bytes(broker))
        self._takes_no_more = False
        self._is_paused = False

    # ---- what asyncio says

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The client has connected."""
        self._transport = cast(asyncio.Transport, transport)
        host, port, *_ = transport.get_extra_info("peername") or ("", 0)
        self.peer = f"{host}:{port}"
        if not self.gateway.opened(self):
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        if not self.number:
            return
        try:
            frames = self._frames.feed(data)
        except BadFrameError as error:
            self.gateway.dropped(self, str(error))
            return
        for frame in frames:
            self.gateway.received(self, frame)
        self._pace()

    def pause_writing(self) -> None:
        """The client does not take its responses."""
        self._takes_no_more = True
        self._pace()

    def resume_writing(self) -> None:
        """It takes them again."""
        self._takes_no_more = False
        self._pace()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has hung up, or the connection broke."""
        del exc
        if self.number:
            self.gateway.closed(self)

    # ---- what the gateway says

    def respond(self, frame: bytes) -> None:
        """Send the response to the oldest request that is under way."""
        if self._transport is not None:
            self._transport.writelines((len(frame).to_bytes(LENGTH_BYTES), frame))
        self._pace()

    def close(self, *, abort: bool = False) -> None:
        """Close the connection, after what was written or (``abort``) at once."""
        if self._transport is not None:
            (self._transport.abort if abort else self._transport.close)()

    def stop_reading(self) -> None:
        """Take no more requests: the server is about to end."""
        self._takes_no_more = True
        self._pace()

    def _pace(self) -> None:
        """Read on, or not for now."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        requests, size_bytes = self.gateway.backlog(self)
        too_much = requests > REQUESTS_MAX or size_bytes > self._frames.limit_bytes
        wanted = self._takes_no_more or too_much
        if wanted and not self._is_paused:
            transport.pause_reading()
        elif self._is_paused and not wanted:
            transport.resume_reading()
        self._is_paused = wanted
