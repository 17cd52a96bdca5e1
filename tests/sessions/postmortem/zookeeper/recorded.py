"""Transaction logs of the ZooKeepers of five clusters, from 3.4 to 3.6, that went through faults.

``log.1.txt.gz`` is what ZooKeeper's own TxnLogToolkit (3.8) prints of each; ``znodes.json`` are the
znodes with their statistics that a real server had once it had read the log. What happened is
described in :mod:`tests.sessions.postmortem.text_logs.recorded`: they are the same clusters.
"""

import gzip
import json
from pathlib import Path
from typing import Any, Final

from sessions.own_cluster.formats.zookeeper_log import Torn, Transaction
from sessions.own_cluster.zookeeper_history.log_copies import TransactionLog, find_transaction_logs

RECORDINGS: Final = Path(__file__).parents[1] / "recordings" / "zookeeper"
RELEASES: Final = ("0.8.2.2", "1.1.1", "2.4.1", "2.8.2", "3.5.2")
LOG: Final = "version-2/log.1.gz"


def history(release: str) -> TransactionLog:
    """The history of a cluster of a release."""
    found = find_transaction_logs([RECORDINGS / release])
    assert found is not None
    return found


def raw(release: str) -> bytes:
    """The bytes of the log, with some of the zeros that follow."""
    return gzip.decompress((RECORDINGS / release / LOG).read_bytes())


def printed(release: str) -> str:
    """What ZooKeeper's tool prints of it."""
    path = RECORDINGS / release / "log.1.txt.gz"
    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace")


def znodes(release: str) -> dict[str, Any]:
    """The znodes at its end, as a real server has them."""
    found: dict[str, Any] = json.loads((RECORDINGS / release / "znodes.json").read_text())
    return found


def whole(transaction: Transaction | Torn) -> Transaction:
    """A transaction that is not torn."""
    assert isinstance(transaction, Transaction)
    return transaction
