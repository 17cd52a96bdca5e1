"""Lines for the control channel: nested, endless, of the wrong type, or statements that do harm.

Whatever a client sends, every line gets one answer, other clients are answered, no error shows a
defect or is logged, and no file appears outside of the folder that was given.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, Final

from sessions.gateway.control import HTTP, LINE_BYTES_MAX
from tests.support.control_channel import SECONDS, Client, Served, serving
from tests.support.fuzzing import Attack

LINES: Final = 10
"""The most lines of an attempt."""
SPEED: Final = 100.0
NUMBERS: Final = (
    0, 1, 2, 3, -1, 7, 100, 1_001, 70_000, 200_001, 2**31, 2**32, 2**63, 2**64, 10**30, 10**400,
)  # fmt: skip
TEXTS: Final = (
    "", "t", "t-0", "t-1", "t-99999999999", "x.tide.db", "../x.tide.db", "../" * 200 + "x.tide.db",
    "linked/x.tide.db", "/x.tide.db", "a\0.tide.db", "a" * 300 + ".tide.db", "x" * 70_000, "\0",
    "\x1b]0;x\x07", "é\U0001f600", "\ud800", "broker crash 0", "show events", "[" * 5_000, "{", ";",
)  # fmt: skip
# What waits for an end that may never come is left out: its line is rightly not answered yet.
STATEMENTS: Final = (
    "topic create t --partitions 2 --replication-factor 1",
    "topic create t --partitions {n} --replication-factor {n}",
    "topic create t --replica-assignment {w}",
    "topic create {w}",
    "topic alter t --partitions {n}",
    "topic config t {w}={w}",
    "topic describe {w}",
    "produce t --value {w} --count 5 --partition {n} --async",
    "produce t --value {w} --key {w} --acks {w} --async",
    "wait 1s",
    "wait {w}",
    "wait until {w} == {w} within 1s",
    "expect t-{n}.hw == {n}",
    "expect {w}",
    "expect event {w} {w} = {w}",
    "expect order {w} then {w} since {w}",
    "broker crash 0",
    "broker start 0",
    "broker freeze 0",
    "network cut 0 {w}",
    "network delay 0 clients {n}ms",
    "inject {w} {w} --times {n}",
    "config broker 0 {w}={w}",
    "reassign t-{n} {n},{n}",
    "election unclean t-0",
    "zk create /{w} {w}",
    "zk set /controller {w}",
    "zk delete /brokers/topics/t",
    "zk ls -R /",
    "mark {w} {w}",
    "show events",
    "show events {w} {w} = {n} since {w}",
    "show {w}",
    "at 1s wait 1s",
    "run {w}",
    "run self.tide",
    "cluster --brokers {n}",
    "wait 1ms;" * 50,
    "x;" * 500,
    ";" * 5_000,
    "{w}",
)
KEYS: Final = (
    "statement", "result", "clients", "partition", "controller", "record", "open", "close", "from",
    "cluster", "token", "brokers", "version", "mode", "seed", "controllers", "config", "port", "",
)  # fmt: skip
BYTES: Final = (
    b"[" * 100_000, b'{"a":' * 20_000, b'{"statement":"' + b"x" * LINE_BYTES_MAX, b"\xff\xfe\x00",
    b'{"statement": "wait \\ud800"}', b'{"partition": "\xff"}', b"NaN", b"null", b'"x"', b"1e999",
    b'{"cluster": 1e999, "result": true}', b'{"cluster": 9007199254740993.0, "result": true}',
    b'{"statement": "wait 1ms", "statement": "wait 2ms"}', b"{}{}", b"{", b"\x16\x03\x01\x02\x00",
    b"POST / HTTP/1.1\r", b"GET http://127.0.0.1/ HTTP/1.1\r", b"Host: evil.example\r", b"\r", b"",
)  # fmt: skip


@contextmanager
def target(folder: Path) -> Iterator[Attack]:
    """Serve in this process; each attempt has a cluster of its own and two connections."""
    inside = folder / "inside"
    inside.mkdir()
    (folder / "outside").mkdir()
    (inside / "linked").symlink_to(folder / "outside")
    (inside / "self.tide").write_text("cluster\nrun self.tide\n")
    noted = _Noted()
    loggers = [logging.getLogger(name) for name in ("sessions.gateway", "asyncio")]
    for logger in loggers:
        logger.addHandler(noted)
    context = serving(inside, SPEED)
    with asyncio.Runner() as runner:
        served = runner.run(context.__aenter__())

        def attack(chance: Random) -> None:
            runner.run(_attempt(served, chance))
            _check_files(folder)
            noted.check()

        try:
            yield attack
        finally:
            runner.run(context.__aexit__(None, None, None))
            for logger in loggers:
                logger.removeHandler(noted)


class _Noted(logging.Handler):
    """Keeps the errors that are logged."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._errors.append(self.format(record))

    def check(self) -> None:
        errors, self._errors = self._errors, []
        assert not errors, errors[0]


