"""The ports of brokers: a broker that is down refuses connections but keeps its port.

A second socket that is bound to the port and never listens reserves it (``SO_REUSEPORT``). On
systems without that option, other programs can take the port of a broker that is down.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from sessions.gateway.endpoints import Endpoint
from sessions.gateway.tls_handshake import TlsHandshake

BACKLOG: Final = 1_024
"""Connections that may wait to be accepted."""


class Listener:
    """The port of one broker at an endpoint; ``name`` is Kafka's name of the listener."""

    def __init__(self, broker: int, endpoint: Endpoint, port: int) -> None:
        """Take the port, or any free one (0); nobody can connect yet.

        Raises:
            OSError: the host has no such address, or the port is taken.
        """
        self.broker = broker
        self.name, self.protocol = endpoint.name, endpoint.protocol
        self.host = host = endpoint.host
        self._family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        self._keeper = self._bound((host, port), is_first=True)
        self.port: int = self._keeper.getsockname()[1]
        self._server: asyncio.Server | None = None

    def _bound(self, address: tuple[str, int], *, is_first: bool = False) -> socket.socket:
        bound = socket.socket(self._family, socket.SOCK_STREAM)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if is_first and address[1]:
                # With SO_REUSEPORT two programs would share the port without noticing.
                self._probe(address)
            if hasattr(socket, "SO_REUSEPORT"):
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            bound.bind(address)
        except BaseException:
            bound.close()
            raise
        return bound

    def _probe(self, address: tuple[str, int]) -> None:
        with socket.socket(self._family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)

    @property
    def is_open(self) -> bool:
        """Whether clients can connect."""
        return self._server is not None

    async def open(
        self, protocol: Callable[[], asyncio.Protocol], tls: ssl.SSLContext | None = None
    ) -> None:
        """Accept connections, which speak TLS if there is a context; each gets a ``protocol``."""
        if self._server is None:
            listening = self._bound((self.host, self.port))
            loop = asyncio.get_running_loop()
            accepted = protocol if tls is None else partial(TlsHandshake, protocol, tls)
            self._server = await loop.create_server(accepted, sock=listening, backlog=BACKLOG)

    def shut(self) -> None:
        """Refuse new connections; existing ones stay open."""
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def close(self) -> None:
        """Release the port."""
        self.shut()
        with suppress(OSError):
            self._keeper.close()
