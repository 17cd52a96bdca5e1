"""KRaft's metadata at the time cursor: the image that the committed log adds up to, as a tree.

The log only grows, so the image is read on from where it was last looked at; going back in time
reads it anew.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from sessions.model.metadata_log import Image, path_of, resource_name, topic_name
from sessions.model.states import CommittedRecord, PartitionState, ViewState

ROOT: Final = "/"
TOP: Final = ("/brokers", "/configs", "/controllers", "/features", "/topics")
PARTITION_FIELDS: Final = {
    "leader_epoch": "leaderEpoch",
    "partition_epoch": "partitionEpoch",
    "adding": "addingReplicas",
    "removing": "removingReplicas",
    "recovery": "leaderRecoveryState",
    "elr": "eligibleLeaderReplicas",
    "last_known_elr": "lastKnownElr",
}
"""What a partition's fields are called in its records, where the image has shorter names."""
BROKER_FIELDS: Final = {"in_controlled_shutdown": "inControlledShutdown"}
NAMES: Final = PARTITION_FIELDS | BROKER_FIELDS
RECOVERY_WORDS: Final = ("RECOVERED", "RECOVERING")
"""``LeaderRecoveryState`` by its number."""


class MetadataNode(Struct):
    """One node of the tree.

    ``value`` is what the image holds there; ``changed`` is the offset of the last record about it
    (-1: none, it only has children), ``records`` counts them.
    """

    path: str
    value: Any = None
    children: dict[str, None] = field(default_factory=dict)
    changed: int = -1
    records: int = 0

    @property
    def data(self) -> str | None:
        """The value as JSON, by Kafka's names; None where there is none."""
        if self.value is None:
            return None
        value = self.value
        if isinstance(value, dict):
            value = {NAMES.get(name, name): each for name, each in value.items()}
        return json.dumps(value, separators=(",", ":"))


class Metadata:
    """The image after some records, and the nodes of its tree by path."""

    def __init__(self) -> None:
        self.image = Image()
        self.nodes: dict[str, MetadataNode] = {}
        self.taken = 0
        self.last: CommittedRecord | None = None
        self._record_topics: dict[str, str] = {}
        self._node(ROOT)
        for path in TOP:
            self._node(path)

    # ---- what it says

    def partition(self, partition: PartitionState) -> dict[str, Any]:
        """What the log says of a partition; empty if it does not know it."""
        topic = self._record_topics.get(partition.topic, partition.topic)
        return self.image.partitions.get((topic, partition.partition), {})

    def elr(self, partition: PartitionState) -> list[int]:
        """The eligible leader replicas: not in the ISR, and yet with everything below the HW."""
        found: list[int] = self.partition(partition).get("elr", [])
        return found

    def is_fenced(self, broker: int) -> bool | None:
        """Whether a broker is fenced; None if it is not registered."""
        known = self.image.brokers.get(broker)
        return None if known is None else bool(known["fenced"])

    # ---- reading on

    def take(self, records: Iterable[CommittedRecord]) -> None:
        """Read more of the log."""
        for record in records:
            data = msgspec.json.decode(record.data)
            self.image.take_decoded(record.kind, data)
            self._touch(record.offset, record.kind, data)
            self.taken += 1
            self.last = record

    def _touch(self, offset: int, kind: str, data: dict[str, Any]) -> None:
        path = path_of(kind, data)
        if not path:
            return
        if kind == "RemoveTopic":
            self._remove(path)
            self._remove(f"/configs/{resource_name(2, path.rpartition('/')[2])}")
        elif kind == "ClearElr":
            self._cleared(path, offset)
        else:
            value = self._value(kind, data)
            if value is None and kind != "Topic":
                self._remove(path)
                return
            self._changed(path, offset).value = value
        if kind == "Topic":
            self._record_topics[topic_name(data["topicId"])] = data["topicId"]

    def _value(self, kind: str, data: dict[str, Any]) -> object:
        image = self.image
        match kind:
            case "Partition" | "PartitionChange":
                return image.partitions[data["topicId"], data["partitionId"]]
            case "RegisterBroker" | "BrokerRegistrationChange" | "UnregisterBroker":
                return image.brokers.get(data["brokerId"])
            case "RegisterController":
                return {key: each for key, each in data.items() if key != "controllerId"}
            case "Config":
                return data.get("value")
            case "FeatureLevel":
                return image.features[data["name"]]
            case "ProducerIds":
                return {"nextProducerId": data["nextProducerId"]}
            case _:
                return None

    def _cleared(self, path: str, offset: int) -> None:
        """The ELR of a topic's partitions, or of all, is empty now."""
        node = self.nodes.get(path)
        for name in node.children if node is not None else ():
            below = f"{path}/{name}"
            if self.nodes[below].children:
                self._cleared(below, offset)
            else:
                self.nodes[below].changed = offset

    def _changed(self, path: str, offset: int) -> MetadataNode:
        node = self._node(path)
        node.changed = offset
        node.records += 1
        return node

    def _node(self, path: str) -> MetadataNode:
        node = self.nodes.get(path)
        if node is None:
            node = self.nodes[path] = MetadataNode(path)
            if path != ROOT:
                parent, _, name = path.rpartition("/")
                self._node(parent or ROOT).children[name] = None
        return node

    def _remove(self, path: str) -> None:
        node = self.nodes.pop(path, None)
        if node is None:
            return
        for name in node.children:
            self._remove(f"{path}/{name}")
        parent, _, name = path.rpartition("/")
        above = self.nodes.get(parent or ROOT)
        if above is None:
            return
        above.children.pop(name, None)
        if not above.children and above.changed < 0 and above.path not in (ROOT, *TOP):
            self._remove(above.path)


class MetadataReader:
    """Knows the metadata at whatever time is looked at."""

    def __init__(self) -> None:
        self._metadata = Metadata()

    def at(self, state: ViewState) -> Metadata | None:
        """The metadata as committed in ``state``; None where ZooKeeper keeps it."""
        if state.quorum is None:
            return None
        log, known = state.quorum.log, self._metadata
        if known.taken > len(log) or (known.taken and log[known.taken - 1] != known.last):
            known = self._metadata = Metadata()
        known.take(log[known.taken :])
        return known
