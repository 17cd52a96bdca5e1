"""A broker's ZooKeeper client: its session, its requests, and its view of the connection.

Requests are synchronous and take no virtual time while the connection works. Otherwise they raise
:class:`~emulator.zookeeper.errors.ConnectionLoss`, which leaves open whether they were executed: if
only the return path is broken, they were. The caller retries once the connection works, and has to
find out whether the first attempt succeeded, as Kafka's ``KafkaZkClient`` does.

Disconnected is not expired: the session ends when the server has received nothing for its timeout,
and the client learns of that when it reconnects.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar, TypeVarTuple

from msgspec import Struct

from emulator import events
from emulator.events import ZOOKEEPER
from emulator.protocol import ZkExpired, ZkPing, ZkPong
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network
from emulator.simulation.timers import Timers
from emulator.zookeeper import errors
from emulator.zookeeper.environment import ZkEnvironment
from emulator.zookeeper.operations import ANY_VERSION, Create, Operation, SetData
from emulator.zookeeper.tree import ZooKeeper
from emulator.zookeeper.znode import Znode

_T = TypeVar("_T")
_Arguments = TypeVarTuple("_Arguments")

CONNECTED = "connected"
DISCONNECTED = "disconnected"
EXPIRED = "expired"
RECONNECT_US = 1_000_000
"""How often a disconnected client tries to reconnect."""


class ZkClientState(Struct, array_like=True):
    """The client's state: its session's id (0: none), and when the server was last heard from.

    ``unanswered``: a request got no response, and no later one has been answered yet.
    """

    session: int = 0
    connection: str = DISCONNECTED
    heard_us: int = 0
    unanswered: bool = False


class ZkClient(Struct, eq=False):
    """Keeps a host's session alive and detects its loss.

    ``timeout_us`` returns the session timeout to request.
    """

    host: int
    state: ZkClientState
    kernel: Kernel
    network: Network
    zookeeper: ZooKeeper
    environment: ZkEnvironment
    timers: Timers
    timeout_us: Callable[[], int]
    session_opened: Callable[[], None]

    def usable(self) -> bool:
        """Whether a request would succeed now.

        The client is connected, the server is reachable, and the session is alive there.
        """
        state = self.state
        return (
            state.connection == CONNECTED
            and self.network.reachable(self.host, ZOOKEEPER)
            and self.zookeeper.session(state.session) is not None
        )

    def undisturbed(self) -> bool:
        """Whether no fault at all can affect a request, which is the usual case."""
        state = self.state
        return (
            state.session in self.zookeeper.sessions.live
            and state.connection == CONNECTED
            and not state.unanswered
            and not self.network.state.links
        )

    # ---- reading

    def find(self, path: str) -> Znode | None:
        """The znode at a path, None if there is none; it is the live object: do not modify it.

        Raises:
            ConnectionLoss: the server is unreachable, or its response is lost.
        """
        if self.undisturbed():
            return self.zookeeper.nodes.get(path)
        return self._request(path, lambda: self.zookeeper.find(path))

    def get(self, path: str) -> Znode:
        """The znode at a path.

        Raises:
            NoNodeError: there is none.
            ConnectionLoss: the server is unreachable, or its response is lost.
        """
        return self._request(path, lambda: self.zookeeper.get(path))

    def data(self, path: str) -> str | None:
        """A znode's data; None if there is no znode, or if its data is null."""
        node = self.find(path)
        return None if node is None else node.data

    def children(self, path: str) -> list[str]:
        """The names of a znode's children, sorted; empty if it does not exist."""
        return self._request(
            path, lambda: self.zookeeper.children(path) if self.zookeeper.find(path) else []
        )

    # ---- watches: set by reading, so they require the connection too

    def watch(self, path: str) -> None:
        """Watch once for the znode's creation, change or deletion."""
        self._request(path, lambda: self.zookeeper.watch_exists(self.host, path))

    def watch_children(self, path: str) -> None:
        """Watch once for a change to the znode's children, or its deletion."""
        self._request(path, lambda: self.zookeeper.watch_children(self.host, path))

    # ---- writing: a rejection first emits an event, then raises an error

    def create(
        self, path: str, data: str | None, *, ephemeral: bool = False, sequential: bool = False
    ) -> str:
        """Create a znode and return its path.

        Raises:
            ZooKeeperError: the server rejects it, or is unreachable (ConnectionLoss).
        """
        return self._write(
            "create",
            path,
            ANY_VERSION,
            self.zookeeper.create,
            self.environment,
            self.state.session,
            path,
            data,
            ephemeral,
            sequential,
        )

    def create_below(self, parents: Sequence[str], path: str, data: str) -> None:
        """Create a persistent znode after those of its parents (from the top) that are missing.

        Raises:
            ZooKeeperError: the server rejects one of them, or is unreachable (ConnectionLoss).
        """
        if not self.undisturbed():
            for parent in parents:
                if self.find(parent) is None:
                    self.create(parent, None)
            self.create(path, data)
            return
        try:
            self.zookeeper.create_below(self.environment, parents, path, data)
        except errors.ZooKeeperError as error:
            self.refused("create", error.path, error.name)
            raise

    def set_data(self, path: str, data: str | None, version: int = ANY_VERSION) -> int:
        """Set a znode's data if its dataVersion is ``version``; return the new dataVersion.

        Raises:
            ZooKeeperError: the server rejects it, or is unreachable (ConnectionLoss).
        """
        work, env = self.zookeeper.set_data, self.environment
        return self._write("setData", path, version, work, env, path, data, version)

    def write(self, path: str, data: str) -> None:
        """Set a znode's data, creating it if it does not exist.

        Raises:
            ZooKeeperError: the server rejects it, or is unreachable (ConnectionLoss).
        """
        if self.find(path) is None:
            self.create(path, data)
        else:
            self.set_data(path, data)

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete a childless znode if its dataVersion is ``version``.

        Raises:
            ZooKeeperError: the server rejects it, or is unreachable (ConnectionLoss).
        """
        work, env = self.zookeeper.delete, self.environment
        self._write("delete", path, version, work, env, path, version)

    def delete_tree(self, path: str) -> None:
        """Delete a znode and its descendants, if it exists."""
        if self.find(path) is not None:
            for name in self.children(path):
                self.delete_tree(f"{path}/{name}")
            self.delete(path)

    def multi(self, transaction: Sequence[Operation]) -> list[str | int | None]:
        """Execute all of a transaction's operations, or none.

        Raises:
            ZooKeeperError: an operation was rejected, or the server is unreachable.
        """
        session = self.state.session
        try:
            return self._request(
                transaction[0].path,
                lambda: self.zookeeper.multi(self.environment, session, transaction),
            )
        except errors.ConnectionLoss:
            raise
        except errors.ZooKeeperError as error:
            refused = transaction[error.index]
            name = {Create: "create", SetData: "setData"}.get(type(refused), "check")
            expected = ANY_VERSION if isinstance(refused, Create) else refused.version
            self.refused(name, refused.path, error.name, expected)
            raise

    def refused(self, operation: str, path: str, error: str, expected: int = ANY_VERSION) -> None:
        """Emit the event that the server rejected a request; ``expected`` is the version given."""
        node = self.zookeeper.find(path)
        actual = -1 if node is None else node.version
        self.kernel.emit(
            events.ZooKeeperRefused, self.host, operation, path, error, expected, actual
        )

    def _write(
        self,
        operation: str,
        path: str,
        version: int,
        work: Callable[[*_Arguments], _T],
        *arguments: *_Arguments,
    ) -> _T:
        try:
            if self.undisturbed():
                return work(*arguments)
            return self._request(path, partial(work, *arguments))
        except errors.ConnectionLoss:
            raise
        except errors.ZooKeeperError as error:
            self.refused(operation, error.path, error.name, version)
            raise

    def _request(self, path: str, work: Callable[[], _T]) -> _T:
        """Execute one request: it has to arrive, and its response has to come back."""
        state, network = self.state, self.network
        if network.state.links or state.unanswered or state.connection != CONNECTED:
            self._check_connection(path)
        if state.session not in self.zookeeper.sessions.live:
            raise self._connection_loss(path)
        # The request is executed before the way back is looked at: that is the ConnectionLoss after
        # which the znode is written, and the caller does not know.
        response = work()
        if network.state.links and not network.passes(ZOOKEEPER, self.host):
            raise self._connection_loss(path)
        return response

    def _check_connection(self, path: str) -> None:
        state, network = self.state, self.network
        if state.unanswered and network.reachable(self.host, ZOOKEEPER):
            state.unanswered = False
        if (
            state.unanswered
            or state.connection != CONNECTED
            or not network.passes(self.host, ZOOKEEPER)
        ):
            raise self._connection_loss(path)

    def _connection_loss(self, path: str) -> errors.ConnectionLoss:
        """Record a lost request: later ones wait for it, as a client's requests stay in order."""
        self.state.unanswered = True
        return errors.ConnectionLoss(path, "ZooKeeper does not answer.")

    # ---- the session

    def connect(self) -> bool:
        """Open a new session if the server is reachable."""
        state = self.state
        if not self.network.reachable(self.host, ZOOKEEPER):
            return False
        state.session = self.zookeeper.open_session(
            self.environment, self.host, self.timeout_us() // 1000
        )
        self.session_opened()
        state.heard_us = self.kernel.now
        state.unanswered = False
        self._become(CONNECTED)
        self.timers.arm("zk-ping", self.kernel.now + self.timeout_us() // 3)
        return True

    def close(self) -> None:
        """Close the session cleanly (its ephemerals are deleted at once)."""
        state = self.state
        if state.session and self.usable():
            self.zookeeper.close_session(self.environment, state.session)
        state.session = 0

    def closing_us(self) -> int:
        """How long it takes to close a session if the server does not respond; 0 if it does.

        The client first gives up its connection, or the attempt to connect: two thirds of the
        session timeout after the server was last heard from, and then after each full timeout
        (``ClientCnxn.SendThread``, which only then ends if it is closing).
        """
        state, timeout_us = self.state, self.timeout_us()
        if not state.session or self.network.reachable(self.host, ZOOKEEPER):
            return 0
        left_us = state.heard_us + timeout_us * 2 // 3 - self.kernel.now
        return left_us if left_us > 0 else left_us % timeout_us

    def ping(self) -> None:
        """The ping timer: detect a dead connection, send a ping, and reschedule."""
        state = self.state
        silent_us = self.kernel.now - state.heard_us
        # ClientCnxn: the read timeout is two thirds of the session timeout, so that a third is left
        # to find another server; a ping is sent after half of the read timeout.
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
        """Handle a broken connection: reconnect soon; the session stays alive at the server."""
        if self.state.connection == CONNECTED:
            self._become(DISCONNECTED)
            self.timers.later("zk-ping", RECONNECT_US)

    def ponged(self, message: ZkPong) -> bool:
        """Handle a ping response: the connection works. Return whether it had been lost."""
        state = self.state
        if message.session != state.session:
            return False
        state.heard_us = self.kernel.now
        state.unanswered = False
        is_back = state.connection == DISCONNECTED
        if is_back:
            self._become(CONNECTED)
        return is_back

    def expired(self, message: ZkExpired) -> bool:
        """Handle the session's expiry at the server; return whether that is news."""
        state = self.state
        is_news = message.session == state.session and state.connection != EXPIRED
        if is_news:
            self._become(EXPIRED)
        return is_news

    def _become(self, connection: str) -> None:
        state = self.state
        if state.connection != connection:
            state.connection = connection
            self.kernel.emit(events.ZkConnectionChanged, self.host, connection)
