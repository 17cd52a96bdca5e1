"""Statements that cannot be done, and why: an error's name and a sentence."""

from difflib import get_close_matches

from emulator.cluster import Cluster
from emulator.releases.profiles import Profile

NO_ZOOKEEPER = "There is no ZooKeeper in KRaft mode: the controllers keep a log of metadata."
"""Why a statement about ZooKeeper cannot be done."""


class RefusedError(Exception):
    """A statement that cannot be done: ``name`` is Kafka's or ZooKeeper's name for the error."""

    def __init__(self, name: str, message: str) -> None:
        """Refuse under ``name`` with a sentence."""
        super().__init__(message)
        self.name = name


def needs(profile: Profile, feature: str, what: str, hint: str = "") -> None:
    """Refuse what a later release brought, and say which."""
    if not profile.has(feature):
        since = f"since {profile.first_with(feature)}, not in {profile.version}"
        raise RefusedError("UNSUPPORTED_VERSION", f"{what} {since}{hint}.")


def needs_topic(cluster: Cluster, topic: str) -> None:
    """Refuse a topic that does not exist, and name the nearest that does."""
    if not cluster.has_topic(topic):
        raise _unknown(f"There is no topic {topic}", topic, cluster.topics())


def needs_partition(cluster: Cluster, tp: str) -> None:
    """Refuse a partition that does not exist, and name the nearest that does."""
    if cluster.assigned(tp) is None:
        raise _unknown(f"There is no partition {tp}", tp, cluster.partitions())


def needs_broker(cluster: Cluster, number: int) -> None:
    """Refuse a broker that does not exist, and say which do."""
    if number not in cluster.brokers:
        ids = ", ".join(map(str, cluster.brokers))
        message = f"There is no broker {number}; there are {ids}."
        raise RefusedError("BROKER_NOT_AVAILABLE", message)


def _unknown(sentence: str, name: str, known: list[str]) -> RefusedError:
    near = get_close_matches(name, known, 1, 0)
    hint = f"; the nearest is {near[0]}" if near else "; there is none yet"
    return RefusedError("UNKNOWN_TOPIC_OR_PARTITION", f"{sentence}{hint}.")
