"""One-shot watches: the hosts to notify of the next change at a path."""

from msgspec import Struct, field


class Watches(Struct, array_like=True):
    """Watching hosts by path, in registration order; each is notified once.

    As in ZooKeeper's server, watches set by ``exists`` and by reading data are of the same kind;
    watches on children are the other kind.
    """

    data: dict[str, tuple[int, ...]] = field(default_factory=dict)
    children: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def watch_data(self, host: int, path: str) -> None:
        """Notify ``host`` when the znode is created, changed or deleted."""
        _add(self.data, host, path)

    def watch_children(self, host: int, path: str) -> None:
        """Notify ``host`` when the znode's children change, or it is deleted."""
        _add(self.children, host, path)

    def forget(self, host: int) -> None:
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
        remaining = tuple(other for other in table[path] if other != host)
        if remaining:
            table[path] = remaining
        else:
            del table[path]
