"""The transaction logs and snapshots of an ensemble: found in folders, and merged by zxid.

Every server of an ensemble has the same transactions, as far as it has them, so copies of several
servers complete each other.
"""

import heapq
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from sessions.own_cluster.content import open_content
from sessions.own_cluster.formats import zookeeper_log, zookeeper_snapshot
from sessions.own_cluster.formats.zookeeper_log import Torn, Transaction, read_transactions
from sessions.own_cluster.reading import FormatError, SourceError
from sessions.own_cluster.wrong_files import identify
from sessions.own_cluster.zookeeper_history.znode_tree import Znode, ZnodeTree
from sessions.text import clean

LOG: Final = re.compile(r"log\.([0-9a-f]{1,16})(?:\.gz|\.zst)?")
SNAPSHOT: Final = re.compile(r"snapshot\.([0-9a-f]{1,16})(?:\.gz|\.zst)?")
FILES_MAX: Final = 100_000
"""How many files below a folder are looked at."""
_COUNTER_BITS: Final = 32
"""The lower half of a zxid counts the transactions of an epoch of the ensemble's leader."""


class TransactionLog:
    """The merged history of an ensemble.

    ``notes`` are sentences about what is missing; they are complete once all was read.
    ``begins_unknown``: the state before the first transaction is not known.
    """

    def __init__(self, logs: Sequence[Path], snapshots: Sequence[Path]) -> None:
        self.notes: list[str] = []
        self.begins_unknown = False
        self._logs: dict[Path, list[Path]] = {}
        for path in sorted(logs, key=_zxid):
            self._logs.setdefault(path.parent, []).append(path)
        self._snapshots = sorted(snapshots, key=_zxid)
        self.name = str((logs or snapshots)[0])

    def start(self) -> ZnodeTree:
        """Return the state before the first transaction that counts.

        A log that begins with the first transaction needs no snapshot; another one is read from
        the oldest snapshot on that it reaches back to.
        """
        first = next(self._merged(), None)
        first_zxid = first.zxid if first is not None else None
        if first_zxid == 1:
            return ZnodeTree()
        for path in self._snapshots:
            zxid = _zxid(path)
            if first_zxid is None or zxid >= first_zxid - 1:
                try:
                    return _tree(path, zxid)
                except (FormatError, SourceError) as error:
                    self._note(f"{path.name} {error}; another snapshot is taken")
        if first is not None:
            self.begins_unknown = True
            self._note(
                f"what was before transaction 0x{first.zxid:x} is unknown: no snapshot of the "
                "state there was found"
            )
        return ZnodeTree()

    def transactions(self, after: int) -> Iterator[Transaction]:
        """Yield the transactions after a zxid, each once, in their order."""
        last = after
        for transaction in self._merged():
            zxid = transaction.zxid
            if zxid <= last:
                continue
            if zxid >> _COUNTER_BITS == last >> _COUNTER_BITS and zxid != last + 1 and last:
                self._note(f"the transactions 0x{last + 1:x} to 0x{zxid - 1:x} are missing")
            last = zxid
            yield transaction

    def _merged(self) -> Iterator[Transaction]:
        streams = [self._read(paths) for paths in self._logs.values()]
        return heapq.merge(*streams, key=lambda transaction: transaction.zxid)

    def _read(self, paths: Sequence[Path]) -> Iterator[Transaction]:
        for path in paths:
            name = f"{path.parent.name}/{path.name}"
            try:
                with open_content(path, name) as content:
                    for transaction in read_transactions(content):
                        if isinstance(transaction, Torn):
                            self._note(
                                f"the last transaction of {clean(name)} is torn (at byte "
                                f"{transaction.at:,}): what is whole before it was read"
                            )
                        else:
                            yield transaction
            except FormatError as error:
                self._note(f"{clean(name)} {error}; what is before that was read")
            except SourceError as error:
                self._note(str(error))

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)


def find_transaction_logs(paths: Sequence[Path]) -> TransactionLog | None:
    """Return the transaction logs that are given or in folders; None if there are none.

    Raises:
        SourceError: a file that is named cannot be read.
    """
    logs: list[Path] = []
    snapshots: list[Path] = []
    for path in paths:
        for file in _below(path):
            if LOG.fullmatch(file.name) and _begins(file, zookeeper_log.MAGIC):
                logs.append(file)
            elif SNAPSHOT.fullmatch(file.name) and _begins(file, zookeeper_snapshot.MAGIC):
                snapshots.append(file)
    return TransactionLog(logs, snapshots) if logs else None


def _below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for number, file in enumerate(sorted(path.rglob("*"))):
        if number >= FILES_MAX:
            return
        if (LOG.fullmatch(file.name) or SNAPSHOT.fullmatch(file.name)) and file.is_file():
            yield file


def _begins(path: Path, magic: bytes) -> bool:
    try:
        with open_content(path, str(path)) as content:
            return content.head.startswith(magic)
    except SourceError:
        return False


def _zxid(path: Path) -> int:
    match = LOG.fullmatch(path.name) or SNAPSHOT.fullmatch(path.name)
    return int(match[1], 16) if match else 0


def _tree(path: Path, zxid: int) -> ZnodeTree:
    with open_content(path, path.name) as content:
        if not zookeeper_snapshot.recognizes(content.head):
            raise FormatError(f"is {identify(content)[0]}")
        znodes = [
            (
                znode.path,
                Znode(
                    znode.data,
                    znode.version,
                    znode.czxid,
                    znode.mzxid,
                    znode.ctime_ms,
                    znode.mtime_ms,
                    znode.owner,
                ),
            )
            for znode in zookeeper_snapshot.read_znodes(content)
            if znode.path
        ]
    return ZnodeTree(znodes, zxid)
