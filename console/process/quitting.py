"""Which keys end the console: the one that quits, and ctrl+c twice."""

from collections.abc import Callable, Iterable
from time import monotonic
from typing import Final

TWICE_WITHIN_S: Final = 2.0
"""How soon ctrl+c has to be pressed again."""


class Quitting:
    """Watches keys as they are pressed."""

    def __init__(
        self,
        quit_keys: Iterable[str],
        interrupt_keys: Iterable[str],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.quit_keys = frozenset(quit_keys)
        self.interrupt_keys = frozenset(interrupt_keys)
        self._clock = clock
        self._interrupted = -TWICE_WITHIN_S

    def ends(self, key: str) -> bool:
        """Take the next key; return whether it ends the console."""
        if key in self.quit_keys:
            return True
        if key not in self.interrupt_keys:
            return False
        before, self._interrupted = self._interrupted, self._clock()
        return self._interrupted - before < TWICE_WITHIN_S
