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
    held_lines: list[bytes] = []
    for size, lines in blocks(content):
        if not lines:  # the middle of a line that is too long
            yield size, held_lines
            held_lines = []
            continue
        joined = held_lines + lines
        earliest = max(0, len(joined) - HELD_LINES_MAX)
        begin = len(joined) - 1
        while begin >= earliest and not is_timed(joined[begin]):
            begin -= 1
        if begin < earliest or sum(map(len, joined[begin:])) > HELD_BYTES_MAX:
            begin = len(joined)
        held_lines = joined[begin:]
        yield size, joined[:begin]
    if held_lines:
        yield 0, held_lines


def blocks(content: Content) -> Iterator[tuple[int, list[bytes]]]:
    """Yield a file's lines without their ends, some thousands at a time, and the bytes read.

    The next block is read, and decompressed, while one is looked at. Of a line that is too long
    the beginning is kept.

    Raises:
        FormatError: it is compressed, and damaged.
    """
    unfinished = b""
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
            first_line = unfinished if cut else unfinished + lines[0]
            lines[0] = first_line.removesuffix(b"\r")
            unfinished, cut = lines.pop(), False
            if len(unfinished) > LINE_BYTES_MAX:
                unfinished, cut = unfinished[:LINE_BYTES_MAX], True
            yield len(block), lines
    if unfinished:
        yield 0, [unfinished]
