"""Which objects were touched since a reader last looked, for repaints and keyframes.

An object is recorded only when it is first touched after a look, so a hot partition costs one entry
however many events it has.
"""

from collections import deque
from itertools import takewhile
from typing import Final

LOOKS_KEPT_MAX: Final = 1024
"""How many looks are remembered; who asks for something older is told to take everything."""


class Changes:
    """The keys of one kind of object that were touched, by the look before which it happened."""

    def __init__(self, floor: int) -> None:
        self.floor = floor
        self.current: list[str] = []
        self._older: deque[tuple[int, list[str]]] = deque()

    def look(self, seq: int) -> None:
        """Close the present list: what is touched after event ``seq`` is noted anew."""
        if not self.current:
            return
        self._older.append((seq, self.current))
        self.current = []
        if len(self._older) > LOOKS_KEPT_MAX:
            self.floor, _ = self._older.popleft()

    def since(self, seq: int) -> dict[str, None] | None:
        """Return at least all keys touched after event ``seq``; None: unknown, so take all."""
        if seq < self.floor:
            return None
        touched: dict[str, None] = {}
        newer = list(takewhile(lambda look: look[0] > seq, reversed(self._older)))
        for _, keys in reversed(newer):
            touched.update(dict.fromkeys(keys))
        touched.update(dict.fromkeys(self.current))
        return touched
