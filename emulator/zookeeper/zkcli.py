"""The output of ``zkCli.sh``, and the same as plain data.

Up to ZooKeeper 3.4 ``ls`` prints children in the server's order, and ``get`` always prints the
Stat.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from emulator.releases.profiles import Profile
from emulator.simulation.kernel import STARTED_MS
from emulator.zookeeper.errors import (
    BadArgumentsError,
    BadVersionError,
    NoChildrenForEphemeralsError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    ZooKeeperError,
)
from emulator.zookeeper.tree import ZooKeeper
from emulator.zookeeper.znode import Stat, Znode

_WORDS: Final[dict[type[ZooKeeperError], str]] = {
    NoNodeError: "Node does not exist: ",
    NoChildrenForEphemeralsError: "Ephemerals cannot have children: ",
    NodeExistsError: "Node already exists: ",
    NotEmptyError: "Node not empty: ",
    BadArgumentsError: "Arguments are not valid : ",
    BadVersionError: "version No is not valid : ",
}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Zone(Struct, frozen=True):
    """A time zone as zkCli prints it: its abbreviation, and how far ahead of UTC its clocks are.

    ``started_ms`` is the wall-clock time of virtual time 0.
    """

    name: str
    offset_s: int
    started_ms: int = STARTED_MS


UTC_ZONE: Final = Zone("UTC", 0)


def list_text(names: list[str]) -> str:
    """``ls``: the children's names in one line."""
    return f"[{', '.join(names)}]"


def listed(zookeeper: ZooKeeper, profile: Profile, path: str) -> list[str]:
    """``ls``: the names of a znode's children in the order in which they are printed."""
    is_sorted = profile.has("zkcli_of_3_5")
    return zookeeper.children(path) if is_sorted else zookeeper.children_unsorted(path)


def list_tree(zookeeper: ZooKeeper, path: str) -> list[str]:
    """``ls -R``: the path and its descendants; siblings come before their children."""
    return [path, *_below(zookeeper, path)]


def get_text(node: Znode, *, with_stat: bool, zone: Zone = UTC_ZONE) -> str:
    """``get`` and ``get -s``: the data (``null`` if there is none), then its Stat."""
    data = "null" if node.data is None else node.data
    return f"{data}\n{stat_text(node.stat(), zone)}" if with_stat else data


def stat_text(stat: Stat, zone: Zone = UTC_ZONE) -> str:
    """``stat``: eleven lines."""
    return "\n".join(
        (
            f"cZxid = {stat.czxid:#x}",
            f"ctime = {date_text(stat.ctime_us, zone)}",
            f"mZxid = {stat.mzxid:#x}",
            f"mtime = {date_text(stat.mtime_us, zone)}",
            f"pZxid = {stat.pzxid:#x}",
            f"cversion = {stat.cversion}",
            f"dataVersion = {stat.version}",
            f"aclVersion = {stat.aversion}",
            f"ephemeralOwner = {stat.ephemeral_owner:#x}",
            f"dataLength = {stat.data_length}",
            f"numChildren = {stat.num_children}",
        )
    )


def date_text(time_us: int, zone: Zone = UTC_ZONE) -> str:
    """A virtual time in Java's date format: ``Sun Mar 15 10:16:06 UTC 2020``."""
    date = datetime.fromtimestamp((zone.started_ms * 1000 + time_us) // 1_000_000, UTC)
    date += timedelta(seconds=zone.offset_s)
    day, month = _DAYS[date.weekday()], _MONTHS[date.month - 1]
    return f"{day} {month} {date:%d %H:%M:%S} {zone.name} {date.year}"


def error_text(error: ZooKeeperError) -> str:
    """The message of zkCli for a rejected request (``CliWrapperException``)."""
    words = _WORDS.get(type(error))
    return str(error) if words is None else f"{words}{error.path}"


def stat_fields(stat: Stat, started_ms: int = STARTED_MS) -> dict[str, int]:
    """A Stat by the names used in conditions; times are milliseconds since 1970, as ZooKeeper's."""
    return {
        "version": stat.version,
        "owner": stat.ephemeral_owner,
        "czxid": stat.czxid,
        "mzxid": stat.mzxid,
        "pzxid": stat.pzxid,
        "ctime": started_ms + stat.ctime_us // 1000,
        "mtime": started_ms + stat.mtime_us // 1000,
        "cversion": stat.cversion,
        "acl_version": stat.aversion,
        "data_length": stat.data_length,
        "num_children": stat.num_children,
    }


def node_result(node: Znode, started_ms: int = STARTED_MS) -> dict[str, Any]:
    """``get`` and ``stat`` as plain data, with zkCli's own names."""
    fields = stat_fields(node.stat(), started_ms)
    return {
        "data": node.data,
        "dataVersion": fields["version"],
        "cversion": fields["cversion"],
        "aclVersion": fields["acl_version"],
        "ephemeral": fields["owner"] != 0,
        "ephemeralOwner": fields["owner"],
        "dataLength": fields["data_length"],
        "numChildren": fields["num_children"],
        "cZxid": fields["czxid"],
        "mZxid": fields["mzxid"],
        "pZxid": fields["pzxid"],
        "ctime": fields["ctime"],
        "mtime": fields["mtime"],
    }


def list_result(zookeeper: ZooKeeper, path: str, *, recursive: bool) -> list[str]:
    """``ls`` and ``ls -R`` as plain data: sorted names, or sorted paths."""
    return sorted(list_tree(zookeeper, path)) if recursive else zookeeper.children(path)


def _below(zookeeper: ZooKeeper, path: str) -> Iterator[str]:
    children = [f"{path.rstrip('/')}/{name}" for name in zookeeper.children(path)]
    yield from children
    for child in children:
        yield from _below(zookeeper, child)
