"""A connection of an external client to a broker's port."""

import asyncio
from collections import deque
from typing import Final, Protocol, cast

from sessions.gateway.distinguished_names import subject_of
from sessions.gateway.frames import LENGTH_BYTES, BadFrameError, FrameBuffer

REQUESTS_MAX: Final = 64
"""Maximum number of queued requests of a connection before reading pauses."""
WAITING_BYTES_MAX: Final = 1 << 20
"""Maximum size of queued requests of a connection before reading pauses."""


class ConnectionHandler(Protocol):
    """Callbacks for a connection's events."""

    def opened(self, connection: "ClientConnection", /) -> bool:
        """Handle a new connection; return False to reject it."""

    def received(self, connection: "ClientConnection", frame: bytes, /) -> bool:
        """Handle a request; return True if it will be answered later."""

    def held(self, byte_count: int, /) -> None:
        """Handle a change of the bytes of incomplete requests."""

    def closed(self, connection: "ClientConnection", /) -> None:
        """Handle a closed connection."""

    def dropped(self, connection: "ClientConnection", reason: str, /) -> None:
        """Handle invalid data from a client."""


class ClientConnection(asyncio.Protocol):
    """Passes requests on to a handler, and responses back.

    ``used_us`` is the virtual time of its last request, which the handler notes;
    ``incomplete_bytes`` is the size of what has come of the next one. ``subject`` is the name in
    the client's certificate (None: it has shown none).

    As in Kafka's ``SocketServer``, the next request is passed on once the previous one has been
    answered and its response written. So a client's memory use is bounded, however fast it sends
    and however slowly it reads: one response, and the maximum number of queued requests.
    """

    def __init__(
        self, handler: ConnectionHandler, broker: int, listener: str, limit_bytes: int
    ) -> None:
        """Belong to a listener of ``broker``, and refuse frames of more than ``limit_bytes``."""
        self.handler = handler
        self.broker = broker
        self.listener = listener
        self.number = 0
        self.peer = ""
        self.subject: str | None = None
        self.used_us = 0
        self.incomplete_bytes = 0
        self._transport: asyncio.Transport | None = None
        self._frames = FrameBuffer(limit_bytes)
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._is_asked = False
        self._is_taken = True
        self._is_ending = False
        self._is_paused = False

    # ---- asyncio callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Handle a new connection."""
        self._transport = cast(asyncio.Transport, transport)
        host, port, *_ = transport.get_extra_info("peername") or ("", 0)
        self.peer = f"{host}:{port}"
        encrypted = transport.get_extra_info("ssl_object")
        certificate = None if encrypted is None else encrypted.getpeercert(binary_form=True)
        if certificate is not None:
            self.subject = subject_of(certificate)
        if not self.handler.opened(self):
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        if not self.number:
            return
        try:
            frames = self._frames.feed(data)
        except BadFrameError as error:
            self.handler.dropped(self, str(error))
            return
        except MemoryError:
            self.handler.dropped(self, "there is no memory for its request")
            return
        self._waiting.extend(frames)
        self._waiting_bytes += sum(map(len, frames))
        self._hold(self._frames.held_bytes)
        self._pass_on()

    def pause_writing(self) -> None:
        """Handle a full write buffer: the client is not reading its response."""
        self._is_taken = False

    def resume_writing(self) -> None:
        """Handle a drained write buffer."""
        self._is_taken = True
        self._pass_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle a closed or broken connection."""
        del exc
        self._hold(0)
        if self.number:
            self.handler.closed(self)

    # ---- called by the handler

    def respond(self, frame: bytes) -> None:
        """Send the response to the last request that was passed on."""
        self._is_asked = False
        if self._transport is not None:
            self._transport.writelines((len(frame).to_bytes(LENGTH_BYTES), frame))
        if self._waiting:  # not from here: the cluster is in the middle of something
            asyncio.get_running_loop().call_soon(self._pass_on)

    def close(self, *, abort: bool = False) -> None:
        """Close the connection, after flushing or (``abort``) immediately."""
        self._hold(0)
        if self._transport is not None:
            (self._transport.abort if abort else self._transport.close)()

    def stop_reading(self) -> None:
        """Accept no more requests: the server is about to stop."""
        self._is_ending = True
        self._pace()

    @property
    def is_waiting(self) -> bool:
        """Return whether a request that was passed on has not been answered."""
        return self._is_asked

    @property
    def held_bytes(self) -> int:
        """Return the bytes buffered in both directions."""
        buffered = 0 if self._transport is None else self._transport.get_write_buffer_size()
        return self._waiting_bytes + buffered

    def _hold(self, byte_count: int) -> None:
        """Tell how many bytes of an incomplete request are held now."""
        change, self.incomplete_bytes = byte_count - self.incomplete_bytes, byte_count
        if change:
            self.handler.held(change)

    def _pass_on(self) -> None:
        """Pass requests on, up to one that must be answered first."""
        while self._waiting and self._is_taken and not (self._is_asked or self._is_ending):
            frame = self._waiting.popleft()
            self._waiting_bytes -= len(frame)
            self._is_asked = self.handler.received(self, frame)
        self._pace()

    def _pace(self) -> None:
        """Resume or pause reading."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        too_much = self._waiting_bytes > WAITING_BYTES_MAX
        should_pause = self._is_ending or too_much or len(self._waiting) > REQUESTS_MAX
        if should_pause and not self._is_paused:
            transport.pause_reading()
        elif self._is_paused and not should_pause:
            transport.resume_reading()
        self._is_paused = should_pause
