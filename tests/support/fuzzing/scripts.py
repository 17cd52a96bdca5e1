"""Scripts that somebody wrote to do harm: deep, long, huge, endless, or not even text.

Whatever a script contains, it is refused in one line per problem, or runs to its end or its limit.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final

from tests.support.fuzzing import Attack
from tests.support.fuzzing.sessions import call

WALL_LIMIT: Final = "2s"
STATEMENTS: Final = (
    "cluster --brokers 3",
    "cluster --brokers {n}",
    "cluster --version {w} --mode kraft --controllers {n}",
    "topic create {w} --partitions {n} --replication-factor {n}",
    "topic create t --assignment {w}",
    "topic alter t --partitions {n}",
    "topic config t {w}={w}",
    "produce t --value {w} --count {n} --batch {n} --partition {n}",
    "produce t --value {w} --key {w} --acks {w}",
    "consume t --group {w} --partition {n}",
    "wait {n}s",
    "wait {w}",
    "wait until {w} == {w} within {n}s",
    "wait until t-{n}.leader == {n}",
    "expect t-{n}.hw == {n}",
    "expect {w}",
    "expect events {w} where {w} == {w}",
    "expect order {w} then {w}",
    "broker crash {n}",
    "broker start {n}",
    "link cut {n} {n}",
    "link delay {n} {n} {n}ms",
    "zk create /{w} {w}",
    "zk set /controller {w}",
    "zk get {w}",
    "mark {w} {w}",
    "show {w}",
    "show events --last {n}",
    "at {n}s produce t --value {w}",
    "reassign t-{n} {n},{n}",
    "run {w}",
    "run self.tide",
    "${{{w}}}",
    "settle",
    "{w}",
)
NUMBERS: Final = (
    "0", "1", "2", "3", "-1", "100", "1000", "1001", "200000", "200001", "1000000000", "2147483647",
    "2147483648", "9223372036854775808", "1" + "0" * 30, "9" * 5_000, "1e9", "0x10", "1.5", "",
    "99999999", "876000", "00000001",
)  # fmt: skip
WORDS: Final = (
    "t", "x", "''", "'", '"', "\\", "${A}", "${" * 50, "${A}" * 300, "[" * 60_000, "{" * 3_000,
    "(" * 10_000, "not " * 5_000 + "x", "a and " * 5_000 + "b", "\x00", "\x1b]0;x\x07", "é" * 9_000,
    "\U0001f600", "x" * 65_000, "x" * 70_000, "[[0],[1]]", "[0," * 9_000, "../../x", "/dev/zero",
    "self.tide", "..", "*", "all", "t-0", "t-99999999999", "controller.epoch", "--" * 100, "#", ";",
    "type", "LeaderElected", "cluster.time",
)  # fmt: skip
DRAWS: Final = 6


@contextmanager
def target(folder: Path) -> Iterator[Attack]:
    """Make the file that includes itself; each attempt writes and runs a script beside it."""
    path = folder / "self.tide"

    def attack(chance: Random) -> None:
        path.write_bytes(chance.choice(KINDS)(chance))
        variables = ("--set", f"A={chance.choice(('x', '${A}', 'x' * 1_000))}")
        call("run", path, *variables, "--limit", WALL_LIMIT, *chance.choice(((), ("--json",))))

    yield attack


def _statements(chance: Random) -> bytes:
    """Return statements, most of them not what they should be."""
    lines = ["cluster --brokers 3", "topic create t --partitions 2 --replication-factor 2"]
    if chance.random() < 0.2:
        lines = []
    for _ in range(chance.randint(1, DRAWS)):
        lines.append(_filled(chance, chance.choice(STATEMENTS)))
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _filled(chance: Random, text: str) -> str:
    while "{n}" in text:
        text = text.replace("{n}", chance.choice(NUMBERS), 1)
    while "{w}" in text:
        text = text.replace("{w}", chance.choice(WORDS), 1)
    return text


def _damaged(chance: Random) -> bytes:
    """Return a script with bytes that are no text, or no line ends."""
    content = bytearray(_statements(chance))
    for _ in range(chance.choice((1, 20))):
        at = chance.randrange(len(content) + 1)
        content[at:at] = chance.choice((b"\x00", b"\xff", b"\xed\xa0\x80", b"\r", b"\x0b", b"\\\n"))
    return bytes(content)


def _many(chance: Random) -> bytes:
    """Return very many statements, or problems."""
    line = _filled(chance, chance.choice(("settle", "show {w}", "wait 1ms", "nonsense {n}", ";")))
    return b"cluster --brokers 1\n" + f"{line[:200]}\n".encode() * chance.choice((1_000, 20_000))


def _one_line(chance: Random) -> bytes:
    """Return one line that is as long as a script may be, or longer."""
    item = chance.choice((b"x", b"[", b"${A}", b"'", b"\\\n", b"#", b" ", b"; settle "))
    size = chance.choice((1 << 16, 1 << 20, 1 << 24, (1 << 24) + 1))
    return b"cluster " + item * (size // len(item))


KINDS: Final[tuple[Callable[[Random], bytes], ...]] = (
    _statements, _statements, _statements, _statements, _damaged, _many, _one_line,
)  # fmt: skip
