"""The lines of a file of any size in constant memory, however long its lines are."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from sessions.own_cluster.content import Content
from sessions.postmortem.text_logs.times import is_timed

BLOCK_BYTES: Final = 1 << 20
LINE_BYTES_MAX: Final = 1 << 20
"""What is longer than this is cut: the longest lines of Kafka list the partitions of a request."""


HELD_LINES_MAX: Final = 2_000
"""How many lines an entry has that is not split: a broker of 4.4 prints 300 settings."""
HELD_BYTES_MAX: Final = 1 << 20


def blocks_of_entries(content: Content) -> Iterator[tuple[int, list[bytes]]]:
    """Yield a file's lines as :func:`blocks`, without splitting an entry of several lines.

    An entry ends where the next line with a time is. Raises the same error.
    """
    held: list[bytes] = []
    for size, lines in blocks(content):
        if not lines:  # the middle of a line that is too long
            yield size, held
            held = []
            continue
        known = held + lines
        first = max(0, len(known) - HELD_LINES_MAX)
        begin = len(known) - 1
        while begin >= first and not is_timed(known[begin]):
            begin -= 1
        if begin < first or sum(map(len, known[begin:])) > HELD_BYTES_MAX:
            begin = len(known)
        held = known[begin:]
        yield size, known[:begin]
    if held:
        yield 0, held


def blocks(content: Content) -> Iterator[tuple[int, list[bytes]]]:
    """Yield a file's lines without their ends, some thousands at a time, and the bytes read.

    The next block is read, and decompressed, while one is looked at. Of a line that is too long
    the beginning is kept.

    Raises:
        FormatError: it is compressed, and damaged.
    """
    rest = b""
    cut = False
    with ThreadPoolExecutor(1) as reader:
        pending = reader.submit(content.read, BLOCK_BYTES)
        while block := pending.result():
            pending = reader.submit(content.read, BLOCK_BYTES)
            if b"\r" in block:
                block = block.replace(b"\r\n", b"\n")
            lines = block.split(b"\n")
            if cut and len(lines) == 1:
                yield len(block), []
                continue
            first = rest if cut else rest + lines[0]
            lines[0] = first.removesuffix(b"\r")
            rest, cut = lines.pop(), False
            if len(rest) > LINE_BYTES_MAX:
                rest, cut = rest[:LINE_BYTES_MAX], True
            yield len(block), lines
    if rest:
        yield 0, [rest]