async def _attempt(served: Served, chance: Random) -> None:
    """Send lines, and look whether all are answered while another client is, too."""
    other = await served.client()
    client = await served.stranger()
    try:
        opened = await other.ask({"open": {"brokers": chance.choice((1, 2))}})
        assert opened["ok"], opened
        number = opened["cluster"]
        lines = [_line(chance, number) for _ in range(chance.randint(1, LINES))]
        if is_known := chance.random() < 0.9:
            assert await client.ask({"token": served.channel.token}) == {"ok": True}
        sending = asyncio.create_task(_send(client, lines))
        try:
            if not is_known and any(map(bytes.strip, lines)):
                lines = [b"GET / HTTP/1.1\n"]  # a stranger gets one answer, as a page does
            await _see_answers(client, lines)
            assert "ok" in await other.ask({"clients": True, "cluster": number})
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await sending
    finally:
        await served.hang_up()
        await served.clusters.stop()


async def _send(client: Client, lines: list[bytes]) -> None:
    for line in lines:
        client.send(line)
        await client.writer.drain()
    client.writer.write_eof()


async def _see_answers(client: Client, lines: list[bytes]) -> None:
    """Read one answer to each line that is not blank, up to one of HTTP, and the end."""
    for line in lines:
        if not line.strip():
            continue
        answer = await client.answer()
        shown = repr(line[:200])
        assert answer is not None, f"no answer to {shown}"
        error = answer.get("error", "")
        assert isinstance(answer["ok"], bool), shown
        assert "internal error" not in error, f"{shown}: {error}"
        assert "Traceback" not in error, f"{shown}: {error}"
        if HTTP.match(line.strip()):
            break
    last = await asyncio.wait_for(client.reader.read(1), SECONDS)
    assert last == b"", "an answer to no line"


def _check_files(folder: Path) -> None:
    """Nothing may appear outside; what was recorded inside is deleted."""
    assert sorted(path.name for path in folder.iterdir()) == ["inside", "outside"]
    assert not list((folder / "outside").iterdir())
    for path in (folder / "inside").iterdir():
        if path.name not in ("linked", "self.tide"):
            path.unlink()


def _line(chance: Random, cluster: int) -> bytes:
    return chance.choice(KINDS)(chance, cluster).replace(b"\n", b" ") + b"\n"


def _statement(chance: Random, cluster: int) -> bytes:
    """Return a statement, most of them not what they should be."""
    text = chance.choice(STATEMENTS)
    while "{n}" in text:
        text = text.replace("{n}", str(chance.choice(NUMBERS)), 1)
    while "{w}" in text:
        text = text.replace("{w}", chance.choice(TEXTS).replace("{w}", ""), 1)
    return json.dumps({"cluster": cluster, "statement": text}).encode()


def _request(chance: Random, cluster: int) -> bytes:
    """Return an object with keys that mean something, and values that do not."""
    asked = {chance.choice(KEYS): _value(chance, 3) for _ in range(chance.randint(0, 3))}
    if chance.random() < 0.8:
        asked["cluster"] = cluster
    return json.dumps(asked).encode()


def _open(chance: Random, _: int) -> bytes:
    keys = KEYS[KEYS.index("brokers") :]
    asked = {chance.choice(keys): _value(chance, 1) for _ in range(chance.randint(0, 3))}
    if asked.get("brokers") == 100:
        asked["brokers"] = 3  # many brokers are no attack, but take long
    return json.dumps({"open": asked}).encode()


def _value(chance: Random, depth: int) -> Any:  # noqa: ANN401 - whatever JSON says
    kind = chance.randrange(8 if depth else 5)
    if kind < 5:
        plain = (chance.choice(NUMBERS), chance.choice(TEXTS), True, None, chance.choice((1.5, "")))
        return plain[kind]
    if kind == 5:
        return [_value(chance, depth - 1) for _ in range(chance.randint(0, 2))]
    return {chance.choice(KEYS): _value(chance, depth - 1) for _ in range(chance.randint(0, 2))}


def _bytes(chance: Random, _: int) -> bytes:
    return chance.choice(BYTES)


def _damaged(chance: Random, cluster: int) -> bytes:
    """Return a line with some bytes changed, left out or repeated."""
    content = bytearray(chance.choice((_statement, _request))(chance, cluster)[:2_000])
    for _ in range(chance.choice((1, 5))):
        at = chance.randrange(len(content) + 1)
        content[at : at + chance.choice((0, 1, 5))] = chance.choice(
            (b"", b"\x00", b"\xff", b'"', b"{", b"]", b"\\", b"\\u0000", b"9" * 50)
        )
    return bytes(content)


KINDS: Final[tuple[Callable[[Random, int], bytes], ...]] = (
    _statement, _statement, _statement, _statement, _request, _request, _open, _bytes, _damaged,
)  # fmt: skip
