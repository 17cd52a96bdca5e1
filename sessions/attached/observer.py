"""What a running cluster says of itself, asked again and again at little cost.

Each part of it is asked by a request of its own, and at its own rhythm: what tells whether the
cluster is healthy at each look, offsets and sizes less often. A response with the same bytes as the
one before is not decoded, and what its bytes took to decode and compare sets how soon it is asked
again, so that no part takes more than its share of a processor.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from time import monotonic, thread_time
from typing import Any, Final

from msgspec.structs import replace

from emulator.cluster_image.image import (
    NO_LEADER,
    NO_RACK,
    Broker,
    ClusterImage,
    CommittedOffset,
    Controller,
    Group,
    Member,
    Partition,
    Quorum,
    ReplicaLog,
    Topic,
    ZooKeeperController,
)
from emulator.wire.messages.cluster import (
    Cursor,
    DescribeClusterRequest,
    DescribeTopicPartitionsRequest,
    MetadataRequest,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from emulator.wire.messages.committed_offsets import OffsetFetchRequest, OffsetFetchRequestGroup
from emulator.wire.messages.groups import DescribeGroupsRequest, ListGroupsRequest
from emulator.wire.messages.log_dirs import DescribeLogDirsRequest
from emulator.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from emulator.wire.messages.partitions import ListPartitionReassignmentsRequest
from emulator.wire.messages.quorum import (
    DescribeQuorumPartition,
    DescribeQuorumRequest,
    DescribeQuorumTopic,
)
from emulator.wire.types import Message
from sessions.own_cluster.read_only_client import NoAnswerError, ReadOnlyClient, reason_of
from sessions.own_cluster.running_cluster import Reader, uuid_text

LIST_OFFSETS: Final = 2
METADATA: Final = 3
OFFSET_FETCH: Final = 9
DESCRIBE_GROUPS: Final = 15
LIST_GROUPS: Final = 16
LOG_DIRS: Final = 35
REASSIGNMENTS: Final = 46
QUORUM: Final = 55
CLUSTER: Final = 60
TOPIC_PARTITIONS: Final = 75

WITH_FENCED_BROKERS: Final = 2
"""The version of DescribeCluster that can list fenced brokers (KIP-1073)."""
MANY_GROUPS: Final = 8
"""The version of OffsetFetch that takes several groups."""
GROUPS_AT_ONCE: Final = 100
PAGE: Final = 2_000
"""How many partitions a response describes at most (``max.request.partition.size.limit``)."""
LATEST: Final = -1
EARLIEST: Final = -2
QUORUM_FETCHES_MS: Final = 5_000
"""A voter that has fetched nothing for longer is not counted on."""

OFFSETS_EVERY_S: Final = 5.0
ELRS_EVERY_S: Final = 10.0
GROUPS_EVERY_S: Final = 10.0
SIZES_EVERY_S: Final = 30.0
CONFIGS_EVERY_S: Final = 60.0
SHARE: Final = 0.015
"""The share of a processor that one part may take; a part that takes more is asked less often."""

Key = tuple[str, int]
"""A partition: its topic and its number."""


class LostError(Exception):
    """No node of the cluster answers; the text says why."""


class _Part:
    """One thing that is asked regularly."""

    def __init__(self, name: str, every_s: float, ask: Callable[[], None]) -> None:
        self.name = name
        self.every_s = every_s
        self.ask = ask
        self.due_s = 0.0
        self.note = ""

    def ask_if_due(self, now_s: float) -> None:
        """Send the request if it is due; note a failure, and repeat it later."""
        if now_s < self.due_s:
            return
        begin_s = thread_time()
        try:
            self.ask()
            self.note = ""
        except NoAnswerError as error:
            self.note = f"{self.name} left out: {error}"
        took_s = thread_time() - begin_s
        self.due_s = now_s + max(self.every_s, took_s / SHARE)


class Observer:
    """One cluster; :attr:`image` is built from its latest answers.

    ``notes`` says which parts it does not answer.
    """

    def __init__(self, client: ReadOnlyClient, image: ClusterImage | None = None) -> None:
        """Ask through ``client``; go on from ``image``, if the cluster was known before."""
        self.client = client
        self._frames: dict[Hashable, bytes] = {}
        self._node: int | None = None
        self._topics: dict[str, Topic] = {}
        self._answers: dict[str, MetadataResponseTopic] = {}
        self._alive: dict[int, Any] = {}
        self._fenced: dict[int, Any] = {}
        self._log_dirs: dict[int, tuple[str, ...]] = {}
        self._controller = NO_LEADER
        self._placed = True
        self._moving: dict[Key, tuple[Sequence[int], Sequence[int]]] = {}
        self._offset_requests: dict[tuple[int, int], ListOffsetsRequest] = {}
        self._groups: dict[str, Group] = {}
        self._image = image
        self._quorum: Quorum | None = None
        if image is not None:
            self._topics = {topic.name: topic for topic in image.topics}
            self._groups = {group.id: group for group in image.groups}
            self._quorum = image.quorum
        self._changed = True
        self._configs: dict[str, dict[str, str]] = {}
        self._reader = Reader(client)
        self.log_ends: dict[int, int] = {}
        """How far each node has fetched the metadata log, as the quorum's leader knows."""
        self._parts = [
            _Part("fenced brokers", 0.0, self._ask_fenced),
            _Part("the quorum", 0.0, self._ask_quorum),
            _Part("reassignments", 0.0, self._ask_reassignments),
            _Part("ELRs", ELRS_EVERY_S, self._ask_elrs),
            _Part("offsets", OFFSETS_EVERY_S, self._ask_ends),
            _Part("starts of logs", CONFIGS_EVERY_S, self._ask_starts),
            _Part("sizes of logs", SIZES_EVERY_S, self._ask_sizes),
            _Part("groups", GROUPS_EVERY_S, self._ask_groups),
            _Part("configurations", CONFIGS_EVERY_S, self._ask_configs),
        ]

    @property
    def is_kraft(self) -> bool:
        """Whether the cluster has a controller quorum."""
        return self.client.version_of(QUORUM) is not None

    @property
    def notes(self) -> list[str]:
        """The requests that the cluster does not answer, a sentence each."""
        return [part.note for part in self._parts if part.note]

    def look(self) -> None:
        """Ask what is due.

        Raises:
            LostError: no node answers.
        """
        self._ask_metadata()
        now_s = monotonic()
        for part in self._parts:
            part.ask_if_due(now_s)

    @property
    def image(self) -> ClusterImage:
        """The image from the latest answers; the same object as long as nothing has changed."""
        if self._changed or self._image is None:
            self._changed = False
            self._image = self._image_now(self._image)
        return self._image

    def _image_now(self, before: ClusterImage | None) -> ClusterImage:
        base = before or self._identity()
        return replace(
            base,
            quorum=self._quorum,
            controller=None if self.is_kraft else ZooKeeperController(self._controller),
            configs=self._configs.get("all", base.configs),
            brokers=tuple(self._brokers()),
            topics=tuple(topic for _, topic in sorted(self._topics.items())),
            groups=tuple(group for _, group in sorted(self._groups.items())),
        )

    def _identity(self) -> ClusterImage:
        release, features = self._reader.identity()
        return ClusterImage(
            release=release,
            mode="kraft" if self.is_kraft else "zk",
            features=features if self.is_kraft else None,
        )

    # ---- asking

    def _news(self, source: Hashable, node: int, key: int, request: Message) -> Any:  # noqa: ANN401
        """Send a request to a node; return None if the response is the same as last time."""
        frame = self.client.ask(node, key, request)
        if self._frames.get(source) == frame:
            return None
        message = self.client.decode(key, frame)
        self._frames[source] = frame
        return message

    def _ask_metadata(self) -> None:
        request = MetadataRequest(None, False)
        reason = "no broker is known"
        for node in self._nodes():
            try:
                metadata = self._news(METADATA, node, METADATA, request)
            except NoAnswerError as error:
                reason = str(error)
                continue
            self._node = node
            if metadata is not None:
                self._take_metadata(metadata)
            return
        raise LostError(reason)

    def _nodes(self) -> Iterator[int]:
        """The nodes to ask, first the one that answered last: others may sort differently."""
        first = self._node
        if first is not None and first in self._alive:
            yield first
        brokers = self._alive or self.client.brokers()
        yield from (node for node in brokers if node != first)

    def _take_metadata(self, metadata: Any) -> None:  # noqa: ANN401 - a MetadataResponse
        self._changed = True
        self._alive = {broker.node_id: broker for broker in metadata.brokers}
        self._controller = metadata.controller_id
        deleted = self._topics.keys() - {topic.name for topic in metadata.topics}
        for name in deleted:
            del self._topics[name]
            self._answers.pop(name, None)
            self._placed = True
        for topic in metadata.topics:
            if topic.name is None or self._answers.get(topic.name) == topic or not topic.partitions:
                continue
            self._answers[topic.name] = topic
            before = self._topics.get(topic.name)
            now = self._topics[topic.name] = _topic(before, topic)
            if before is None or _leaders(before) != _leaders(now):
                self._placed = True

    def _ask_fenced(self) -> None:
        if (self.client.version_of(CLUSTER) or 0) < WITH_FENCED_BROKERS:
            return
        assert self._node is not None
        request = DescribeClusterRequest(include_fenced_brokers=True)
        cluster = self._news(CLUSTER, self._node, CLUSTER, request)
        if cluster is not None:
            self._changed = True
            self._fenced = {node.broker_id: node for node in cluster.brokers if node.is_fenced}

    def _ask_quorum(self) -> None:
        if not self.is_kraft:
            return
        assert self._node is not None
        request = DescribeQuorumRequest(
            [DescribeQuorumTopic("__cluster_metadata", [DescribeQuorumPartition(0)])]
        )
        response = self._news(QUORUM, self._node, QUORUM, request)
        if response is None or not response.topics or response.topics[0].partitions[0].error_code:
            return
        partition = response.topics[0].partitions[0]
        self.log_ends = {
            replica.replica_id: replica.log_end_offset
            for replica in (*partition.current_voters, *partition.observers)
            if replica.log_end_offset >= 0
        }
        quorum = _quorum(partition, response.nodes)
        if self._quorum is None or replace(quorum, offset=self._quorum.offset) != self._quorum:
            self._changed = True
        self._quorum = quorum

    def _ask_reassignments(self) -> None:
        if self.client.version_of(REASSIGNMENTS) is None:
            return
        node = self._controller if self._controller in self._alive else self._node
        assert node is not None
        request = ListPartitionReassignmentsRequest()
        response = self._news(REASSIGNMENTS, node, REASSIGNMENTS, request)
        if response is None and not self._placed:
            return
        if response is not None:
            self._moving = {
                (topic.name, partition.partition_index): (
                    partition.adding_replicas,
                    partition.removing_replicas,
                )
                for topic in response.topics
                for partition in topic.partitions
            }
        moving = self._moving
        nothing: tuple[Sequence[int], Sequence[int]] = ((), ())
        self._update(
            lambda topic, partition: (
                replace(
                    partition,
                    adding=tuple(moving.get((topic, partition.partition), nothing)[0]),
                    removing=tuple(moving.get((topic, partition.partition), nothing)[1]),
                )
                if (topic, partition.partition) in moving or partition.adding or partition.removing
                else partition
            )
        )

    def _ask_elrs(self) -> None:
        if self.client.version_of(TOPIC_PARTITIONS) is None:
            return
        assert self._node is not None
        cursor: Cursor | None = None
        elrs: dict[Key, tuple[Sequence[int], Sequence[int]]] = {}
        while True:
            request = DescribeTopicPartitionsRequest([], PAGE, cursor)
            frame = self.client.ask(self._node, TOPIC_PARTITIONS, request)
            response = self.client.decode(TOPIC_PARTITIONS, frame)
            for topic in response.topics:
                for partition in topic.partitions:
                    elrs[topic.name, partition.partition_index] = (
                        partition.eligible_leader_replicas or (),
                        partition.last_known_elr or (),
                    )
            if response.next_cursor is None or response.next_cursor == cursor:
                break
            cursor = response.next_cursor

        def with_elr(topic: str, partition: Partition) -> Partition:
            eligible = elrs.get((topic, partition.partition))
            if eligible is None or (partition.elr, partition.last_known_elr) == tuple(
                map(tuple, eligible)
            ):
                return partition
            return replace(partition, elr=tuple(eligible[0]), last_known_elr=tuple(eligible[1]))

        self._update(with_elr)

    def _update(self, change: Callable[[str, Partition], Partition]) -> None:
        """Change partitions; those that are returned as they are, and their topics, stay."""
        for name, topic in self._topics.items():
            partitions = tuple([change(name, partition) for partition in topic.partitions])
            if any(a is not b for a, b in zip(partitions, topic.partitions, strict=True)):
                self._topics[name] = replace(topic, partitions=partitions)
                self._changed = True

    # ---- offsets and sizes

    def _requests_of(self, timestamp: int) -> Mapping[int, ListOffsetsRequest]:
        """For each broker the request for the offsets of the partitions that it leads."""
        if self._placed:
            self._placed = False
            self._offset_requests.clear()
            self._frames = {
                place: frame for place, frame in self._frames.items() if place == METADATA
            }
            led: dict[int, dict[str, list[int]]] = {}
            for name, topic in self._topics.items():
                for partition in topic.partitions:
                    if partition.leader is not None and partition.leader != NO_LEADER:
                        led.setdefault(partition.leader, {}).setdefault(name, []).append(
                            partition.partition
                        )
            for broker, topics in led.items():
                for kind in (LATEST, EARLIEST):
                    asked_topics = [
                        ListOffsetsTopic(name, [ListOffsetsPartition(n, -1, kind) for n in numbers])
                        for name, numbers in topics.items()
                    ]
                    request = ListOffsetsRequest(-1, 0, asked_topics, 30_000)
                    self._offset_requests[broker, kind] = request
        return {
            broker: request
            for (broker, kind), request in self._offset_requests.items()
            if kind == timestamp
        }

    def _offsets(self, timestamp: int) -> dict[str, dict[int, int]]:
        """The offsets that have become others, by topic and partition."""
        offsets: dict[str, dict[int, int]] = {}
        failures = []
        for broker, request in self._requests_of(timestamp).items():
            try:
                answer = self._news(
                    (LIST_OFFSETS, broker, timestamp), broker, LIST_OFFSETS, request
                )
            except NoAnswerError as error:
                failures.append(f"broker {broker}: {error}")
                continue
            for topic in () if answer is None else answer.topics:
                numbered = offsets.setdefault(topic.name, {})
                for partition in topic.partitions:
                    offset = (
                        partition.old_style_offsets[0]
                        if partition.old_style_offsets
                        else partition.offset
                    )
                    if not partition.error_code and offset >= 0:
                        numbered[partition.partition_index] = offset
        if offsets:
            self._take_offsets(offsets, timestamp)
        if failures:
            raise NoAnswerError(failures[0])
        return offsets

    def _take_offsets(self, offsets: Mapping[str, Mapping[int, int]], timestamp: int) -> None:
        for name, numbered in offsets.items():
            topic = self._topics.get(name)
            if topic is None:
                continue
            partitions = list(topic.partitions)
            for at, partition in enumerate(partitions):
                offset = numbered.get(partition.partition)
                if offset is None:
                    continue
                if timestamp == EARLIEST and offset != partition.log_start:
                    partitions[at] = replace(partition, log_start=offset)
                elif timestamp == LATEST and offset != partition.log_end:
                    partitions[at] = replace(partition, log_end=offset, high_watermark=offset)
            if any(a is not b for a, b in zip(partitions, topic.partitions, strict=True)):
                self._topics[name] = replace(topic, partitions=tuple(partitions))
                self._changed = True

    def _ask_ends(self) -> None:
        self._offsets(LATEST)

    def _ask_starts(self) -> None:
        self._offsets(EARLIEST)

    def _ask_sizes(self) -> None:
        if self.client.version_of(LOG_DIRS) is None:
            return
        failures = []
        for broker in list(self._alive):
            try:
                response = self._news(
                    (LOG_DIRS, broker), broker, LOG_DIRS, DescribeLogDirsRequest(None)
                )
            except NoAnswerError as error:
                failures.append(f"broker {broker}: {error}")
                continue
            if response is not None:
                self._take_sizes(broker, response.results)
        if failures:
            raise NoAnswerError(failures[0])

    def _take_sizes(self, broker: int, directories: Sequence[Any]) -> None:
        self._changed = True
        self._log_dirs[broker] = tuple(sorted(directory.log_dir for directory in directories))
        logs: dict[Key, list[ReplicaLog]] = {}
        for directory in directories:
            for topic in directory.topics:
                for partition in topic.partitions:
                    log = ReplicaLog(
                        broker,
                        size=partition.partition_size,
                        lag=partition.offset_lag,
                        log_dir=directory.log_dir,
                        future=partition.is_future_key,
                    )
                    logs.setdefault((topic.name, partition.partition_index), []).append(log)

        def with_logs(topic: str, partition: Partition) -> Partition:
            own = logs.get((topic, partition.partition), [])
            if own == [log for log in partition.logs if log.broker == broker]:
                return partition
            others = [log for log in partition.logs if log.broker != broker]
            return replace(
                partition, logs=tuple(sorted([*others, *own], key=lambda log: log.broker))
            )

        self._update(with_logs)

    # ---- groups

    def _ask_groups(self) -> None:
        listed: dict[str, Any] = {}
        by_broker: dict[int, list[str]] = {}
        failures = []
        for broker in list(self._alive):
            try:
                frame = self.client.ask(broker, LIST_GROUPS, ListGroupsRequest())
                groups_there = self.client.decode(LIST_GROUPS, frame).groups
            except NoAnswerError as error:
                failures.append(f"broker {broker}: {error}")
                continue
            listed |= {group.group_id: group for group in groups_there}
            by_broker[broker] = sorted(group.group_id for group in groups_there)
        groups: dict[str, Group] = {}
        for broker, names in by_broker.items():
            for start in range(0, len(names), GROUPS_AT_ONCE):
                for group in self._groups_of(broker, names[start : start + GROUPS_AT_ONCE]):
                    group_listing = listed[group.id]
                    groups[group.id] = replace(
                        group,
                        type=group_listing.group_type or None,
                        state=group.state or group_listing.group_state or None,
                    )
        if failures:  # a group that cannot be asked for now is what it was
            groups = {**self._groups, **groups}
        if groups != self._groups:
            self._groups, self._changed = groups, True
        if failures:
            raise NoAnswerError(failures[0])

    def _groups_of(self, broker: int, names: Sequence[str]) -> Iterator[Group]:
        frame = self.client.ask(broker, DESCRIBE_GROUPS, DescribeGroupsRequest(list(names)))
        described = {
            group.group_id: group
            for group in self.client.decode(DESCRIBE_GROUPS, frame).groups
            if not group.error_code
        }
        offsets = dict(self._committed(broker, names))
        for name in names:
            group = described.get(name)
            yield Group(
                name,
                state=None if group is None else group.group_state,
                coordinator=broker,
                members=tuple(
                    Member(
                        member.member_id,
                        member.client_id,
                        member.client_host.removeprefix("/"),
                        member.group_instance_id,
                    )
                    for member in (() if group is None else group.members)
                ),
                offsets=offsets.get(name, ()),
            )

    def _committed(
        self, broker: int, names: Sequence[str]
    ) -> Iterator[tuple[str, tuple[CommittedOffset, ...]]]:
        if (self.client.version_of(OFFSET_FETCH) or 0) >= MANY_GROUPS:
            requested = [OffsetFetchRequestGroup(name, topics=None) for name in names]
            frame = self.client.ask(broker, OFFSET_FETCH, OffsetFetchRequest(groups=requested))
            for group in self.client.decode(OFFSET_FETCH, frame).groups:
                yield group.group_id, _offsets_in(group.topics)
            return
        for name in names:
            frame = self.client.ask(broker, OFFSET_FETCH, OffsetFetchRequest(name, None))
            yield name, _offsets_in(self.client.decode(OFFSET_FETCH, frame).topics)

    # ---- brokers and configurations

    def _ask_configs(self) -> None:
        try:
            configs = self._reader.configs(self._alive, self._topics)
        except self.client.failure as error:
            raise NoAnswerError(reason_of(error)) from error
        if configs != self._configs:
            self._configs, self._changed = configs, True
            for name, topic in self._topics.items():
                own = configs.get(f"topic:{name}")
                if own is not None and own != topic.configs:
                    self._topics[name] = replace(topic, configs=own)

    def _brokers(self) -> Iterator[Broker]:
        assigned = {
            broker
            for topic in self._topics.values()
            for partition in topic.partitions
            for broker in partition.replicas
        }
        voters = self._quorum.controllers if self._quorum is not None else ()
        observers = self.log_ends.keys() - {voter.id for voter in voters}
        by_id = {broker.id: broker for broker in self._image.brokers} if self._image else {}
        for number in sorted(
            self._alive.keys() | self._fenced.keys() | assigned | by_id.keys() | observers
        ):
            described = self._alive.get(number) or self._fenced.get(number)
            before = by_id.get(number, Broker(number))
            up = number in self._alive
            broker = replace(
                before,
                up=up,
                fenced=(not up) if self.is_kraft else None,
                log_dirs=self._log_dirs.get(number),
                configs=self._configs.get(f"broker:{number}", before.configs),
                static_configs=self._configs.get(f"static:{number}", before.static_configs),
            )
            if described is not None:
                rack = described.rack or NO_RACK
                broker = replace(broker, rack=rack, host=described.host, port=described.port)
            yield broker


