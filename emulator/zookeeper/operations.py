"""Write requests as plain data, their validation, and transactions that see their own changes."""

from collections.abc import Callable, Sequence
from copy import copy

from msgspec import Struct

from emulator.zookeeper import errors
from emulator.zookeeper.znode import ZOOKEEPERS_OWN, Znode, check_path, parent_path

ANY_VERSION = -1
"""As an expected version: matches any version."""

Look = Callable[[str], Znode | None]
"""Finds the znode at a path, None if there is none."""


class Create(Struct, frozen=True, array_like=True, tag=True, gc=False):
    """Create a znode; a sequential one's name ends with its parent's count of creates."""

    path: str
    data: str | None = None
    ephemeral: bool = False
    sequential: bool = False


class SetData(Struct, frozen=True, array_like=True, tag=True, gc=False):
    """Set a znode's data if its dataVersion is ``version``."""

    path: str
    data: str | None
    version: int = ANY_VERSION


class Delete(Struct, frozen=True, array_like=True, tag=True, gc=False):
    """Delete a znode if its dataVersion is ``version``."""

    path: str
    version: int = ANY_VERSION


class Check(Struct, frozen=True, array_like=True, tag=True, gc=False):
    """Do nothing, but fail the transaction unless a znode's dataVersion is ``version``."""

    path: str
    version: int


Operation = Create | SetData | Delete | Check
"""The operations that a transaction can contain."""


def admit_create(look: Look, path: str, above: str, sequential: bool) -> str:
    """Return the path at which a znode may be created; the checks are in ZooKeeper's order."""
    parent = look(above)
    if parent is None:
        raise errors.NoNodeError(path, f"The parent of {path} does not exist.")
    if sequential:
        path = f"{path}{parent.child_creates:010d}"
    if look(path) is not None:
        raise errors.NodeExistsError(path, f"{path} exists.")
    if parent.ephemeral_owner:
        raise errors.NoChildrenForEphemeralsError(path, f"The parent of {path} is ephemeral.")
    return path


def admit_version(look: Look, path: str, version: int) -> Znode:
    """Return the znode to be changed or checked, if it has the expected version."""
    node = look(path)
    if node is None:
        raise errors.NoNodeError(path, f"{path} does not exist.")
    if version not in (ANY_VERSION, node.version):
        raise errors.BadVersionError(
            path, f"{path} has version {node.version}, not {version} as expected."
        )
    return node


def admit_delete(look: Look, path: str, version: int) -> Znode:
    """Return the znode to be deleted, if it may be."""
    if path in ZOOKEEPERS_OWN:
        raise errors.BadArgumentsError(path, f"{path} is ZooKeeper's own and cannot be deleted.")
    node = admit_version(look, path, version)
    if node.num_children:
        raise errors.NotEmptyError(path, f"{path} has {node.num_children} children.")
    return node


def admit(look: Look, operation: Operation) -> str:
    """Validate one operation of a transaction; return its path."""
    match operation:
        case Create():
            above = parent_path(operation.path)
            return admit_create(look, operation.path, above, operation.sequential)
        case Delete():
            admit_delete(look, operation.path, operation.version)
        case _:
            admit_version(look, operation.path, operation.version)
    return operation.path


def admit_all(look: Look, transaction: Sequence[Operation], session: int) -> list[str]:
    """Validate a transaction in which each operation sees the effects of the earlier ones.

    Raises:
        ZooKeeperError: an operation was rejected; the error has the outcome of each.
    """
    paths: list[str] = []
    draft: Draft | None = None
    try:
        for operation in transaction:
            path = admit(look, operation)
            paths.append(path)
            if len(paths) < len(transaction) and not isinstance(operation, Check):
                draft = draft or Draft(look, session)
                draft.take_in(operation, path)
                look = draft.look
    except errors.ZooKeeperError as error:
        _report(error, transaction, len(paths))
        raise
    return paths


class Draft:
    """The tree as a transaction would leave it: an overlay of its changes on the tree.

    It exists only while one transaction is validated; the tree itself is not modified.
    """

    def __init__(self, look: Look, session: int) -> None:
        self._beneath = look
        self._session = session
        self._changed: dict[str, Znode | None] = {}

    def look(self, path: str) -> Znode | None:
        """Find the znode at a path as the transaction would leave it."""
        return self._changed[path] if path in self._changed else self._beneath(path)

    def take_in(self, operation: Operation, path: str) -> None:
        """Apply a valid operation, as far as later ones can observe it."""
        match operation:
            case Create():
                owner = self._session if operation.ephemeral else 0
                self._changed[path] = Znode(None, 0, 0, 0, 0, 0, ephemeral_owner=owner)
                self._edit(parent_path(path)).child_creates += 1
                self._edit(parent_path(path)).num_children += 1
            case SetData():
                self._edit(path).version += 1
            case Delete():
                self._changed[path] = None
                self._edit(parent_path(path)).num_children -= 1

    def _edit(self, path: str) -> Znode:
        """Return the draft's own copy of an existing znode."""
        node = self._changed.get(path)
        if node is None:
            node = self._changed[path] = copy(self._beneath(path))
        assert node is not None
        return node


def check_paths(operations: Sequence[Operation]) -> None:
    """Reject a transaction with a malformed path, as its client does."""
    for operation in operations:
        check_path(
            operation.path, sequential=isinstance(operation, Create) and operation.sequential
        )


def _report(error: errors.ZooKeeperError, transaction: Sequence[Operation], index: int) -> None:
    """Store the outcome of each operation in a transaction's error."""
    error.index = index
    error.results = [
        *(_rolled_back(operation) for operation in transaction[:index]),
        error,
        *(_not_tried(operation) for operation in transaction[index + 1 :]),
    ]


def _rolled_back(operation: Operation) -> errors.ZooKeeperError:
    return errors.RolledBackError(operation.path, "A later operation of the transaction failed.")


def _not_tried(operation: Operation) -> errors.ZooKeeperError:
    return errors.RuntimeInconsistency(
        operation.path, "An earlier operation of the transaction failed."
    )
