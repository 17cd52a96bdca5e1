"""Events in memory, packed as in a session's chunks: a million take megabytes."""

from collections.abc import Iterator
from typing import Final

from emulator.events import Event, ProduceSent
from emulator.simulation.packed_list import text_bytes
from sessions.format import codec
from sessions.garbage_collection import collector_paused

BLOCK_EVENTS: Final = 4_096
BLOCK_TEXT_MAX: Final = 1 << 24
"""Memory of records' texts that completes a block."""


class PackedEvents:
    """Consecutive events, which can be read in order any number of times."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._tail: list[Event] = []
        self._text_bytes = 0

    def append(self, event: Event) -> None:
        """Add the next event."""
        self._tail.append(event)
        if type(event) is ProduceSent:
            self._text_bytes += text_bytes(event)
        if len(self._tail) >= BLOCK_EVENTS or self._text_bytes > BLOCK_TEXT_MAX:
            self._pack(self._tail)
            self._tail, self._text_bytes = [], 0

    def _pack(self, members: list[Event]) -> None:
        try:
            self._blocks.append(codec.encode(members, codec.group(members)))
        except codec.BlockTooLargeError:
            middle = len(members) // 2
            self._pack(members[:middle])
            self._pack(members[middle:])

    def __iter__(self) -> Iterator[Event]:
        """Yield the events so far; only one block of them is unpacked at a time."""
        tail = self._tail.copy()
        for block in self._blocks.copy():
            with collector_paused():
                unpacked = codec.decode(block)
            yield from unpacked
        yield from tail
