"""The control channel: one JSON object per line in each direction.

Tests in any language use it to inject faults and to query the cluster. A client may send the next
line before the response to the last one has arrived; responses keep the order. Every line gets a
response.

Whatever runs on this machine can connect, also a page in a browser, which can send lines inside of
an HTTP request. So the first line must have the channel's token, and a connection that speaks HTTP
is closed at once.
"""

import asyncio
import logging
import re
import secrets
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import msgspec

LINE_BYTES_MAX: Final = 1 << 18
"""The longest line: four times the longest statement."""
FIRST_LINE_BYTES_MAX: Final = 1 << 12
"""The longest line of a client that has not given the token yet."""
READ_BYTES: Final = 1 << 12
"""What is read ahead of a connection, at most twice this."""
STRANGERS_MAX: Final = 100
"""Connections that may be open without having given the token; then the oldest is closed."""
TOKEN_BYTES: Final = 32
TOKEN_SECONDS: Final = 30.0
"""How long a client may take to give the token."""
CLOSE_SECONDS: Final = 1.0
"""How long the client of a closed connection may go on sending before it gets no response."""
CLOSE_BYTES_MAX: Final = 1 << 24
"""How much it may send in that time."""
LOOPBACK: Final = "127.0.0.1"
HTTP: Final = re.compile(rb"[A-Za-z]+ \S+ +HTTP/")
"""How a request line of HTTP begins, of every version and method."""
NO_TOKEN: Final = (
    'the first line of a connection must have the token: {"token": ".."}; the server prints it '
    "when it starts"
)
LOG: Final = logging.getLogger(__name__)

Response = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Computes the response to a request line."""


class _TooLongError(Exception):
    """A line is longer than it may be."""


class _RefusedError(Exception):
    """A connection is closed after a last response, which is the message."""


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(TOKEN_BYTES)


class ControlChannel:
    """Listens on loopback, and responds to requests of those who know the token."""

    def __init__(self, response: Response, token: str) -> None:
        """Respond with ``response`` to clients that give ``token``; the port is not open yet."""
        self._respond = response
        self.token = token
        self._socket: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._strangers: dict[asyncio.Task[None], None] = {}

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
            self._converse, sock=self._socket, limit=READ_BYTES
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
        self._strangers[task] = None
        if len(self._strangers) > STRANGERS_MAX:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.cancel()
        lines = _Lines(reader)
        try:
            with suppress(ConnectionError, asyncio.CancelledError):
                async for response in self._responses(task, lines):
                    writer.write(response)
                    await writer.drain()
                    await asyncio.sleep(0)  # others' turn, also when a client sends many lines
        except TimeoutError:
            pass
        except _RefusedError as error:
            with suppress(ConnectionError, asyncio.CancelledError):
                await _close(reader, writer, str(error))
        finally:
            self._tasks.discard(task)
            self._strangers.pop(task, None)
            writer.close()

    async def _responses(
        self, task: "asyncio.Task[None]", lines: "_Lines"
    ) -> AsyncGenerator[bytes, None]:
        """Yield the response to each line until the client hangs up.

        Raises:
            _RefusedError: the first line does not have the token, or a line is of HTTP.
            TimeoutError: there is no first line yet.
        """
        async with asyncio.timeout(TOKEN_SECONDS):
            asked = await self._first(lines)
        self._strangers.pop(task, None)
        if asked is not None:
            yield await self._response(asked) if asked else _encoded({"ok": True})
        while asked is not None:
            try:
                line = await lines.following(LINE_BYTES_MAX)
            except _TooLongError:
                yield _refused(f"a line is longer than {LINE_BYTES_MAX:,} bytes")
                continue
            if line is None:
                return
            _refuse_http(line)
            request = _request(line)
            yield _refused(request) if isinstance(request, str) else await self._response(request)

    async def _first(self, lines: "_Lines") -> dict[str, Any] | None:
        """Return what the first line asks for beside its token; None: there is no line.

        Raises:
            _RefusedError: it does not have the token.
        """
        try:
            line = await lines.following(FIRST_LINE_BYTES_MAX)
        except _TooLongError:
            line = b"too long"
        if line is None:
            return None
        _refuse_http(line)
        request = _request(line)
        fields = {} if isinstance(request, str) else request
        token = fields.pop("token", None)
        if not isinstance(token, str) or not _is_same(token, self.token):
            raise _RefusedError(NO_TOKEN)
        return fields

    async def _response(self, request: dict[str, Any]) -> bytes:
        """Return the response to a request, also if a defect ends it."""
        try:
            return _encoded(await self._respond(request))
        except Exception as error:  # whatever it is: only this line has failed
            LOG.exception("a line of the control channel failed")
            return _refused(f"internal error: {type(error).__name__}: {str(error)!a}")


class _Lines:
    """Reads lines without keeping more of them than they may have."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._is_skipping = False

    async def following(self, bytes_max: int) -> bytes | None:
        """Return the next line that is not blank; None at the end.

        Raises:
            _TooLongError: it has more than ``bytes_max`` bytes; the next call skips the rest.
        """
        parts: list[bytes] = []
        size = 0
        while True:
            part, is_end = await self._part()
            if not part:
                return b"".join(parts).strip() or None
            if self._is_skipping:
                self._is_skipping = not is_end
                continue
            size += len(part)
            if size > bytes_max:
                self._is_skipping = not is_end
                raise _TooLongError
            parts.append(part)
            if is_end:
                line = b"".join(parts).strip()
                if line:
                    return line
                parts, size = [], 0

    async def _part(self) -> tuple[bytes, bool]:
        """Return some bytes, and whether a line ends with them; no bytes at the end."""
        try:
            return await self._reader.readuntil(b"\n"), True
        except asyncio.LimitOverrunError as error:
            return await self._reader.readexactly(error.consumed), False
        except asyncio.IncompleteReadError as error:
            return error.partial, False


async def _close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reason: str) -> None:
    """Send a last response, and see to it that it arrives.

    If unread bytes were left, the connection would be reset, and the response could be lost.
    """
    writer.write(_refused(reason))
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await writer.drain()
            writer.write_eof()
            bytes_left = CLOSE_BYTES_MAX
            while bytes_left > 0 and (skipped := await reader.read(READ_BYTES)):
                bytes_left -= len(skipped)


def _refuse_http(line: bytes) -> None:
    if HTTP.match(line):
        raise _RefusedError("this is the control channel of tidegauge, not a web server")


def _request(line: bytes) -> dict[str, Any] | str:
    """Return the object that a line is, or what is wrong with it."""
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError) as error:
        return f"this is not a JSON object: {error}"
    except RecursionError:
        return "this is not a JSON object of a request: it is nested too deeply"


def _is_same(token: str, expected: str) -> bool:
    """Compare in a time that does not tell how much is the same."""
    return secrets.compare_digest(token.encode("utf-8", "surrogatepass"), expected.encode())


def _refused(error: str) -> bytes:
    return _encoded({"ok": False, "error": error})


def _encoded(response: dict[str, Any]) -> bytes:
    return msgspec.json.encode(response) + b"\n"
