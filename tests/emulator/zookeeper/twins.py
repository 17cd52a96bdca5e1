"""The emulated server and a real one, given the same by three clients each.

Transaction ids are compared by how many were used since the example began, sessions by whose they
are, and times by which transaction a znode has them from.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from kazoo.exceptions import KazooException

from emulator.zookeeper.errors import ZooKeeperError
from emulator.zookeeper.operations import Check, Create, Delete, Operation, SetData
from emulator.zookeeper.tree import ZooKeeper
from tests.emulator.zookeeper.real_server import TICK_TIME_MS, Address, Client
from tests.emulator.zookeeper.surroundings import Notes, notes

HOSTS = (1, 2, 3)
_examples = count()
MS_US = 1000
Plain = Any
"""What a request came to, such that both servers' responses can be compared."""


@dataclass
class Seen:
    """What one server's transaction ids, sessions and times look like, made comparable."""

    base_zxid: int = 0
    owners: dict[int, str] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)

    def stat(self, found: Sequence[int]) -> Plain:
        """czxid, mzxid, pzxid, versions, owner, length, children (fields in Stat's order)."""
        czxid, mzxid, ctime, mtime, version, cversion, aversion, owner, length, children, pzxid = (
            found
        )
        for zxid, time in ((czxid, ctime), (mzxid, mtime)):
            assert self.times.setdefault(zxid, time) == time
        zxids = [zxid - self.base_zxid for zxid in (czxid, mzxid, pzxid)]
        owned_by = self.owners[owner] if owner else "nobody"
        return [*zxids, version, cversion, aversion, owned_by, length, children]


