"""Where the partitions, brokers or records that a verdict is about are listed."""

from typing import Final

from console.model.links import Link
from sessions.model.verdict import Verdict

OF_KIND: Final = {
    "offline": Link("partitions", "state=offline"),
    "blocked": Link(
        "partitions", "(writes=waiting and state=waiting) or (writes=nobody and not state=offline)"
    ),
    "refused": Link("partitions", "writes=refused"),
    "lost": Link("lost", ""),
}
"""Verdicts about partitions and records."""
STALLED: Final = Link("partitions", "state=hw_stalled")
"""What the headline is about if nothing is wrong but that high watermarks stand still."""
OF_CLUSTER: Final = ("no controller", "zookeeper unreachable", "quorum lost", "zookeeper cut")


def rows_of(held: Verdict) -> Link:
    """The screen that lists what a verdict is about."""
    if held.kind in OF_KIND:
        return OF_KIND[held.kind]
    if held.kind in (*OF_CLUSTER, "brokers down"):
        return Link("mode", "brokers")
    return Link("partitions", f"state={held.kind}")
