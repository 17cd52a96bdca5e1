"""The server against a tiny model that shares no code with it, over random requests.

The model keeps one flat record a path, copies everything before a transaction and puts it back if
an operation fails, and looks for children by comparing all paths.
"""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from emulator.zookeeper.errors import ZooKeeperError
from emulator.zookeeper.hash_order import hash_order
from emulator.zookeeper.operations import Check, Create, Delete, Operation, SetData
from emulator.zookeeper.tree import ZooKeeper
from tests.emulator.zookeeper.surroundings import Notes, notes

NOBODY: frozenset[int] = frozenset()


class RefusedError(Exception):
    """The model's own refusal, by kazoo's name."""


@dataclass
class Record:
    data: str | None
    owner: int
    czxid: int
    mzxid: int
    pzxid: int
    version: int = 0
    created: int = 0
    deleted: int = 0


@dataclass
class Model:
    zxid: int
    records: dict[str, Record] = field(default_factory=dict)
    sessions: set[int] = field(default_factory=set)
    watches: set[tuple[int, str, str]] = field(default_factory=set)
    fired: list[tuple[int, str, str]] = field(default_factory=list)

    def children(self, path: str) -> list[str]:
        return sorted(each for each in self.records if each != "/" and above(each) == path)

    def request(self, operations: list[Operation], session: int) -> list[Any]:
        self.zxid += 1
        if any(isinstance(each, Create) and each.ephemeral for each in operations):
            self.demand(session in self.sessions, "SessionExpiredError")
        before = deepcopy((self.records, self.watches))
        told = len(self.fired)
        try:
            return [self.perform(operation, session) for operation in operations]
        except RefusedError:
            self.records, self.watches = before
            del self.fired[told:]
            raise

    def perform(self, operation: Operation, session: int) -> Any:  # noqa: ANN401
        path, records = operation.path, self.records
        if isinstance(operation, Create):
            return self.create(operation, session)
        self.demand(path in records, "NoNodeError")
        record = records[path]
        self.demand(operation.version in (-1, record.version), "BadVersionError")
        if isinstance(operation, SetData):
            record.data, record.mzxid = operation.data, self.zxid
            record.version += 1
            self.fire(path, "data", "NodeDataChanged")
            return record.version
        if isinstance(operation, Delete):
            self.demand(not self.children(path), "NotEmptyError")
            self.remove(path)
        return None

    def create(self, operation: Create, session: int) -> str:
        path, parent = operation.path, above(operation.path)
        self.demand(parent in self.records, "NoNodeError")
        if operation.sequential:
            path += f"{self.records[parent].created:010d}"
        self.demand(path not in self.records, "NodeExistsError")
        self.demand(not self.records[parent].owner, "NoChildrenForEphemeralsError")
        owner = session if operation.ephemeral else 0
        self.records[path] = Record(operation.data, owner, self.zxid, self.zxid, self.zxid)
        self.records[parent].created += 1
        self.records[parent].pzxid = self.zxid
        self.fire(path, "data", "NodeCreated")
        self.fire(parent, "children", "NodeChildrenChanged")
        return path

    def remove(self, path: str) -> None:
        del self.records[path]
        self.records[above(path)].deleted += 1
        self.records[above(path)].pzxid = self.zxid
        told = self.fire(path, "data", "NodeDeleted")
        self.fire(path, "children", "NodeDeleted", told)
        self.fire(above(path), "children", "NodeChildrenChanged")

    def end(self, session: int) -> None:
        self.zxid += 1
        self.sessions.remove(session)
        owned = [path for path, each in self.records.items() if each.owner == session]
        for path in hash_order(owned):
            self.remove(path)

    def fire(
        self, path: str, table: str, kind: str, told: frozenset[int] = NOBODY
    ) -> frozenset[int]:
        found = sorted(watch for watch in self.watches if watch[1:] == (path, table))
        self.watches.difference_update(found)
        self.fired += [(host, path, kind) for host, *_ in found if host not in told]
        return frozenset(host for host, *_ in found)

    def demand(self, holds: bool, error: str) -> None:
        if not holds:
            raise RefusedError(error)


def above(path: str) -> str:
    return path[: path.rindex("/")] or "/"


PATHS = st.sampled_from(["/a", "/a/a", "/a/b", "/b", "/b/a"])
DATA = st.sampled_from([None, "", "x"])
VERSIONS = st.sampled_from([-1, -1, -1, 0, 1])
OPERATIONS = st.one_of(
    st.builds(Create, PATHS, DATA, ephemeral=st.booleans(), sequential=st.booleans()),
    st.builds(Create, PATHS),
    st.builds(Delete, PATHS),
    st.builds(SetData, PATHS, DATA, VERSIONS),
    st.builds(Delete, PATHS, VERSIONS),
    st.builds(Check, PATHS, VERSIONS),
)
KINDS = st.sampled_from(["request"] * 4 + ["multi", "watch", "watch", "session"])
STEPS = st.lists(
    st.tuples(KINDS, st.lists(OPERATIONS, min_size=1, max_size=3), st.booleans()),
    min_size=25,
    max_size=25,
)
Step = tuple[str, list[Operation], bool]


