"""Surroundings that only take notes."""

from collections.abc import Callable
from typing import Any

from emulator.events import Event
from emulator.zookeeper.environment import ZkEnvironment


class Notes:
    """Keeps what the server states, sends and reports, in order."""

    def __init__(self) -> None:
        self.now = 0
        self.host = 7
        self.log: list[tuple[Any, ...]] = []

    def emit(self, kind: Callable[..., Event], *fields: Any, **named: Any) -> int:
        kind(len(self.log) + 1, self.now, 0, *fields, **named)
        self.log.append((kind.__name__, *fields))
        return len(self.log)

    def notify(self, host: int, path: str, kind: str, /) -> None:
        self.log.append(("notify", host, path, kind))

    def znode_changed(self, kind: str, path: str, data: str | None, version: int, /) -> None:
        self.log.append((kind, path, data, version))

    def taken(self, *kinds: str) -> list[tuple[Any, ...]]:
        """Return the notes of these kinds, and begin a new page."""
        found = [note for note in self.log if note[0] in kinds]
        self.log = []
        return found


def notes() -> Notes:
    """Return empty surroundings, held against what the server asks of them."""
    surroundings = Notes()
    checked: ZkEnvironment = surroundings
    assert checked is surroundings
    return surroundings
