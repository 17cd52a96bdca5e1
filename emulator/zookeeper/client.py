"""A broker's ZooKeeper client: its session, its pings, and what it believes of the connection.

Calls are synchronous and take no virtual time while the connection works; while it does not,
callers have to wait (:meth:`ZkClient.usable`). Disconnected is not expired: the session ends when
the server has heard nothing for its timeout, and the client learns of that when it is heard again.
"""

from typing import TYPE_CHECKING

from emulator import events
from emulator.events import ZOOKEEPER
from emulator.protocol import ZkExpired, ZkPing, ZkPong

if TYPE_CHECKING:
    from emulator.broker.broker import Broker

CONNECTED = "connected"
DISCONNECTED = "disconnected"
EXPIRED = "expired"
RECONNECT_US = 1_000_000
"""How often a client without connection tries to make one."""


class ZkClient:
    """Keeps a broker's session alive and notices when it is not."""

    def __init__(self, broker: "Broker") -> None:
        """Act for ``broker``."""
        self.broker = broker
        self.world = broker.world
        self.kernel = broker.world.kernel

    @property
    def timeout_us(self) -> int:
        """The session timeout that the broker asks for."""
        return self.broker.config.zookeeper_session_timeout_us

    def usable(self) -> bool:
        """Whether a call would be answered now.

        Connected, reachable, and the session alive at the server.
        """
        state = self.broker.state
        return (
            state.zk_state == CONNECTED
            and self.world.network.reachable(self.broker.id, ZOOKEEPER)
            and self.world.zookeeper.session(state.session) is not None
        )

    def connect(self) -> bool:
        """Open a new session if the server can be reached."""
        state = self.broker.state
        if not self.world.network.reachable(self.broker.id, ZOOKEEPER):
            return False
        state.session = self.world.zookeeper.open_session(
            self.world, self.broker.id, self.timeout_us // 1000
        )
        self.world.session_opened()
        state.zk_heard_us = self.kernel.now
        self._become(CONNECTED)
        self.broker.arm("zk-ping", self.kernel.now + self.timeout_us // 3)
        return True

    def close(self) -> None:
        """End the session in an orderly way (its ephemerals go at once)."""
        state = self.broker.state
        if state.session and self.usable():
            self.world.zookeeper.close_session(self.world, state.session)
        state.session = 0

    def ping(self) -> None:
        """The ping timer: notice a dead connection, give a sign of life, and go on."""
        state = self.broker.state
        silent_us = self.kernel.now - state.zk_heard_us
        if state.zk_state == CONNECTED and silent_us * 3 > self.timeout_us * 2:
            self._become(DISCONNECTED)
        if state.zk_state == DISCONNECTED:
            self.world.network.give_up(self.broker.id, ZOOKEEPER)
        if state.session:
            self.world.network.send(self.broker.id, ZOOKEEPER, ZkPing(state.session))
        period_us = self.timeout_us // 3
        if state.zk_state == DISCONNECTED:
            period_us = min(period_us, RECONNECT_US)
        self.broker.later("zk-ping", period_us)

    def connection_lost(self) -> None:
        """The connection broke: make a new one soon; the session lives on at the server."""
        if self.broker.state.zk_state == CONNECTED:
            self._become(DISCONNECTED)
            self.broker.later("zk-ping", RECONNECT_US)

    def ponged(self, message: ZkPong) -> None:
        """The server answered: the connection works."""
        state = self.broker.state
        if message.session != state.session:
            return
        state.zk_heard_us = self.kernel.now
        if state.zk_state == DISCONNECTED:
            self._become(CONNECTED)
            self.broker.zookeeper_is_back()

    def expired(self, message: ZkExpired) -> None:
        """The server has ended the session: everything that stood on it is void.

        Begin a new one.
        """
        state = self.broker.state
        if message.session == state.session:
            self._become(EXPIRED)
            self.broker.session_expired()

    def _become(self, zk_state: str) -> None:
        state = self.broker.state
        if state.zk_state != zk_state:
            state.zk_state = zk_state
            self.kernel.emit(events.ZkConnectionChanged, self.broker.id, zk_state)
