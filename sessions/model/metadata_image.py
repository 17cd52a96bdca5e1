"""KRaft's metadata at any time: the image built from the committed log, as a tree.

The log of a cluster with 100,000 partitions is not decoded fully to show a part of it. Each record
is scanned once for its subject; records about a partition are decoded when that partition is
viewed. Since the log only grows, an earlier time just uses fewer of its records.
"""

import json
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator, Mapping, MutableSequence, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, Final

from msgspec import Struct, field

from emulator.metadata_log.changes import TopicImage
from emulator.metadata_log.image import MetadataImage
from emulator.simulation.packed_list import PackedList
from sessions.decoding import decode_object
from sessions.model.long_metadata_log import LongMetadataLog
from sessions.model.metadata_log import (
    OF_PARTITIONS,
    abouts,
    broker_fields,
    image_of,
    partition_fields,
    path_of,
    resource_name,
)
from sessions.model.states import CommittedRecord, PartitionState, ViewState

ROOT: Final = "/"
TOPICS: Final = "/topics"
TOP: Final = ("/brokers", "/configs", "/controllers", "/features", TOPICS)
PARTITION_FIELDS: Final = {
    "leader_epoch": "leaderEpoch",
    "partition_epoch": "partitionEpoch",
    "adding": "addingReplicas",
    "removing": "removingReplicas",
    "recovery": "leaderRecoveryState",
    "elr": "eligibleLeaderReplicas",
    "last_known_elr": "lastKnownElr",
}
"""Names of a partition's fields in its records, where the image uses shorter ones."""
KEPT_MAX: Final = 256
"""Of how many partitions the records and the image are kept."""
ELIGIBLE: Final = '"eligibleLeaderReplicas"'
"""What the data of a record contains if it sets the eligible leader replicas."""
BROKER_FIELDS: Final = {"in_controlled_shutdown": "inControlledShutdown"}
NAMES: Final = PARTITION_FIELDS | BROKER_FIELDS
RECOVERY_WORDS: Final = ("RECOVERED", "RECOVERING")
"""``LeaderRecoveryState`` by its number."""


