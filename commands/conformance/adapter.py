"""A client under test: a process that reads requests and writes answers, a JSON object a line."""

import asyncio
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

LINE_BYTES_MAX: Final = 1 << 24
"""The longest answer."""
QUOTED_MAX: Final = 300
"""Characters of an adapter's output that an error quotes at most."""


class SendResult(Struct, frozen=True):
    """The result of sending a record; without an error it is acknowledged."""

    offset: int = -1
    error: str | None = None


class Record(Struct, frozen=True):
    """A record that a poll returned."""

    topic: str
    partition: int
    offset: int
    value: str


class Answer(Struct, frozen=True):
    """An answer to any request; other fields are passed over."""

    error: str | None = None
    client: str = ""
    can: frozenset[str] = frozenset()
    oldest: Annotated[str, Meta(pattern=r"^(\d+(\.\d+)*)?$")] = ""
    results: list[SendResult] = []
    records: list[Record] = []
    assigned: list[tuple[str, int]] = []


class AdapterError(Exception):
    """An adapter did not answer; the message says why in one sentence."""


class Adapter:
    """One process of an adapter: at each moment it is one producer, one consumer, or neither."""

    def __init__(self, process: asyncio.subprocess.Process, stderr: Any) -> None:  # noqa: ANN401
        """Use :meth:`start`; ``stderr`` is the file with its standard error."""
        self._process = process
        self._stderr = stderr
        self.is_open = False
        self.can: frozenset[str] = frozenset()
        self.name = ""
        self.oldest = ""

    @classmethod
    async def start(
        cls, command: Sequence[str], environment: Mapping[str, str], seconds: float
    ) -> "Adapter":
        """Start a process, and ask what it can do.

        Raises:
            AdapterError: it cannot be started, or does not answer.
        """
        stderr = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - closed by end
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                env={**os.environ, **environment},
                limit=LINE_BYTES_MAX,
            )
        except OSError as error:
            stderr.close()
            raise AdapterError(f"cannot start '{command[0]}': {error.strerror}") from None
        adapter = cls(process, stderr)
        try:
            hello = await adapter.ask({"do": "hello"}, seconds)
            adapter.name = hello.client or command[0]
            adapter.oldest = hello.oldest
            adapter.can = hello.can
        except AdapterError:
            await adapter.end()
            raise
        return adapter

    async def ask(self, request: dict[str, Any], seconds: float) -> Answer:
        """Send a request and return its answer, which may be an ``error``.

        Raises:
            AdapterError: there was none in time, or it is none. The process is of no further use.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        verb = request["do"]
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            line = await asyncio.wait_for(stdout.readline(), seconds)
        except TimeoutError:
            raise AdapterError(f"no answer to '{verb}' within {seconds:g} s") from None
        except (OSError, ValueError) as error:
            raise AdapterError(f"no answer to '{verb}': {error}") from None
        if not line:
            raise AdapterError(f"the process ended on '{verb}'{self._last_words()}")
        try:
            return msgspec.json.decode(line, type=Answer)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            is_object = line.lstrip().startswith(b"{")
            fault = f"is wrong ({error})" if is_object else "is no JSON object"
            shown = line.decode(errors="replace").strip()[:QUOTED_MAX]
            raise AdapterError(f"the answer to '{verb}' {fault}: {shown}") from None

    def _last_words(self) -> str:
        self._stderr.seek(0)
        lines = self._stderr.read().strip().splitlines()
        return f": {lines[-1][:QUOTED_MAX]}" if lines else ""

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        if not self._stderr.closed:
            self._stderr.close()
