"""The interface between the ZooKeeper server and its cluster, and its implementation."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol

from emulator.events import CLIENTS, ZOOKEEPER, Event
from emulator.protocol import WatchEvent
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network

Fields = ParamSpec("Fields")

ZnodeObserver = Callable[[str, str, str | None, int], None]
"""Called for each committed znode change with kind, path, data and version."""


class ZkEnvironment(Protocol):
    """Virtual time, event emission, and delivery of watch events to clients."""

    @property
    def host(self) -> int:
        """The requesting host; ``ZOOKEEPER`` for the server's own actions."""

    @property
    def now(self) -> int:
        """Virtual time in microseconds."""

    def emit(
        self,
        kind: Callable[Concatenate[int, int, int, Fields], Event],
        *fields: Fields.args,
        **named: Fields.kwargs,
    ) -> int:
        """Emit an event, given its fields after ``cause``; return its ``seq``."""

    def notify(self, host: int, path: str, kind: str, /) -> None:
        """Send a fired watch's event to ``host``."""

    def znode_changed(self, kind: str, path: str, data: str | None, version: int, /) -> None:
        """Handle a committed change: ``kind`` is ``created``, ``changed`` or ``deleted``.

        A deleted znode's ``data`` is None and its ``version`` -1. Called after the znode's event
        and before its watches fire.
        """


class Environment:
    """The cluster as seen by its ZooKeeper server, for one host's requests."""

    def __init__(
        self,
        kernel: Kernel,
        network: Network,
        host: int = CLIENTS,
        observers: list[ZnodeObserver] | None = None,
    ) -> None:
        """Act through ``kernel`` and ``network``; all hosts share the ``observers``."""
        self.emit = kernel.emit
        self.kernel = kernel
        self.network = network
        self.host = host
        self.observers = [] if observers is None else observers

    def of(self, host: int) -> "Environment":
        """The same environment for another host's requests."""
        return Environment(self.kernel, self.network, host, self.observers)

    @property
    def now(self) -> int:
        """Virtual time in microseconds."""
        return self.kernel.state.now_us

    def notify(self, host: int, path: str, kind: str, /) -> None:
        """Send a fired watch's event to ``host``."""
        self.network.send(ZOOKEEPER, host, WatchEvent(path, kind))

    def znode_changed(self, kind: str, path: str, data: str | None, version: int, /) -> None:
        """Pass a committed change on to the observers."""
        for observe in self.observers:
            observe(kind, path, data, version)
