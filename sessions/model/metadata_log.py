"""What a beginning of the metadata log says: the image that whoever has read so far goes by.

Records are read as events show them: by Kafka's names, with topics by name (``t#2`` is the second
topic called t) and registrations as ``ID.N``.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import Struct, field

from sessions.decoding import decode_object
from sessions.model.states import CommittedRecord, QuorumState

Plain = dict[str, Any]
RESOURCES: Final = {2: "topic", 4: "broker"}
"""The types of resources that configurations belong to (``ConfigResource.Type``)."""
CHANGES: Final = {
    "isr": "isr",
    "replicas": "replicas",
    "addingReplicas": "adding",
    "removingReplicas": "removing",
    "eligibleLeaderReplicas": "elr",
    "lastKnownElr": "last_known_elr",
    "leaderRecoveryState": "recovery",
}
"""What a PartitionChange may set, and what it is called here."""


def topic_name(shown: str) -> str:
    """The name of a topic as records show it: ``t#2`` is the second one called ``t``."""
    return shown.partition("#")[0]


def resource_name(kind: int, name: str) -> str:
    """A resource as kafka-metadata-shell names it: ``TOPIC:orders``, ``BROKER`` (the default)."""
    word = RESOURCES.get(kind, str(kind)).upper()
    return f"{word}:{name}" if name else word


def _broker_path(data: Plain) -> str:
    return f"/brokers/{data['brokerId']}"


def _topic_path(data: Plain) -> str:
    return f"/topics/{topic_name(data['topicId'])}"


def _partition_path(data: Plain) -> str:
    return f"{_topic_path(data)}/{data['partitionId']}"


def _cleared_path(data: Plain) -> str:
    topic = data.get("topicName", "")
    return f"/topics/{topic}" if topic else "/topics"


def _config_path(data: Plain) -> str:
    return f"/configs/{resource_name(data['resourceType'], data['resourceName'])}/{data['name']}"


PATHS: Final[dict[str, Callable[[Plain], str]]] = {
    "RegisterBroker": _broker_path,
    "BrokerRegistrationChange": _broker_path,
    "UnregisterBroker": _broker_path,
    "RegisterController": lambda data: f"/controllers/{data['controllerId']}",
    "Topic": _topic_path,
    "RemoveTopic": _topic_path,
    "Partition": _partition_path,
    "PartitionChange": _partition_path,
    "ClearElr": _cleared_path,
    "Config": _config_path,
    "FeatureLevel": lambda data: f"/features/{data['name']}",
    "ProducerIds": lambda data: "/producerIds",
}
"""Where in the tree of kafka-metadata-shell the subject of a record is."""


def path_of(kind: str, data: Plain) -> str:
    """The path of what a record is about; empty if that is nothing in the image.

    A record about a whole topic, such as ClearElr, has that topic's path.
    """
    path = PATHS.get(kind)
    return "" if path is None else path(data)


def end_of(state: QuorumState) -> int:
    """The end of the committed log, as far as it says anything."""
    return state.log[-1].offset + 1 if state.log else 0


class Image(Struct):
    """Brokers by id, partitions by topic (as records name it) and number, configurations.

    ``cleared`` counts the ClearElr records that emptied a partition's lists: each incremented its
    partition epoch, although it does not name the partition (``TopicDelta.maybeClearElr``).
    """

    brokers: dict[int, Plain] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    partitions: dict[tuple[str, int], Plain] = field(default_factory=dict)
    configs: dict[str, dict[str, str]] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    cleared: dict[tuple[str, int], int] = field(default_factory=dict)

    def take(self, records: Iterable[CommittedRecord]) -> "Image":
        """Read more of the log; returns itself."""
        for record in records:
            self.take_decoded(record.kind, decode_object(record.data))
        return self

    def take_decoded(self, kind: str, data: Plain) -> None:
        """Read one record whose data is at hand."""
        match kind:
            case "PartitionChange":
                self._change(self.partitions[data["topicId"], data["partitionId"]], data)
            case "Partition":
                self.partitions[data["topicId"], data["partitionId"]] = {
                    "replicas": data["replicas"],
                    "isr": data["isr"],
                    "leader": data["leader"],
                    "leader_epoch": data["leaderEpoch"],
                    "partition_epoch": data["partitionEpoch"],
                    "adding": data["addingReplicas"],
                    "removing": data["removingReplicas"],
                    "recovery": data["leaderRecoveryState"],
                    "elr": data.get("eligibleLeaderReplicas", []),
                    "last_known_elr": data.get("lastKnownElr", []),
                }
            case "Topic":
                self.topics[data["topicId"]] = data["name"]
            case "RemoveTopic":
                self._remove(data["topicId"])
            case "RegisterBroker" | "BrokerRegistrationChange" | "UnregisterBroker":
                self._broker(kind, data)
            case "Config":
                self._configure(data)
            case "ClearElr":
                self._clear_elr(data.get("topicName", ""))
            case "FeatureLevel":
                self.features[data["name"]] = data["featureLevel"]
            case _:
                pass

    def _change(self, partition: Plain, data: Plain) -> None:
        for name, ours in CHANGES.items():
            if name in data:
                partition[ours] = data[name]
        if "leader" in data:
            partition["leader"] = data["leader"]
            partition["leader_epoch"] += 1
        partition["partition_epoch"] += 1

    def _remove(self, topic: str) -> None:
        self.configs.pop(f"topic:{self.topics.pop(topic)}", None)
        self.partitions = {key: each for key, each in self.partitions.items() if key[0] != topic}

    def _broker(self, kind: str, data: Plain) -> None:
        broker = data["brokerId"]
        if kind == "UnregisterBroker":
            self.brokers.pop(broker, None)
        elif kind == "RegisterBroker":
            self.brokers[broker] = {
                "fenced": data["fenced"],
                "in_controlled_shutdown": data.get("inControlledShutdown", False),
                "registrations": int(data["brokerEpoch"].rpartition(".")[2]),
            }
        else:
            known = self.brokers[broker]
            known["fenced"] = {1: True, -1: False}.get(data["fenced"], known["fenced"])
            if data.get("inControlledShutdown") == 1:
                known["in_controlled_shutdown"] = True

    def _configure(self, data: Plain) -> None:
        kind = RESOURCES.get(data["resourceType"], str(data["resourceType"]))
        values = self.configs.setdefault(f"{kind}:{data['resourceName']}", {})
        if data.get("value") is None:
            values.pop(data["name"], None)
        else:
            values[data["name"]] = data["value"]

    def _clear_elr(self, topic: str) -> None:
        for key, partition in self.partitions.items():
            has_any = partition["elr"] or partition["last_known_elr"]
            if has_any and (not topic or self.topics[key[0]] == topic):
                partition["elr"], partition["last_known_elr"] = [], []
                partition["partition_epoch"] += 1
                self.cleared[key] = self.cleared.get(key, 0) + 1