def _topic(before: Topic | None, now: MetadataResponseTopic) -> Topic:
    assert now.name is not None
    topic_id = uuid_text(now.topic_id)
    if before is not None and before.id != topic_id:
        before = None  # deleted and made again
    partitions_before = (
        {}
        if before is None
        else {partition.partition: partition for partition in before.partitions}
    )
    partitions = (
        _partition(partitions_before.get(partition.partition_index), partition)
        for partition in sorted(now.partitions, key=lambda partition: partition.partition_index)
    )
    base = before or Topic(now.name, id=topic_id)
    return replace(base, partitions=tuple(partitions))


def _leaders(topic: Topic) -> list[int | None]:
    return [partition.leader for partition in topic.partitions]


def _partition(before: Partition | None, now: MetadataResponsePartition) -> Partition:
    replicas, isr = tuple(now.replica_nodes), tuple(now.isr_nodes)
    epoch = now.leader_epoch if now.leader_epoch >= 0 else None
    if before is None:
        return Partition(
            now.partition_index,
            replicas,
            now.leader_id,
            isr,
            leader_epoch=epoch,
        )
    fields = (before.replicas, before.leader, before.isr, before.leader_epoch)
    if fields == (replicas, now.leader_id, isr, epoch):
        return before
    return replace(before, replicas=replicas, leader=now.leader_id, isr=isr, leader_epoch=epoch)