class MetadataNode(Struct):
    """One node of the tree.

    ``value`` is its value in the image; ``changed`` is the offset of the last record about it
    (-1: none, it only has children), ``records`` is their number.
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
            value = {NAMES.get(name, name): field for name, field in value.items()}
        return json.dumps(value, separators=(",", ":"))


class _TopicRecords:
    """Positions in the log of the records about the partitions of one topic."""

    def __init__(self) -> None:
        self.eligible: set[int] = set()
        self._positions: list[int] = []
        self._numbers: list[int] = []
        self._first: dict[int, int] = {}
        self._later: dict[int, array[int]] = {}
        self._created: list[int] = []
        self._names: dict[str, None] = {}

    def add(self, number: int, position: int) -> None:
        """Note the next record about a partition."""
        self._numbers.append(number)
        self._positions.append(position)

    def about(self, number: int) -> Iterator[int]:
        """Return those about a partition."""
        self._sort()
        if number in self._first:
            yield self._first[number]
            yield from self._later.get(number, ())

    def names(self, count: int) -> dict[str, None]:
        """Return the numbers of the partitions created by ``count`` records; do not modify."""
        self._sort()
        created = bisect_left(self._created, count)
        if created != len(self._names):
            self._names = dict.fromkeys(map(str, islice(self._first, created)))
        return self._names

    def _sort(self) -> None:
        """Group the records added since the last lookup by partition."""
        first = self._first
        if not self._positions:
            return
        for number, position in zip(self._numbers, self._positions, strict=True):
            if number in first:
                self._later.setdefault(number, array("q")).append(position)
            else:
                first[number] = position
        self._created = list(first.values())
        self._positions, self._numbers = [], []


class _PackedRecords(PackedList[CommittedRecord], kind=CommittedRecord, block=32):
    """Records in memory; those about a partition are far from each other."""


class MetadataLog:
    """The committed log as far as it has been scanned, and the subject of each record.

    Of a very long one, records are kept encoded.
    """

    def __init__(self) -> None:
        self.records: MutableSequence[CommittedRecord] = []
        self.rare: list[int] = []
        self.topics: dict[str, _TopicRecords] = {}
        self._about: OrderedDict[tuple[str, int], list[tuple[int, CommittedRecord]]] = OrderedDict()
        self._followed: Sequence[CommittedRecord] = ()

    def follow(self, log: Sequence[CommittedRecord]) -> None:
        """Scan what ``log`` has beyond this one, which it continues.

        Raises:
            StillReadingError: no more may be read now; what was scanned counts.
        """
        count, self._followed = len(self.records), log
        if not isinstance(log, LongMetadataLog):
            self.read(log[count:])
        elif count < len(log):
            if isinstance(self.records, list):
                self.records = _PackedRecords(self.records)
            for piece in log.pieces_from(count):
                self.read(piece)

    def read(self, records: Sequence[CommittedRecord]) -> "MetadataLog":
        """Scan more records for their subjects; return itself."""
        first, topics = len(self.records), self.topics
        self.records.extend(records)
        kinds = [record.kind for record in records]
        self.rare += [first + at for at, kind in enumerate(kinds) if kind not in OF_PARTITIONS]
        positions = [at for at, kind in enumerate(kinds) if kind in OF_PARTITIONS]
        others = [records[at].data for at in positions]
        # Decoded in one call, which takes a tenth of the time of one for each record.
        for at, about, data in zip(positions, abouts(others), others, strict=True):
            of_topic = topics.get(about.topicId)
            if of_topic is None:
                of_topic = topics[about.topicId] = _TopicRecords()
            of_topic.add(about.partitionId, first + at)
            if ELIGIBLE in data:
                of_topic.eligible.add(about.partitionId)
        return self

    def about(self, topic_id: str, number: int) -> list[tuple[int, CommittedRecord]]:
        """Return the records about a partition, each with its position; do not modify."""
        topic, key = self.topics.get(topic_id), (topic_id, number)
        records = self._about.pop(key, [])
        if topic is not None:
            later = islice(topic.about(number), len(records), None)
            records = self._about[key] = records + [(at, self.records[at]) for at in later]
        if len(self._about) > KEPT_MAX:
            self._about.popitem(last=False)
        return records

    def holds(self, log: Sequence[CommittedRecord]) -> bool:
        """Return whether ``log`` is a prefix of this one, or continues it."""
        if isinstance(log, LongMetadataLog) and log.continues(self._followed):
            return True
        shared = min(len(log), len(self.records))
        return not shared or log[shared - 1] == self.records[shared - 1]


class Metadata:
    """The metadata after the first ``taken`` records of a log, and the nodes of its tree by path.

    ``image`` has all of it but the partitions.
    """

    def __init__(self, log: MetadataLog, count: int) -> None:
        self.log = log
        self._images: OrderedDict[str, tuple[int, MetadataImage]] = OrderedDict()
        self.nodes: Mapping[str, MetadataNode] = _Tree(self)
        self._begin()
        self.go_to(count)

    def _begin(self) -> None:
        self.taken = 0
        self.image = MetadataImage()
        self._rare = 0
        self._cleared: dict[str, list[int]] = {}
        self._nodes: dict[str, MetadataNode] = {}
        self._partitions: dict[str, MetadataNode | None] = {}
        for path in TOP:
            self._node(path)

    def go_to(self, count: int) -> None:
        """Move to the metadata after the first ``count`` records."""
        rare = bisect_left(self.log.rare, count)
        if rare < self._rare:
            self._begin()
        for position in self.log.rare[self._rare : rare]:
            self._take(position)
        self.taken, self._rare, self._partitions = count, rare, {}

    # ---- queries

    def partition(self, partition: PartitionState) -> dict[str, Any]:
        """Return a partition's fields in the log; empty if it is unknown."""
        node = self.partition_node(partition.topic, str(partition.partition))
        return {} if node is None else node.value

    def elr(self, partition: PartitionState) -> list[int]:
        """Return the eligible leader replicas: outside the ISR, with all records below the HW.

        Most partitions never had any, so their records are not decoded.
        """
        topic = self.log.topics.get(self.image.topic_ids.get(partition.topic, ""))
        if topic is None or partition.partition not in topic.eligible:
            return []
        elr: list[int] = self.partition(partition).get("elr", [])
        return elr

    def is_fenced(self, broker: int) -> bool | None:
        """Whether a broker is fenced; None if it is not registered."""
        registration = self.image.brokers.get(broker)
        return None if registration is None else registration.fenced

    # ---- what is not about a partition

    def _take(self, position: int) -> None:
        record = self.log.records[position]
        kind, data = record.kind, decode_object(record.data)
        image_of([record], self.image)
        path = path_of(kind, data)
        if not path:
            return
        if kind == "RemoveTopic":
            name = path.rpartition("/")[2]
            self._remove(path)
            self._remove(f"/configs/{resource_name(2, name)}")
        elif kind == "ClearElr":
            self._cleared.setdefault(data.get("topicName", ""), []).append(position)
        else:
            value = self._value(kind, data)
            if value is None and kind != "Topic":
                self._remove(path)
                return
            node = self._node(path)
            node.value, node.changed = value, record.offset
            node.records += 1

    def _value(self, kind: str, data: dict[str, Any]) -> object:
        image = self.image
        match kind:
            case "RegisterBroker" | "BrokerRegistrationChange" | "UnregisterBroker":
                broker = image.brokers.get(data["brokerId"])
                return None if broker is None else broker_fields(broker)
            case "RegisterController":
                return {key: value for key, value in data.items() if key != "controllerId"}
            case "Config":
                return data.get("value")
            case "FeatureLevel":
                return data["featureLevel"]
            case "ProducerIds":
                return {"nextProducerId": data["nextProducerId"]}
            case _:
                return None

    def _node(self, path: str) -> MetadataNode:
        node = self._nodes.get(path)
        if node is None:
            node = self._nodes[path] = MetadataNode(path)
            if path != ROOT:
                parent, _, name = path.rpartition("/")
                self._node(parent or ROOT).children[name] = None
        return node

    def _remove(self, path: str) -> None:
        node = self._nodes.pop(path, None)
        if node is None:
            return
        for name in node.children:
            self._remove(f"{path}/{name}")
        parent, _, name = path.rpartition("/")
        above = self._nodes.get(parent or ROOT)
        if above is None:
            return
        above.children.pop(name, None)
        if not above.children and above.changed < 0 and above.path not in (ROOT, *TOP):
            self._remove(above.path)

    # ---- partitions

    def partition_node(self, topic: str, number: str) -> MetadataNode | None:
        """The node of a partition; None if there is no such partition."""
        path = f"{TOPICS}/{topic}/{number}"
        try:
            return self._partitions[path]
        except KeyError:
            node = self._partitions[path] = self._node_of(path, topic, number)
            return node

    def _node_of(self, path: str, topic: str, number: str) -> MetadataNode | None:
        topic_id = self.image.topic_ids.get(topic)
        if topic_id is None or not number.isdecimal():
            return None
        log = self.log
        about = [(at, record) for at, record in log.about(topic_id, int(number)) if at < self.taken]
        if not about:
            return None
        cleared = [*self._cleared.get("", ()), *self._cleared.get(topic, ())]
        after = [(at, log.records[at]) for at in cleared if at > about[0][0]]
        records = [record for _, record in sorted((*about, *after), key=itemgetter(0))]
        image = self._alone(topic, topic_id, number, records)
        partition = image.topics[topic_id].partitions[int(number)]
        value = partition_fields(partition)
        return MetadataNode(path, value, changed=records[-1].offset, records=len(about))

    def _alone(
        self, topic: str, topic_id: str, number: str, records: Sequence[CommittedRecord]
    ) -> MetadataImage:
        """The image of one partition after these records; an earlier one is continued."""
        key = f"{topic_id}/{number}"
        applied, image = self._images.pop(key, (len(records) + 1, MetadataImage()))
        if applied > len(records):
            topics = {topic_id: TopicImage(topic, topic_id)}
            applied, image = 0, MetadataImage(topics=topics, topic_ids={topic: topic_id})
        self._images[key] = len(records), image_of(records[applied:], image)
        if len(self._images) > KEPT_MAX:
            self._images.popitem(last=False)
        return image

    def children(self, topic: str) -> dict[str, None]:
        """Return the numbers of a topic's partitions; do not modify."""
        logged_topic = self.log.topics.get(self.image.topic_ids.get(topic, ""))
        return {} if logged_topic is None else logged_topic.names(self.taken)

    # ---- the tree

    def node(self, path: str) -> MetadataNode | None:
        match path.split("/")[1:]:
            case ["topics", topic, number]:
                return self.partition_node(topic, number)
            case ["topics", topic] if topic:
                node = self._nodes.get(path)
                if node is not None:
                    node.children = self.children(topic)
                return node
            case _:
                return self._nodes.get(path)

    def paths(self) -> Iterator[str]:
        yield from self._nodes
        for topic in self.image.topic_ids:
            for number in self.children(topic):
                yield f"{TOPICS}/{topic}/{number}"


