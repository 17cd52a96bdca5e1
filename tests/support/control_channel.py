"""A control channel of clusters in this process, and a client of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from commands.language.parser import Script
from commands.runs.access import Access
from commands.runs.serve import Clusters
from commands.runs.served_cluster import ServedCluster
from sessions.gateway.control import ControlChannel, new_token

SECONDS: Final = 60.0
"""After so long an answer is taken to be missing."""


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, *lines: bytes | str | dict[str, Any]) -> None:
        """Send lines; an object as JSON, and bytes as they are."""
        for line in lines:
            text = json.dumps(line) if isinstance(line, dict) else line
            self.writer.write(text if isinstance(text, bytes) else f"{text}\n".encode())

    async def answer(self) -> dict[str, Any] | None:
        """The next answer; None: the connection is closed."""
        line = await asyncio.wait_for(self.reader.readline(), SECONDS)
        found: dict[str, Any] | None = json.loads(line) if line else None
        return found

    async def ask(self, line: bytes | str | dict[str, Any]) -> dict[str, Any]:
        """Send a line, and return its answer."""
        self.send(line)
        answer = await self.answer()
        assert answer is not None, "the connection is closed"
        return answer


class Served:
    """The clusters and their channel."""

    def __init__(self, folder: Path, speed: float) -> None:
        def made(script: Script, _: Access) -> ServedCluster:
            return ServedCluster(script, keeps_journal=True, speed=speed, folder=folder)

        self.clusters = Clusters(made)
        self.channel = ControlChannel(self.clusters.respond, new_token())
        self._clients: list[Client] = []

    async def stranger(self) -> Client:
        """A connection that has given no token."""
        limit = 1 << 26
        client = Client(*await asyncio.open_connection(*self.channel.address, limit=limit))
        self._clients.append(client)
        return client

    async def client(self) -> Client:
        """A connection that has given the token."""
        client = await self.stranger()
        assert await client.ask({"token": self.channel.token}) == {"ok": True}
        return client

    async def hang_up(self) -> None:
        """Close the connections of all clients."""
        for client in self._clients:
            client.writer.close()
            with suppress(ConnectionError):
                await client.writer.wait_closed()
        self._clients.clear()


@asynccontextmanager
async def serving(folder: Path, speed: float = 1.0) -> AsyncIterator[Served]:
    """Serve clusters, of which there are none yet."""
    served = Served(folder, speed)
    served.channel.bind(0)
    await served.channel.start()
    try:
        yield served
    finally:
        await served.hang_up()
        await served.channel.stop()
        await served.clusters.stop()
