"""One-shot watches: who is to be told of the next change at a path."""

from msgspec import Struct, field


class Watches(Struct, array_like=True):
    """Watching hosts by path, in the order in which they asked; a host is told once.

    As in ZooKeeper's server, a watch set by ``exists`` and one set by reading data are one and the
    same kind; watches on children are the other.
    """

    data: dict[str, tuple[int, ...]] = field(default_factory=dict)
    children: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def watch_data(self, host: int, path: str) -> None:
        """Tell ``host`` when the znode is created, changed or deleted."""
        _add(self.data, host, path)

    def watch_children(self, host: int, path: str) -> None:
        """Tell ``host`` when the znode gets or loses a child, or is deleted."""
        _add(self.children, host, path)

    def forget(self, host: int) -> None:
        """Drop all watches of ``host``."""
        _remove(self.data, host)
        _remove(self.children, host)

    def of_path(self, path: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the hosts that watch the path's data or existence, and its children."""
        return self.data.get(path, ()), self.children.get(path, ())


def _add(table: dict[str, tuple[int, ...]], host: int, path: str) -> None:
    hosts = table.get(path, ())
    if host not in hosts:
        table[path] = (*hosts, host)


def _remove(table: dict[str, tuple[int, ...]], host: int) -> None:
    for path in [path for path, hosts in table.items() if host in hosts]:
        left = tuple(each for each in table[path] if each != host)
        if left:
            table[path] = left
        else:
            del table[path]