def _quorum(partition: Any, nodes: Sequence[Any]) -> Quorum:  # noqa: ANN401 - PartitionData
    endpoints = {node.node_id: node.listeners[0] for node in nodes if node.listeners}
    newest_ms = max((voter.last_fetch_timestamp for voter in partition.current_voters), default=-1)

    def controller(replica: Any) -> Controller:  # noqa: ANN401 - a voter
        end = endpoints.get(replica.replica_id)
        fetched_ms = replica.last_fetch_timestamp
        return Controller(
            replica.replica_id,
            up=True
            if replica.replica_id == partition.leader_id
            else None
            if newest_ms < 0
            else newest_ms - fetched_ms <= QUORUM_FETCHES_MS,
            voter=True,
            directory_id=uuid_text(replica.replica_directory_id),
            host=None if end is None else end.host,
            port=None if end is None else end.port,
        )

    return Quorum(
        leader=partition.leader_id,
        epoch=partition.leader_epoch,
        offset=partition.high_watermark - 1,
        controllers=tuple(
            controller(voter)
            for voter in sorted(partition.current_voters, key=lambda voter: voter.replica_id)
        ),
    )


def _offsets_in(topics: Sequence[Any]) -> tuple[CommittedOffset, ...]:
    return tuple(
        sorted(
            (
                CommittedOffset(
                    topic.name,
                    partition.partition_index,
                    partition.committed_offset,
                    leader_epoch=partition.committed_leader_epoch
                    if partition.committed_leader_epoch >= 0
                    else None,
                )
                for topic in topics
                for partition in topic.partitions
                if partition.committed_offset >= 0 and not partition.error_code
            ),
            key=lambda offset: (offset.topic, offset.partition),
        )
    )
