"""The ZooKeeper server as a host: it handles pings, and expires silent sessions."""

from msgspec import Struct

from emulator.events import ZOOKEEPER
from emulator.protocol import AnyMessage, Timer, ZkExpired, ZkPing, ZkPong
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network
from emulator.zookeeper.environment import ZkEnvironment
from emulator.zookeeper.tree import ZooKeeper


class ServerState(Struct, array_like=True):
    """When the next check of the sessions' deadlines is due (0: none)."""

    armed_us: int = 0


class ZooKeeperServer(Struct, eq=False):
    """The server's behaviour in time.

    The tree itself is :class:`emulator.zookeeper.tree.ZooKeeper`.
    """

    state: ServerState
    zookeeper: ZooKeeper
    environment: ZkEnvironment
    kernel: Kernel
    network: Network

    def handle(self, source: int, message: AnyMessage) -> None:
        if isinstance(message, ZkPing):
            self._pinged(source, message)
        elif isinstance(message, Timer) and message.number == self.state.armed_us:
            self.state.armed_us = 0
            self._expire()

    def session_opened(self) -> None:
        """Schedule the expiry check for a new session."""
        self._arm()

    def _pinged(self, source: int, message: ZkPing) -> None:
        request = self.kernel.cause
        is_known = self.zookeeper.heard_from(message.session, self.kernel.now)
        response = (
            ZkPong(request, message.session) if is_known else ZkExpired(request, message.session)
        )
        self.network.send(ZOOKEEPER, source, response, request)

    def _expire(self) -> None:
        """Expire the sessions that were silent for too long; the cause is what silenced them."""
        kernel = self.kernel
        for session in self.zookeeper.sessions.due(self.kernel.now):
            host = self.zookeeper.sessions.live[session].host
            kernel.cause = self.network.silenced_by(host, ZOOKEEPER)
            kernel.fired(ZOOKEEPER, "session-expiry")
            self.zookeeper.expire_session(self.environment, session)
        self._arm()

    def _arm(self) -> None:
        due_us = self.zookeeper.next_expiry_us
        if due_us is not None and (not self.state.armed_us or due_us < self.state.armed_us):
            self.state.armed_us = due_us
            delay_us = due_us - self.kernel.now
            self.kernel.timer(ZOOKEEPER, delay_us, "session-expiry", number=due_us)
