"""Access control entries in ZooKeeper: a znode for each resource, and notifications of changes.

A broker writes what its clients ask for, and knows it at once; the others read it when a
notification names the resource. Source: ``AclAuthorizer``, ``ZkAclStore``, ``ZkAclChangeStore`` 2.4
to 3.9.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct, field

from emulator.broker_context import BrokerContext
from emulator.common.acls import Acl, is_principal
from emulator.common.errors import NONE
from emulator.protocol import AclsResponse, CreateAclsRequest, DeleteAclsRequest
from emulator.quorum_controller.acl_control import why_invalid
from emulator.zookeeper import acl_znodes as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.client import ZkClient

Answer = tuple[str, str, list[Acl]]
"""An error, why it is one, and the entries that a filter has matched."""


class AclCacheState(Struct, array_like=True):
    """The entries that a broker knows, by the znodes that they are in.

    ``last_changes`` are the numbers of the last notifications that it has seen, by the znode that
    they are under.
    """

    acls: dict[str, list[Acl]] = field(default_factory=dict)
    last_changes: dict[str, int] = field(default_factory=dict)


class AclAuthorizer(Struct, eq=False):
    """Keeps one broker's view of the access control entries."""

    context: BrokerContext
    state: AclCacheState
    zk: ZkClient

    @property
    def is_there(self) -> bool:
        return bool(self.context.settings.defaults.get("authorizer.class.name", "").strip())

    @property
    def acls(self) -> list[Acl]:
        return [acl for acls in self.state.acls.values() for acl in acls]

    @property
    def changes(self) -> tuple[str, ...]:
        """The znodes under which changes are notified."""
        has_prefixes = self.context.profile.has("prefixed_acls")
        return (znodes.CHANGES, znodes.EXTENDED_CHANGES) if has_prefixes else (znodes.CHANGES,)

    # ---- reading

    def start(self) -> None:
        """Create the paths, read all entries, and watch for changes.

        Raises:
            ZooKeeperError: ZooKeeper does not respond.
        """
        if not self.is_there:
            return
        for path in znodes.paths(extended=len(self.changes) > 1):
            if self.zk.find(path) is None:
                self.zk.create(path, "")
        self.state.acls.clear()
        for changes in self.changes:
            self.zk.watch_children(changes)
            self.state.last_changes[changes] = max(self._numbers(changes), default=-1)
        for root in znodes.stores(extended=len(self.changes) > 1):
            for kind in self.zk.children(root):
                for name in self.zk.children(f"{root}/{kind}"):
                    self._read(f"{root}/{kind}/{name}")

    def catch_up(self) -> None:
        """Read what unseen notifications name; the rest is read the next time."""
        if self.is_there:
            with suppress(errors.ConnectionLoss):
                self._follow()

    def _follow(self) -> None:
        for changes in self.changes:
            self.zk.watch_children(changes)
            for number in sorted(self._numbers(changes)):
                if number > self.state.last_changes.get(changes, -1):
                    data = self.zk.data(znodes.change_path(changes, number))
                    self.state.last_changes[changes] = number
                    if path := znodes.path_in_change(changes, data):
                        self._read(path)

    def _numbers(self, changes: str) -> Iterator[int]:
        for name in self.zk.children(changes):
            if (number := znodes.number_of_change(name)) is not None:
                yield number

    def _read(self, path: str) -> list[Acl]:
        node = self.zk.find(path)
        acls = [] if node is None else znodes.acls_in(path, self.zk.data(path))
        self._know(path, acls)
        return acls

    def _know(self, path: str, acls: list[Acl]) -> None:
        if acls:
            self.state.acls[path] = acls
        else:
            self.state.acls.pop(path, None)

    # ---- clients' requests

    def create_acls(self, client: int, request: int, message: CreateAclsRequest) -> None:
        """Create entries; those of a resource are written at once."""
        self._respond(client, request, [self._guarded(self._create, acl) for acl in message.acls])

    def delete_acls(self, client: int, request: int, message: DeleteAclsRequest) -> None:
        answers = [self._guarded(self._delete, acl_filter) for acl_filter in message.filters]
        self._respond(client, request, answers)

    def _respond(self, client: int, request: int, answers: Sequence[Answer]) -> None:
        by_number = {str(number): answer for number, answer in enumerate(answers)}
        response = AclsResponse(
            request,
            NONE,
            {number: error for number, (error, _, _) in by_number.items()},
            {number: reason for number, (_, reason, _) in by_number.items() if reason},
            [acls for _, _, acls in answers],
        )
        self.context.respond(client, request, response)

    def _guarded(self, work: Callable[[Acl], Answer], acl: Acl) -> Answer:
        try:
            return work(acl)
        except errors.ZooKeeperError as failure:
            return "UNKNOWN_SERVER_ERROR", str(failure), []

    def _create(self, acl: Acl) -> Answer:
        if reason := why_invalid(acl):
            return "INVALID_REQUEST", reason, []
        if not is_principal(acl.principal):
            return "UNKNOWN_SERVER_ERROR", "", []
        path = znodes.path_of(acl)
        entries = self._read(path)
        if acl not in entries:
            self._write(path, [*entries, acl])
        return NONE, "", []

    def _delete(self, acl_filter: Acl) -> Answer:
        deleted = []
        for path in list(self.state.acls):
            entries = self._read(path)
            remaining = [acl for acl in entries if not acl.matches(acl_filter)]
            if len(remaining) < len(entries):
                deleted += [acl for acl in entries if acl.matches(acl_filter)]
                self._write(path, remaining)
        return NONE, "", deleted

    def _write(self, path: str, acls: list[Acl]) -> None:
        """Write the entries of a resource (none: delete its znode), and notify the others."""
        if not acls:
            self.zk.delete(path)
        else:
            kind = path.rpartition("/")[0]
            if self.zk.find(kind) is None:
                self.zk.create(kind, "")
            self.zk.write(path, znodes.acls_json(acls))
        self._know(path, acls)
        changes, data = znodes.change_of(path)
        self.zk.create(f"{changes}/{znodes.CHANGE_PREFIX}", data, sequential=True)
