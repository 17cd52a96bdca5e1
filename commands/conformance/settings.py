"""The configuration of clusters and clients: failures are detected, and given up, quickly.

On a slow machine all timeouts are multiplied by the same number, the patience of a run.
"""

from collections.abc import Mapping
from typing import Final

from commands.conformance.broker_names import PARTITIONS_OF_INTERNAL_TOPICS
from commands.conformance.steps import Setting
from commands.runs.served_script import FOR_TESTS

BROKERS: Final = 3
WAITS: Final = (".timeout.ms", "max.block.ms", "max.poll.interval.ms")
"""The ends of names of settings that say how long a client waits."""
CLUSTER: Final[dict[str, str]] = {
    **FOR_TESTS,
    "broker.heartbeat.interval.ms": "150",
    "broker.session.timeout.ms": "600",
    "group.min.session.timeout.ms": "500",
    "group.consumer.min.session.timeout.ms": "500",
    "group.consumer.session.timeout.ms": "2000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.share.min.session.timeout.ms": "500",
    "group.share.session.timeout.ms": "2000",
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "200",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "2000",
    "offsets.topic.num.partitions": str(PARTITIONS_OF_INTERNAL_TOPICS),
    "transaction.state.log.num.partitions": str(PARTITIONS_OF_INTERNAL_TOPICS),
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}
OF_MEMBERS: Final = (
    "group.consumer.session.timeout.ms",
    "group.share.session.timeout.ms",
    "group.share.record.lock.duration.ms",
)
"""The settings of a cluster that say how long a member may be silent."""
CLIENT: Final[dict[str, Setting]] = {
    "request.timeout.ms": 1_000,
    "retry.backoff.ms": 30,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
    "metadata.max.age.ms": 5_000,
    "default.api.timeout.ms": 8_000,
}
PRODUCER: Final[dict[str, Setting]] = {
    **CLIENT,
    "acks": "all",
    "delivery.timeout.ms": 10_000,
    "max.block.ms": 10_000,
    "linger.ms": 0,
    "compression.type": "none",
}
CONSUMER: Final[dict[str, Setting]] = {
    **CLIENT,
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "fetch.max.wait.ms": 100,
    "session.timeout.ms": 2_000,
    "heartbeat.interval.ms": 200,
    "max.poll.interval.ms": 8_000,
}


def patient(settings: Mapping[str, Setting], patience: int) -> dict[str, Setting]:
    """Return settings of a client with longer timeouts."""
    return {
        name: value * patience if name.endswith(WAITS) and isinstance(value, int) else value
        for name, value in settings.items()
    }


def cluster(patience: int) -> dict[str, str]:
    """Return the configuration of clusters, with longer sessions and locks of members."""
    return {
        name: str(int(value) * patience) if name in OF_MEMBERS else value
        for name, value in CLUSTER.items()
    }