class Pair:
    """The server and the model, given the same."""

    def __init__(self) -> None:
        self.env: Notes = notes()
        self.server = ZooKeeper.fresh()
        self.model = Model(self.server.zxid)
        for path, node in self.server.nodes.items():
            self.model.records[path] = Record(node.data, 0, 0, 0, 0)
        self.session = 0
        for path in ("/a", "/b", "/a/a"):
            self.ask([Create(path)], alone=True)
        self.turn_session()

    def take(self, kind: str, operations: list[Operation], of_data: bool) -> None:
        path = operations[0].path
        match kind:
            case "request":
                self.ask(operations[:1], alone=True)
            case "multi":
                self.ask(operations, alone=False)
            case "watch" if of_data:
                self.server.watch_data(-2, path)
                self.model.watches.add((-2, path, "data"))
            case "watch":
                self.server.watch_children(-2, path)
                self.model.watches.add((-2, path, "children"))
            case _:
                self.turn_session()

    def turn_session(self) -> None:
        if self.session in self.model.sessions:
            self.server.close_session(self.env, self.session)
            self.model.end(self.session)
        else:
            self.session = self.server.open_session(self.env, 1, 4000)
            self.model.zxid += 1
            self.model.sessions.add(self.session)

    def ask(self, operations: list[Operation], *, alone: bool) -> None:
        try:
            expected: Any = self.model.request(operations, self.session)
        except RefusedError as error:
            expected = str(error)
        try:
            actual: Any = self.single(operations[0]) if alone else self.multi(operations)
        except ZooKeeperError as error:
            actual = error.name
        assert actual == expected

    def multi(self, operations: list[Operation]) -> list[Any]:
        ephemeral = any(isinstance(each, Create) and each.ephemeral for each in operations)
        return list(self.server.multi(self.env, self.session if ephemeral else 0, operations))

    def single(self, operation: Operation) -> list[Any]:
        match operation:
            case Create(path, data, ephemeral, sequential):
                session = self.session if ephemeral else 0
                return [
                    self.server.create(
                        self.env, session, path, data, ephemeral=ephemeral, sequential=sequential
                    )
                ]
            case SetData(path, data, version):
                return [self.server.set_data(self.env, path, data, version)]
            case Delete(path, version):
                self.server.delete(self.env, path, version)
                return [None]
        return self.multi([operation])

    def compare(self) -> None:
        assert self.server.zxid == self.model.zxid
        assert sorted(self.server.nodes) == sorted(self.model.records)
        for path, record in self.model.records.items():
            node, children = self.server.nodes[path], self.model.children(path)
            assert (node.data, node.version, node.ephemeral_owner) == (
                record.data,
                record.version,
                record.owner,
            )
            assert (node.czxid, node.mzxid, node.pzxid) == (
                record.czxid,
                record.mzxid,
                record.pzxid,
            )
            assert node.num_children == len(children)
            assert self.server.children(path) == [each.rpartition("/")[2] for each in children]
            assert (node.children is None) == (not children)
            start = {"/": -1, "/zookeeper": -2}.get(path, 0)
            assert node.cversion == record.created + record.deleted + start
        for session in self.server.sessions.live.values():
            assert sorted(session.ephemerals) == sorted(
                path for path, record in self.model.records.items() if record.owner
            )
        fired = [note[1:] for note in self.env.log if note[0] == "notify"]
        assert fired == self.model.fired


@given(steps=STEPS)
def test_the_server_does_what_the_model_does(steps: list[Step]) -> None:
    pair = Pair()
    for step in steps:
        pair.take(*step)
        pair.compare()


@given(steps=STEPS)
def test_events_alone_rebuild_the_tree(steps: list[Step]) -> None:
    rebuilt = {p: (node.data, node.version) for p, node in ZooKeeper.fresh().nodes.items()}
    pair = Pair()
    for step in steps:
        pair.take(*step)
    for note in pair.env.log:
        match note:
            case ("ZnodeCreated", path, data, _, _, _):
                rebuilt[path] = (data, 0)
            case ("ZnodeChanged", path, data, version, _, _):
                rebuilt[path] = (data, version)
            case ("ZnodeDeleted", path, _, _):
                del rebuilt[path]
    assert rebuilt == {p: (node.data, node.version) for p, node in pair.server.nodes.items()}
