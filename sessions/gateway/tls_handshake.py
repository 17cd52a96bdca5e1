"""The TLS handshake of a client, before its connection begins.

asyncio shuts a server's failed handshakes up: the log has to say who was turned away, and why.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import cast

LOG = logging.getLogger(__name__)


class TlsHandshake(asyncio.Protocol):
    """Accepts a connection and speaks TLS with it; then a protocol of its own takes it over."""

    def __init__(self, make: Callable[[], asyncio.Protocol], context: ssl.SSLContext) -> None:
        """Have the protocol that ``make`` returns take the connection over."""
        self._make = make
        self._context = context
        self._early: list[bytes] = []
        self._is_lost = False
        self._shaking: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake; what the client sends waits until it is under way."""
        raw = cast(asyncio.Transport, transport)
        raw.pause_reading()
        self._shaking = asyncio.get_running_loop().create_task(self._shake(raw))

    def data_received(self, data: bytes) -> None:
        """Keep what comes with the end of the handshake."""
        self._early.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection ended with the handshake."""
        del exc
        self._is_lost = True

    async def _shake(self, raw: asyncio.Transport) -> None:
        host, port, *_ = raw.get_extra_info("peername") or ("", 0)
        try:
            encrypted = await asyncio.get_running_loop().start_tls(
                raw, self, self._context, server_side=True
            )
        except OSError as error:  # SSLError is one; others mean that the client has gone
            if isinstance(error, ssl.SSLError):
                reason = (error.reason or str(error)).replace("_", " ").lower()
                LOG.warning("%s:%s is turned away in the TLS handshake: %s", host, port, reason)
            raw.abort()
            return
        if encrypted is None or self._is_lost:
            return
        protocol = self._make()
        encrypted.set_protocol(protocol)
        protocol.connection_made(encrypted)
        for data in self._early:
            protocol.data_received(data)
