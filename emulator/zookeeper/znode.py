"""A znode, its Stat, and path validation."""

from typing import Final

from msgspec import Struct

from emulator.zookeeper.errors import BadArgumentsError


class Znode(Struct, array_like=True, gc=False):
    """One node of the tree; transaction ids are zxids, times are virtual microseconds.

    ``child_creates`` counts how many children were ever created (ZooKeeper's raw cversion).
    ``children`` is the set of their names, None if there are none.
    """

    data: str | None
    czxid: int
    mzxid: int
    pzxid: int
    ctime_us: int
    mtime_us: int
    version: int = 0
    child_creates: int = 0
    num_children: int = 0
    ephemeral_owner: int = 0
    children: dict[str, None] | None = None

    @property
    def cversion(self) -> int:
        """Child creates plus child deletes (minus the children in a new tree)."""
        return 2 * self.child_creates - self.num_children

    @property
    def data_length(self) -> int:
        """The number of bytes of data; 0 for null."""
        return 0 if self.data is None else len(self.data.encode())

    def stat(self) -> "Stat":
        """The znode's metadata as ZooKeeper reports it."""
        return Stat(
            self.czxid,
            self.mzxid,
            self.ctime_us,
            self.mtime_us,
            self.pzxid,
            self.version,
            self.cversion,
            0,
            self.ephemeral_owner,
            self.data_length,
            self.num_children,
        )


class Stat(Struct, frozen=True, array_like=True, gc=False):
    """ZooKeeper's Stat (``aversion`` is always 0: access control is not emulated)."""

    czxid: int
    mzxid: int
    ctime_us: int
    mtime_us: int
    pzxid: int
    version: int
    cversion: int
    aversion: int
    ephemeral_owner: int
    data_length: int
    num_children: int


ZOOKEEPERS_OWN: Final = ("/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config")
"""Paths that cannot be deleted (``ZKDatabase.isSpecialPath``)."""

_FORBIDDEN_RANGES: Final = ((0x0, 0x1F), (0x7F, 0x9F), (0xD800, 0xF8FF), (0xFFF0, 0xFFFF))


def check_path(path: str, sequential: bool = False) -> None:
    """Reject a path that ``PathUtils.validatePath`` rejects; a sequential one may end in a slash.

    Raises:
        BadArgumentsError: the path is malformed. Clients check that themselves, so no request is
            sent and no zxid used.
    """
    if sequential:
        path += "1"
    ordinary = path[:1] == "/" and path[-1] != "/" and path.isprintable()
    if not ordinary or "//" in path or "/." in path:
        _check_names(path)


def parent_path(path: str) -> str:
    """Return the parent path."""
    return path[: path.rindex("/")] or "/"


def _check_names(path: str) -> None:
    names = path.split("/")
    if names[0] or len(names) == 1:
        raise BadArgumentsError(path, f"A path starts with a slash, but not {path!r}.")
    if path != "/" and "" in names[1:]:
        raise BadArgumentsError(path, f"A path has no empty names, but {path!r} has.")
    if "." in names or ".." in names:
        raise BadArgumentsError(path, f"A path is absolute, but {path!r} is relative in a part.")
    if not path.isprintable() and any(_is_forbidden(letter) for letter in path):
        raise BadArgumentsError(path, f"A path has no control characters, but {path!r} has.")


def _is_forbidden(letter: str) -> bool:
    return any(first <= ord(letter) <= last for first, last in _FORBIDDEN_RANGES)
