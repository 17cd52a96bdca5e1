"""The ZooKeeper server as a host: it hears pings, and ends sessions that have fallen silent."""

from typing import TYPE_CHECKING

from msgspec import Struct

from emulator.events import ZOOKEEPER
from emulator.protocol import AnyMessage, Timer, ZkExpired, ZkPing, ZkPong

if TYPE_CHECKING:
    from emulator.broker_context import World


class ServerState(Struct, array_like=True):
    """When the next look at the sessions' deadlines is due (0: none is)."""

    armed_us: int = 0


class ZooKeeperServer:
    """The server's behaviour in time.

    The tree itself is :class:`emulator.zookeeper.tree.ZooKeeper`.
    """

    def __init__(self, world: "World", state: ServerState) -> None:
        """Act on ``state`` in ``world``."""
        self.world = world
        self.state = state
        self.zookeeper = world.zookeeper

    def handle(self, source: int, message: AnyMessage) -> None:
        """Take one message."""
        if isinstance(message, ZkPing):
            self._pinged(source, message)
        elif isinstance(message, Timer) and message.number == self.state.armed_us:
            self.state.armed_us = 0
            self._expire()

    def session_opened(self) -> None:
        """There is a session to watch over."""
        self._arm()

    def _pinged(self, source: int, message: ZkPing) -> None:
        request = self.world.kernel.cause
        known = self.zookeeper.heard_from(message.session, self.world.now)
        answer = ZkPong(request, message.session) if known else ZkExpired(request, message.session)
        self.world.network.send(ZOOKEEPER, source, answer, request)

    def _expire(self) -> None:
        """End the sessions that were silent for too long; what silenced them is the cause."""
        kernel = self.world.kernel
        for session in self.zookeeper.sessions.due(self.world.now):
            host = self.zookeeper.sessions.live[session].host
            kernel.cause = self.world.network.silenced_by(host, ZOOKEEPER)
            kernel.fired(ZOOKEEPER, "session-expiry")
            self.zookeeper.expire_session(self.world, session)
        self._arm()

    def _arm(self) -> None:
        due_us = self.zookeeper.next_expiry_us
        if due_us is not None and (not self.state.armed_us or due_us < self.state.armed_us):
            self.state.armed_us = due_us
            delay_us = due_us - self.world.now
            self.world.kernel.timer(ZOOKEEPER, delay_us, "session-expiry", number=due_us)
