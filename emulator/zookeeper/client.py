"""A broker's ZooKeeper client: its session, its pings, and what it believes of the connection.

Calls are synchronous and take no virtual time while the connection works; while it does not,
callers have to wait (:meth:`ZkClient.usable`). Disconnected is not expired: the session ends when
the server has heard nothing for its timeout, and the client learns of that when it is heard again.
"""

from collections.abc import Callable

from msgspec import Struct

from emulator import events
from emulator.events import ZOOKEEPER
from emulator.protocol import ZkExpired, ZkPing, ZkPong
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network
from emulator.simulation.timers import Timers
from emulator.zookeeper.environment import ZkEnvironment
from emulator.zookeeper.tree import ZooKeeper

CONNECTED = "connected"
DISCONNECTED = "disconnected"
EXPIRED = "expired"
RECONNECT_US = 1_000_000
"""How often a client without connection tries to make one."""


class ZkClientState(Struct, array_like=True):
    """What the client remembers: its session's id (0: none), and when the server was last heard."""

    session: int = 0
    connection: str = DISCONNECTED
    heard_us: int = 0


class ZkClient:
    """Keeps a host's session alive and notices when it is not.

    ``on_reconnected`` and ``on_expired`` are called when the connection works again and when the
    server has ended the session.
    """

    def __init__(  # noqa: PLR0913
        self,
        host: int,
        state: ZkClientState,
        *,
        kernel: Kernel,
        network: Network,
        zookeeper: ZooKeeper,
        environment: ZkEnvironment,
        timers: Timers,
        timeout_us: Callable[[], int],
        session_opened: Callable[[], None],
    ) -> None:
        """Be ``host``'s client; ``timeout_us`` is the session timeout that it asks for."""
        self.host = host
        self.state = state
        self.kernel = kernel
        self.network = network
        self.zookeeper = zookeeper
        self.environment = environment
        self.timers = timers
        self.timeout_us = timeout_us
        self.session_opened = session_opened
        self.on_reconnected: Callable[[], None] = _nothing
        self.on_expired: Callable[[], None] = _nothing

    def usable(self) -> bool:
        """Whether a call would be answered now.

        Connected, reachable, and the session alive at the server.
        """
        state = self.state
        return (
            state.connection == CONNECTED
            and self.network.reachable(self.host, ZOOKEEPER)
            and self.zookeeper.session(state.session) is not None
        )

    def connect(self) -> bool:
        """Open a new session if the server can be reached."""
        state = self.state
        if not self.network.reachable(self.host, ZOOKEEPER):
            return False
        state.session = self.zookeeper.open_session(
            self.environment, self.host, self.timeout_us() // 1000
        )
        self.session_opened()
        state.heard_us = self.kernel.now
        self._become(CONNECTED)
        self.timers.arm("zk-ping", self.kernel.now + self.timeout_us() // 3)
        return True

    def close(self) -> None:
        """End the session in an orderly way (its ephemerals go at once)."""
        state = self.state
        if state.session and self.usable():
            self.zookeeper.close_session(self.environment, state.session)
        state.session = 0

    def ping(self) -> None:
        """The ping timer: notice a dead connection, give a sign of life, and go on."""
        state = self.state
        silent_us = self.kernel.now - state.heard_us
        if state.connection == CONNECTED and silent_us * 3 > self.timeout_us() * 2:
            self._become(DISCONNECTED)
        if state.connection == DISCONNECTED:
            self.network.give_up(self.host, ZOOKEEPER)
        if state.session:
            self.network.send(self.host, ZOOKEEPER, ZkPing(state.session))
        period_us = self.timeout_us() // 3
        if state.connection == DISCONNECTED:
            period_us = min(period_us, RECONNECT_US)
        self.timers.later("zk-ping", period_us)

    def connection_lost(self) -> None:
        """The connection broke: make a new one soon; the session lives on at the server."""
        if self.state.connection == CONNECTED:
            self._become(DISCONNECTED)
            self.timers.later("zk-ping", RECONNECT_US)

    def ponged(self, message: ZkPong) -> None:
        """The server answered: the connection works."""
        state = self.state
        if message.session != state.session:
            return
        state.heard_us = self.kernel.now
        if state.connection == DISCONNECTED:
            self._become(CONNECTED)
            self.on_reconnected()

    def expired(self, message: ZkExpired) -> None:
        """The server has ended the session: everything that stood on it is void.

        Begin a new one.
        """
        state = self.state
        if message.session == state.session:
            self._become(EXPIRED)
            self.on_expired()

    def _become(self, connection: str) -> None:
        state = self.state
        if state.connection != connection:
            state.connection = connection
            self.kernel.emit(events.ZkConnectionChanged, self.host, connection)


def _nothing() -> None:
    """Nobody wants to know."""