class Twins:
    """Both servers; every method asks both, and what they answer must agree."""

    def __init__(self, address: Address, timeout_ms: int) -> None:
        """Connect three clients to each."""
        self.timeout_ms = timeout_ms
        self.emulated = ZooKeeper.fresh(tick_time_ms=TICK_TIME_MS)
        self.env: Notes = notes()
        self.real = {host: Client(address, timeout_ms) for host in HOSTS}
        self.sessions: dict[int, int] = {}
        self.seen = {"real": Seen(), "emulated": Seen()}
        self.base = ""
        for host in HOSTS:
            self._opened(host)

    def begin(self) -> None:
        """Start an example in a part of the tree of its own, with nothing seen yet."""
        self.base = f"/example-{next(_examples)}"
        for host in HOSTS:
            self.renew(host)
        self.env.log = []
        for client in self.real.values():
            client.events = []
        stat = self.real[1].kazoo.create(self.base, b"", include_data=True)[1]
        self.emulated.create(self.env, 0, self.base, "")
        root = self.real[1].kazoo.exists("/")
        self.emulated.get("/").child_creates = (root.cversion + root.numChildren) // 2
        self.seen["real"].base_zxid = stat.czxid
        self.seen["emulated"].base_zxid = self.emulated.get(self.base).czxid

    def at(self, path: str) -> str:
        """A path of this example's part of the tree; of ZooKeeper's own, itself."""
        return path if path.startswith("/zookeeper") or path == "/" else self.base + path

    # ---- requests

    def create(self, host: int, operation: Create) -> None:
        """Create a znode; the response is its path."""
        path = self.at(operation.path)
        data = _bytes(operation.data)
        kinds = {"ephemeral": operation.ephemeral, "sequential": operation.sequential}
        session = self.sessions[host]
        self._agree(
            lambda: self.real[host].kazoo.create(
                path, data, ephemeral=operation.ephemeral, sequence=operation.sequential
            ),
            lambda: self.emulated.create(self.env, session, path, operation.data, **kinds),
        )

    def set_data(self, host: int, operation: SetData) -> None:
        """Set data; the response is the new Stat."""
        path = self.at(operation.path)

        def emulated() -> Plain:
            self.emulated.set_data(self.env, path, operation.data, operation.version)
            return self._emulated_stat(path)

        data = _bytes(operation.data)
        self._agree(
            lambda: self._real_stat(self.real[host].kazoo.set(path, data, operation.version)),
            emulated,
        )

    def delete(self, host: int, operation: Delete) -> None:
        """Delete a znode; there is nothing to answer."""
        path = self.at(operation.path)
        self._agree(
            lambda: self.real[host].kazoo.delete(path, operation.version) and None,
            lambda: self.emulated.delete(self.env, path, operation.version),
        )

    def multi(self, host: int, operations: list[Operation]) -> None:
        """Do a transaction; the response tells what became of each operation."""
        moved = [_moved(each, self.at(each.path)) for each in operations]
        session = self.sessions[host]
        self._agree(
            lambda: self._real_multi(host, moved),
            lambda: list(self.emulated.multi(self.env, session, moved)),
        )

    def exists(self, host: int, path: str, *, watches: bool) -> None:
        """Look for a znode; the response is its Stat or None."""
        path, client = self.at(path), self.real[host]

        def emulated() -> Plain:
            found = self.emulated.exists(path)
            if watches:
                self.emulated.watch_exists(host, path)
            return found and self._emulated_stat(path)

        self._agree(
            lambda: self._real_stat(client.kazoo.exists(path, client.saw if watches else None)),
            emulated,
        )

    def get(self, host: int, path: str, *, watches: bool) -> None:
        """Read a znode; the response is its data and Stat."""
        path, client = self.at(path), self.real[host]

        def real() -> Plain:
            data, stat = client.kazoo.get(path, client.saw if watches else None)
            return _text(data), self._real_stat(stat)

        def emulated() -> Plain:
            node = self.emulated.get(path)
            if watches:
                self.emulated.watch_data(host, path)
            return node.data, self._emulated_stat(path)

        self._agree(real, emulated)

    def children(self, host: int, path: str, *, watches: bool) -> None:
        """List children; the response is their names."""
        path, client = self.at(path), self.real[host]

        def emulated() -> Plain:
            found = self.emulated.children(path)
            if watches:
                self.emulated.watch_children(host, path)
            return found

        self._agree(
            lambda: sorted(client.kazoo.get_children(path, client.saw if watches else None)),
            emulated,
        )

    # ---- sessions

    def renew(self, host: int) -> None:
        """Close a client's session and begin another."""
        self.emulated.close_session(self.env, self.sessions[host])
        self.real[host].renew()
        self._opened(host)

    def expire(self, host: int) -> None:
        """Cut a client off until its session has ended, and let it return."""
        marker = self.at("/marker")
        self.create(host, Create(marker.removeprefix(self.base), ephemeral=True))
        witness = next(each for each in HOSTS if each != host)
        self.exists(witness, "/marker", watches=True)
        client = self.real[host]
        client.cut()
        self.emulated.expire_session(self.env, self.sessions[host])
        self.real[witness].wait_for(marker, "NodeDeleted")
        assert not self.emulated.heard_from(self.sessions[host], self.env.now)
        client.mend()
        self._opened(host)

    def disconnect(self, host: int) -> None:
        """Cut a client off for a moment; its session lives."""
        client, session = self.real[host], self.real[host].session
        client.cut()
        client.mend()
        assert client.session == session
        assert self.emulated.heard_from(self.sessions[host], self.env.now)

    def _opened(self, host: int) -> None:
        """Both servers have a new session of a client; the real one made it already."""
        name = f"client {host}"
        self.sessions[host] = self.emulated.open_session(self.env, host, self.timeout_ms)
        self.seen["emulated"].owners[self.sessions[host]] = name
        self.seen["real"].owners[self.real[host].session] = name

    # ---- comparing

    def compare(self) -> None:
        """The whole tree of this example, and the watch events of every client, must agree."""
        for client in self.real.values():
            client.settle()
        told: dict[int, list[tuple[str, str]]] = {host: [] for host in HOSTS}
        for note in self.env.log:
            if note[0] == "notify":
                told[note[1]].append((note[2], note[3]))
        saw = {host: client.events for host, client in self.real.items()}
        assert told == saw, f"emulated {told}, real {saw}"
        self._compare_tree(self.base)

    def _compare_tree(self, path: str) -> None:
        data, stat = self.real[1].kazoo.get(path)
        theirs = (_text(data), self._real_stat(stat))
        ours = (self.emulated.get(path).data, self._emulated_stat(path))
        assert ours == theirs, f"{path}: emulated {ours}, real {theirs}"
        for name in self.emulated.children(path):
            self._compare_tree(f"{path}/{name}")

    def _agree(self, real: Callable[[], Plain], emulated: Callable[[], Plain]) -> None:
        self.env.now += MS_US
        theirs, ours = _outcome(real), _outcome(emulated)
        assert ours == theirs, f"emulated {ours}, real {theirs}"

    def _real_stat(self, stat: Sequence[int] | None) -> Plain:
        return None if stat is None else self.seen["real"].stat(stat)

    def _emulated_stat(self, path: str) -> Plain:
        found = self.emulated.get(path).stat()
        czxid, mzxid, ctime, mtime, pzxid, version, cversion, aversion, *others = (
            getattr(found, name) for name in found.__struct_fields__
        )
        return self.seen["emulated"].stat(
            [czxid, mzxid, ctime, mtime, version, cversion, aversion, *others, pzxid]
        )

    def _real_multi(self, host: int, operations: list[Operation]) -> Plain:
        transaction = self.real[host].kazoo.transaction()
        for operation in operations:
            match operation:
                case Create(path, data, ephemeral, sequential):
                    transaction.create(path, (data or "").encode(), None, ephemeral, sequential)
                case SetData(path, data, version):
                    transaction.set_data(path, (data or "").encode(), version)
                case Delete(path, version):
                    transaction.delete(path, version)
                case Check(path, version):
                    transaction.check(path, version)
        results = transaction.commit()
        errors = [type(each).__name__ for each in results if isinstance(each, KazooException)]
        return errors or [_result(each) for each in results]


def _result(of_real: object) -> Plain:
    """What an operation of a transaction came to, as the emulator returns it."""
    if isinstance(of_real, tuple):
        return of_real.version  # type: ignore[attr-defined]
    return None if of_real is True else of_real


def _bytes(data: str | None) -> bytes | None:
    return None if data is None else data.encode()


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def _moved(operation: Operation, path: str) -> Operation:
    """The operation at another path; data is never null, as kazoo's transactions have none."""
    match operation:
        case Create(_, data, ephemeral, sequential):
            return Create(path, data or "", ephemeral, sequential)
        case SetData(_, data, version):
            return SetData(path, data or "", version)
        case Delete(_, version):
            return Delete(path, version)
    return Check(path, operation.version)


def _outcome(request: Callable[[], Plain]) -> Plain:
    """What a request came to: its response, or the names of its errors."""
    try:
        return request()
    except ZooKeeperError as error:
        return [each.name for each in error.results]
    except KazooException as error:
        return [type(error).__name__]
