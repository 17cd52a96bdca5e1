"""Rejected statements: an error name and a sentence."""

from difflib import get_close_matches
from typing import Final

from emulator.cluster import Cluster
from emulator.inputs.conditions import Subject
from emulator.releases.profiles import Profile

NO_ZOOKEEPER = "There is no ZooKeeper in KRaft mode: the controllers keep a metadata log."
"""The reason for rejecting a ZooKeeper statement."""

ONLY_KRAFT: Final = frozenset(
    {
        *("elr", "last_known_elr", "partition_epoch", "recovery", "adding", "removing"),
        *("fenced", "in_controlled_shutdown", "registrations"),
    }
)
"""The fields of partitions and brokers that only the metadata log has."""


class RefusedError(Exception):
    """A statement that cannot be executed: ``name`` is Kafka's or ZooKeeper's error name."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def needs(profile: Profile, feature: str, subject: str, hint: str = "") -> None:
    """Reject a feature of a later release, naming that release."""
    if not profile.has(feature):
        since = f"since {profile.first_with(feature)}, not in {profile.version}"
        raise RefusedError("UNSUPPORTED_VERSION", f"{subject} {since}{hint}.")


def needs_topic(cluster: Cluster, topic: str) -> None:
    """Reject an unknown topic, suggesting the nearest name."""
    if not cluster.has_topic(topic):
        raise _unknown(f"There is no topic {topic}", topic, cluster.topics())


def needs_partition(cluster: Cluster, tp: str) -> None:
    """Reject an unknown partition, suggesting the nearest name."""
    if cluster.assigned(tp) is None:
        raise _unknown(f"There is no partition {tp}", tp, cluster.partitions())


def needs_broker(cluster: Cluster, number: int) -> None:
    """Reject an unknown broker, listing the existing ones."""
    if number not in cluster.brokers:
        ids = ", ".join(map(str, cluster.brokers))
        message = f"There is no broker {number}; there are {ids}."
        raise RefusedError("BROKER_NOT_AVAILABLE", message)


def needs_member(cluster: Cluster, number: int) -> None:
    """Reject an id of neither a broker nor a controller, listing the existing ones."""
    if not cluster.controllers:
        needs_broker(cluster, number)
    elif number not in cluster.brokers and number not in cluster.controllers:
        brokers, controllers = (
            ", ".join(map(str, ids)) for ids in (cluster.brokers, cluster.controllers)
        )
        message = f"There is no host {number}; brokers are {brokers}, controllers {controllers}."
        raise RefusedError("BROKER_NOT_AVAILABLE", message)


def why_no_value(cluster: Cluster, subject: Subject) -> str:
    """Say why a condition's subject has no value; empty if it may have one later."""
    kind, name = subject.kind, subject.name
    try:
        if kind in ("partition", "replica"):
            needs_partition(cluster, name.partition("@")[0])
        elif kind == "broker":
            needs_broker(cluster, int(name))
        elif kind in ("producer", "consumer"):
            clients = cluster.clients.state
            names = list(clients.producers if kind == "producer" else clients.consumers)
            if name not in names:
                raise _unknown(f"There is no {kind} {name}", name, names)
        elif kind == "member" and cluster.kraft is not None:
            needs_member(cluster, int(name))
        elif kind == "zk" and cluster.kraft is not None:
            return NO_ZOOKEEPER
    except RefusedError as refused:
        return str(refused)
    is_of_quorum = kind in ("quorum", "member")
    if cluster.kraft is None and (is_of_quorum or subject.field in ONLY_KRAFT):
        missing = "a quorum" if is_of_quorum else f"'{subject.field}'"
        return f"There is {missing} only in KRaft mode."
    return ""


def _unknown(sentence: str, name: str, names: list[str]) -> RefusedError:
    near = get_close_matches(name, names, 1, 0)
    hint = f"; the nearest is {near[0]}" if near else "; there is none yet"
    return RefusedError("UNKNOWN_TOPIC_OR_PARTITION", f"{sentence}{hint}.")
