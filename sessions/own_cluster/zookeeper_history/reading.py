"""The cluster at the end of ZooKeeper's transaction logs (``version-2``)."""

from pathlib import Path

from sessions.own_cluster.formats.znodes import Znode, image_of
from sessions.own_cluster.formats.zookeeper_log import NAME, WANTED
from sessions.own_cluster.formats.zookeeper_snapshot import KEPT
from sessions.own_cluster.reading import Authority, FormatError, Reading
from sessions.own_cluster.zookeeper_history.log_copies import find_transaction_logs


def read_history(path: Path, name: str) -> Reading | None:
    """Return the image at the end of the logs in a folder, or of one file; None: there are none.

    Raises:
        FormatError: they begin in the middle of a history, or there is no Kafka in them.
    """
    log = find_transaction_logs([path])
    if log is None:
        return None
    tree = log.start()
    if log.begins_unknown:
        raise FormatError(f"begins in the middle of a history; {WANTED}")
    for transaction in log.transactions(tree.zxid):
        tree.apply(transaction)
    image = image_of(
        Znode(path, znode.data, znode.version, znode.czxid)
        for path, znode in tree.znodes.items()
        if any(part in path for part in KEPT)
    )
    return Reading(name, NAME, Authority.METADATA, image, tuple(log.notes))