class _Tree(Mapping[str, MetadataNode]):
    """The nodes by path; those of partitions are created on access."""

    def __init__(self, metadata: Metadata) -> None:
        self.metadata = metadata

    def __getitem__(self, path: str) -> MetadataNode:
        node = self.metadata.node(path)
        if node is None:
            raise KeyError(path)
        return node

    def __iter__(self) -> Iterator[str]:
        return self.metadata.paths()

    def __len__(self) -> int:
        return sum(1 for _ in self.metadata.paths())


class MetadataReader:
    """Provides the metadata at any time."""

    def __init__(self) -> None:
        self._log = MetadataLog()
        self._metadata = Metadata(self._log, 0)

    def has(self, state: ViewState) -> bool:
        """Whether :meth:`at` has not to read a recording for it."""
        log = () if state.quorum is None else state.quorum.log
        return not isinstance(log, LongMetadataLog) or log.is_in_memory(len(self._log.records))

    def at(self, state: ViewState) -> Metadata | None:
        """Return the metadata committed in ``state``; None if the cluster uses ZooKeeper.

        Raises:
            StillReadingError: more of a long recording has to be read than may be now.
        """
        if state.quorum is None:
            return None
        log = state.quorum.log
        if not self._log.holds(log):
            self._log = MetadataLog()
            self._metadata = Metadata(self._log, 0)
        self._log.follow(log)
        if self._metadata.taken != len(log):
            self._metadata.go_to(len(log))
        return self._metadata
