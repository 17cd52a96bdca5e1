"""What the ZooKeeper server needs from its surroundings, and what a cluster gives it."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol

from emulator.events import CLIENTS, ZOOKEEPER, Event
from emulator.protocol import WatchEvent
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network

Fields = ParamSpec("Fields")

ZnodeObserver = Callable[[str, str, str | None, int], None]
"""Is told of each committed znode change: kind, path, data, version."""


class ZkEnvironment(Protocol):
    """Virtual time, a place to state facts, and a way to reach clients."""

    @property
    def host(self) -> int:
        """The host whose requests these are; ``ZOOKEEPER`` for what the server does by itself."""

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


class Environment:
    """A cluster around its ZooKeeper server, as one host's requests meet it."""

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
        """The same for the requests of another host."""
        return Environment(self.kernel, self.network, host, self.observers)

    @property
    def now(self) -> int:
        """Virtual time in microseconds."""
        return self.kernel.state.now_us

    def notify(self, host: int, path: str, kind: str, /) -> None:
        """Send ``host`` the event of a watch that has fired."""
        self.network.send(ZOOKEEPER, host, WatchEvent(path, kind))

    def znode_changed(self, kind: str, path: str, data: str | None, version: int, /) -> None:
        """Pass a committed change on to the observers."""
        for observe in self.observers:
            observe(kind, path, data, version)
