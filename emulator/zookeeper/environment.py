"""What the ZooKeeper server needs from its surroundings."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol

from emulator.events import Event

Fields = ParamSpec("Fields")


class ZkEnvironment(Protocol):
    """Virtual time, a place to state facts, and a way to reach clients."""

    @property
    def now(self) -> int:
        """Virtual time in microseconds."""

    def emit(
        self,
        kind: Callable[Concatenate[int, int, int, Fields], Event],
        *fields: Fields.args,
        **named: Fields.kwargs,
    ) -> int:
        """State an event, given its fields after ``cause``; returns its ``seq``."""

    def notify(self, host: int, path: str, kind: str, /) -> None:
        """Send ``host`` the event of a watch that has fired."""

    def znode_changed(self, kind: str, path: str, data: str | None, version: int, /) -> None:
        """Learn of a committed change: ``kind`` is ``created``, ``changed`` or ``deleted``.

        A deleted znode's ``data`` is None and its ``version`` -1. Called after the znode's event
        and before its watches fire.
        """
