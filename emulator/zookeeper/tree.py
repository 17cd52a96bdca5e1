"""The ZooKeeper server: one tree of znodes, its sessions and watches, and the requests on them.

Every method is synchronous and takes the environment (``env``) to which it emits events. A write
request uses one zxid, whether it succeeds or fails; a transaction uses one in total; reads use
none. Source: ZooKeeper 3.6.3, ``PrepRequestProcessor`` (validation, in its order) and ``DataTree``
(effects and watches).
"""

from collections.abc import Sequence
from sys import intern
from typing import Final

from msgspec import Struct

from emulator import events
from emulator.simulation.kernel import STARTED_MS
from emulator.zookeeper import errors, operations
from emulator.zookeeper.environment import ZkEnvironment
from emulator.zookeeper.hash_order import children_order, hash_order
from emulator.zookeeper.operations import ANY_VERSION, Check, Create, Delete, Operation, SetData
from emulator.zookeeper.sessions import Session, Sessions, first_session_id
from emulator.zookeeper.watches import Watches
from emulator.zookeeper.znode import ZOOKEEPERS_OWN, Znode, check_path, parent_path

TICK_TIME_MS: Final = 1000
"""The server's tickTime: session timeouts between 2 and 20 s are granted as requested."""


class ZooKeeper(Struct, array_like=True):
    """A server's entire state; create one with :meth:`fresh`.

    ``nodes`` is the tree by path (as in ``DataTree``), ``zxid`` the last one used.
    """

    nodes: dict[str, Znode]
    zxid: int
    sessions: Sessions
    watches: Watches

    @classmethod
    def fresh(
        cls,
        *,
        has_config_node: bool = True,
        zxid: int = 1 << 32,
        first_session: int = 0,
        tick_time_ms: int = TICK_TIME_MS,
    ) -> "ZooKeeper":
        """Create a server with an empty tree; ``/zookeeper/config`` exists from ZooKeeper 3.5 on.

        ``zxid`` is the last one used; ``first_session`` 0 stands for the id that the first server
        gives if it has just started.
        """
        paths = ZOOKEEPERS_OWN if has_config_node else ZOOKEEPERS_OWN[:-1]
        nodes = {path: Znode("", 0, 0, 0, 0, 0) for path in paths}
        for path in paths[1:]:
            parent, name = nodes[parent_path(path)], _name(path)
            parent.children = {**(parent.children or {}), name: None}
            parent.num_children += 1
        sessions = Sessions(tick_time_ms, first_session or first_session_id(1, STARTED_MS))
        return cls(nodes, zxid, sessions, Watches())

    # ---- reading

    def find(self, path: str) -> Znode | None:
        return self.nodes.get(path)

    def exists(self, path: str) -> Znode | None:
        """Return the znode at ``path``, None if there is none; a malformed path is an error."""
        check_path(path)
        return self.nodes.get(path)

    def get(self, path: str) -> Znode:
        """Return the znode at ``path``; it is the live object and must not be modified."""
        node = self.exists(path)
        if node is None:
            raise errors.NoNodeError(path, f"{path} does not exist.")
        return node

    def names(self, path: str) -> list[str]:
        """The names of a znode's children, sorted; empty if there is no such znode."""
        return [] if self.find(path) is None else self.children(path)

    def children(self, path: str) -> list[str]:
        """Return the names of the znode's children, sorted."""
        return sorted(self.get(path).children or ())

    def children_unsorted(self, path: str) -> list[str]:
        """Return the names of the znode's children in the order in which a server lists them."""
        return children_order(self.get(path).children or ())

    # ---- writing

    def create(
        self,
        env: ZkEnvironment,
        session: int,
        path: str,
        data: str | None,
        ephemeral: bool = False,
        sequential: bool = False,
    ) -> str:
        """Create a znode and return its path; ``session`` 0 is a client without a session."""
        check_path(path, sequential)
        zxid = self._next_zxid()
        if session or ephemeral:
            self._check_session(session, path)
        above = parent_path(path)
        path = operations.admit_create(self.nodes.get, path, above, sequential)
        self._create(env, zxid, path, above, data, owner=session if ephemeral else 0)
        return path

    def create_below(
        self, env: ZkEnvironment, parents: Sequence[str], path: str, data: str
    ) -> None:
        """Create a persistent znode after those of its parents (from the top) that are missing.

        The client's session has to be alive.

        Raises:
            ZooKeeperError: the path is malformed or exists, or its parent is missing or ephemeral.
        """
        check_path(path)
        above = parent_path(parents[0])
        for parent in parents:
            if parent not in self.nodes:
                self._create_persistent(env, parent, above, None)
            above = parent
        self._create_persistent(env, path, above, data)

    def _create_persistent(
        self, env: ZkEnvironment, path: str, above: str, data: str | None
    ) -> None:
        zxid = self._next_zxid()
        operations.admit_create(self.nodes.get, path, above, False)
        self._create(env, zxid, path, above, data)

    def restore(self, env: ZkEnvironment, path: str, data: str | None, version: int) -> None:
        """Create a persistent znode unless it exists, with the dataVersion that it had before."""
        if path in self.nodes:
            return
        zxid = self._next_zxid()
        self._create(env, zxid, path, parent_path(path), data, version=version)

    def set_data(
        self, env: ZkEnvironment, path: str, data: str | None, version: int = ANY_VERSION
    ) -> int:
        """Set a znode's data if its dataVersion is ``version``; return the new dataVersion."""
        check_path(path)
        zxid = self._next_zxid()
        operations.admit_version(self.nodes.get, path, version)
        return self._set_data(env, zxid, path, data)

    def delete(self, env: ZkEnvironment, path: str, version: int = ANY_VERSION) -> None:
        """Delete a childless znode if its dataVersion is ``version``."""
        check_path(path)
        zxid = self._next_zxid()
        operations.admit_delete(self.nodes.get, path, version)
        self._delete(env, zxid, path)

    def multi(
        self, env: ZkEnvironment, session: int, transaction: Sequence[Operation]
    ) -> list[str | int | None]:
        """Execute all of a transaction's operations under one zxid, or none.

        An operation sees the effects of earlier ones in the same transaction. Return for each what
        the single request returns: a created path, a new dataVersion, or None.

        Raises:
            ZooKeeperError: the error of the first operation that failed, with its ``index``; its
                ``results`` has :class:`~emulator.zookeeper.errors.RolledBackError` for those before
                and :class:`~emulator.zookeeper.errors.RuntimeInconsistency` for those after.
        """
        operations.check_paths(transaction)
        zxid = self._next_zxid()
        if session or any(
            isinstance(operation, Create) and operation.ephemeral for operation in transaction
        ):
            self._check_session(session, "/")
        paths = operations.admit_all(self.nodes.get, transaction, session)
        return [
            self._perform(env, zxid, session, operation, path)
            for operation, path in zip(transaction, paths, strict=True)
        ]

    # ---- watches

    def watch_data(self, host: int, path: str) -> None:
        """Notify ``host`` once when the (existing) znode's data changes or it is deleted."""
        self.watches.watch_data(host, path)

    def watch_exists(self, host: int, path: str) -> None:
        """Notify ``host`` once when the znode is created, changed or deleted."""
        self.watches.watch_data(host, path)

    def watch_children(self, host: int, path: str) -> None:
        """Notify ``host`` once when the znode's children change or it is deleted."""
        self.watches.watch_children(host, path)

    # ---- sessions

    @property
    def next_expiry_us(self) -> int | None:
        """When the next session would expire without further signs of life; None: never."""
        return self.sessions.next_expiry_us()

    def open_session(
        self, env: ZkEnvironment, host: int, timeout_ms: int, *, is_kept_alive: bool = False
    ) -> int:
        """Open a session for ``host`` and return its id; watches of an earlier one are removed.

        If ``is_kept_alive`` it does not time out.
        """
        zxid = self._next_zxid()
        self.watches.forget(host)
        session = self.sessions.open(host, timeout_ms, env.now, is_kept_alive=is_kept_alive)
        granted = self.sessions.live[session].timeout_ms
        env.emit(events.SessionCreated, session, host, granted, zxid)
        return session

    def close_session(self, env: ZkEnvironment, session: int) -> None:
        """Close a session at its client's request."""
        self._end_session(env, session, "closed")

    def expire_session(self, env: ZkEnvironment, session: int) -> None:
        """Expire a session at once, as if it had been silent for too long."""
        self._end_session(env, session, "expired")

    def heard_from(self, session: int, now_us: int) -> bool:
        """Record a sign of life; False if the session has expired (its client must be notified)."""
        return self.sessions.heard_from(session, now_us)

    def session_of(self, host: int) -> int | None:
        """Return the id of the host's latest session if it is alive."""
        return self.sessions.latest.get(host)

    def session(self, session: int) -> Session | None:
        """Return a live session by its id."""
        return self.sessions.live.get(session)

    # ---- effects under one zxid, in DataTree's order

    def _next_zxid(self) -> int:
        self.zxid += 1
        return self.zxid

    def _check_session(self, session: int, path: str) -> None:
        if session not in self.sessions.live:
            raise errors.SessionExpiredError(path, f"Session {session:#x} does not exist.")

    def _end_session(self, env: ZkEnvironment, session: int, reason: str) -> None:
        zxid = self._next_zxid()
        self._check_session(session, "/")
        is_latest = session in self.sessions.latest.values()
        ended = self.sessions.end(session)
        if is_latest:
            self.watches.forget(ended.host)
        env.emit(events.SessionEnded, session, ended.host, reason, zxid)
        for path in hash_order(ended.ephemerals):
            self._delete(env, zxid, path)

    def _perform(
        self, env: ZkEnvironment, zxid: int, session: int, operation: Operation, path: str
    ) -> str | int | None:
        """Execute one validated operation of a transaction."""
        match operation:
            case Create():
                owner = session if operation.ephemeral else 0
                self._create(env, zxid, path, parent_path(path), operation.data, owner=owner)
                return path
            case SetData():
                return self._set_data(env, zxid, path, operation.data)
            case Delete():
                self._delete(env, zxid, path)
            case Check():
                pass
        return None

    def _create(
        self,
        env: ZkEnvironment,
        zxid: int,
        path: str,
        above: str,
        data: str | None,
        *,
        owner: int = 0,
        version: int = 0,
    ) -> None:
        nodes, now = self.nodes, env.now
        nodes[path] = Znode(data, zxid, zxid, zxid, now, now, version, 0, 0, owner)
        parent, name = nodes[above], _name(path)
        if parent.children is None:
            parent.children = {name: None}
        else:
            parent.children[name] = None
        parent.num_children += 1
        parent.child_creates += 1
        parent.pzxid = zxid
        if owner:
            self.sessions.live[owner].ephemerals[path] = None
        emit = env.emit  # an attribute that is called is looked for among the methods first
        emit(events.ZnodeCreated, path, data, owner, zxid, env.host)
        if version:
            emit(events.ZnodeChanged, path, data, version, zxid, env.host)
        env.znode_changed("created", path, data, version)
        if path in self.watches.data:
            self._fire(env, self.watches.data, path, "NodeCreated")
        if above in self.watches.children:
            self._fire(env, self.watches.children, above, "NodeChildrenChanged")

    def _set_data(self, env: ZkEnvironment, zxid: int, path: str, data: str | None) -> int:
        node = self.nodes[path]
        node.data = data
        node.version += 1
        node.mzxid = zxid
        node.mtime_us = env.now
        env.emit(events.ZnodeChanged, path, data, node.version, zxid, env.host)
        env.znode_changed("changed", path, data, node.version)
        self._fire(env, self.watches.data, path, "NodeDataChanged")
        return node.version

    def _delete(self, env: ZkEnvironment, zxid: int, path: str) -> None:
        node = self.nodes.pop(path)
        above = parent_path(path)
        parent = self.nodes[above]
        _remove_child(parent, _name(path))
        parent.pzxid = zxid
        owner = self.sessions.live.get(node.ephemeral_owner)
        if owner is not None:
            owner.ephemerals.pop(path, None)
        env.emit(events.ZnodeDeleted, path, zxid, env.host)
        env.znode_changed("deleted", path, None, -1)
        notified = self._fire(env, self.watches.data, path, "NodeDeleted")
        self._fire(env, self.watches.children, path, "NodeDeleted", notified)
        self._fire(env, self.watches.children, above, "NodeChildrenChanged")

    def _fire(
        self,
        env: ZkEnvironment,
        table: dict[str, tuple[int, ...]],
        path: str,
        kind: str,
        notified: tuple[int, ...] = (),
    ) -> tuple[int, ...]:
        """Fire and remove a path's watches, except those of the hosts in ``notified``."""
        hosts = table.pop(path, ())
        for host in hosts:
            if host not in notified:
                env.emit(events.WatchFired, path, kind, host)
                env.notify(host, path, kind)
        return hosts


def _name(path: str) -> str:
    return intern(path[path.rindex("/") + 1 :])


def _remove_child(parent: Znode, name: str) -> None:
    assert parent.children is not None
    del parent.children[name]
    parent.num_children -= 1
    if not parent.children:
        parent.children = None
