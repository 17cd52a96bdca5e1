"""The cluster at the end of ZooKeeper's transaction logs (``version-2``), or at a place in them."""

from pathlib import Path

from emulator.cluster_image.image import ClusterImage
from sessions.own_cluster.formats.znodes import Znode, image_of
from sessions.own_cluster.formats.zookeeper_log import NAME, WANTED
from sessions.own_cluster.formats.zookeeper_snapshot import KEPT
from sessions.own_cluster.places import END, US_PER_MS, Place, time_text
from sessions.own_cluster.reading import Authority, FormatError, Reading
from sessions.own_cluster.zookeeper_history.log_copies import TransactionLog, find_transaction_logs
from sessions.own_cluster.zookeeper_history.znode_tree import ZnodeTree


def read_history(path: Path, name: str, until: Place = END) -> Reading | None:
    """Return the image at the end of the logs in a folder, or of one file; None: there are none.

    ``until`` is the last transaction that counts; offsets are zxids.

    Raises:
        FormatError: they begin in the middle of a history or after that place, or there is no Kafka
            in them.
    """
    log = find_transaction_logs([path])
    if log is None:
        return None
    tree = log.start()
    if log.begins_unknown:
        raise FormatError(f"begins in the middle of a history; {WANTED}")
    last = None
    for transaction in log.transactions(tree.zxid):
        time_us = transaction.time_ms * US_PER_MS
        if until.is_before(transaction.zxid, time_us):
            if last is None:
                raise FormatError(
                    f"has no transaction up to that place: it begins at {time_text(time_us)}"
                )
            break
        tree.apply(transaction)
        last = transaction
    notes = list(log.notes)
    if last is not None and until != END:
        time = time_text(last.time_ms * US_PER_MS)
        notes.append(f"the cluster as of transaction 0x{last.zxid:x}, {time}")
    return Reading(name, NAME, Authority.METADATA, _image(tree), tuple(notes))


def image_before(log: TransactionLog, zxid: int) -> ClusterImage:
    """Return the image just before a transaction.

    Raises:
        FormatError: there is no Kafka in what is before.
    """
    tree = log.start()
    for transaction in log.transactions(tree.zxid):
        if transaction.zxid >= zxid:
            break
        tree.apply(transaction)
    return _image(tree)


def _image(tree: ZnodeTree) -> ClusterImage:
    return image_of(
        Znode(path, znode.data, znode.version, znode.czxid)
        for path, znode in tree.znodes.items()
        if any(part in path for part in KEPT)
    )
