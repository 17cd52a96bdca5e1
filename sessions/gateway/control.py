"""The control channel: one JSON object per line in each direction.

Tests in any language use it to inject faults and to query the cluster. A client may send the next
line before the response to the last one has arrived; responses keep the order.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import msgspec

LINE_BYTES_MAX: Final = 1 << 20
LOOPBACK: Final = "127.0.0.1"
Response = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Computes the response to a request line."""


class ControlChannel:
    """Listens on loopback, and responds to requests."""

    def __init__(self, response: Response) -> None:
        """Respond with ``response``; the port is not open yet."""
        self._respond = response
        self._socket: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def bind(self, port: int) -> tuple[str, int]:
        """Bind a port (0: a free one), and return the address.

        Raises:
            OSError: the port is taken.
        """
        self._socket = socket.create_server((LOOPBACK, port))
        return self.address

    @property
    def address(self) -> tuple[str, int]:
        """The host and port that were bound."""
        assert self._socket is not None
        host, port = self._socket.getsockname()
        return host, port

    async def start(self) -> None:
        """Accept connections on the bound port."""
        self._server = await asyncio.start_server(
            self._converse, sock=self._socket, limit=LINE_BYTES_MAX
        )

    async def stop(self) -> None:
        """Close the port and its connections."""
        if self._server is not None:
            self._server.close()
        elif self._socket is not None:
            self._socket.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(ConnectionError, asyncio.CancelledError):
                await self._lines(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _lines(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                error = f"a line is longer than {LINE_BYTES_MAX:,} bytes"
                writer.write(_encoded({"ok": False, "error": error}))
                return
            if not line.strip():
                if not line:
                    return
                continue
            writer.write(_encoded(await self._respond_to(line)))
            await writer.drain()

    async def _respond_to(self, line: bytes) -> dict[str, Any]:
        try:
            asked = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.MsgspecError as error:
            return {"ok": False, "error": f"this is not a JSON object: {error}"}
        return await self._respond(asked)


def _encoded(response: dict[str, Any]) -> bytes:
    return msgspec.json.encode(response) + b"\n"
