"""A broker's view of the cluster, from which it answers clients (kafka.server.MetadataCache)."""

from collections.abc import Callable

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.broker_effects import ControllerKnown
from emulator.common.errors import NONE
from emulator.common.limits import AUTO_CREATED_MAX
from emulator.common.names import is_topic_name, split
from emulator.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ClusterMetadataRequest,
    ClusterMetadataResponse,
    MetadataRequest,
    MetadataResponse,
    PartitionDescription,
    PartitionInfo,
    PartitionMetadata,
    TopicDescription,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from emulator.protocol.controller import DURING_DELETE
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.client import ZkClient


class MetadataCache:
    """Handles the controller's UpdateMetadata requests, and answers clients from them."""

    def __init__(
        self,
        context: BrokerContext,
        zk: ZkClient,
        create_topic: Callable[[str], str],
    ) -> None:
        """Store the metadata in ``context``'s process.

        ``create_topic`` creates a topic that a client asks for, and returns the error for the
        client.
        """
        self.context = context
        self.zk = zk
        self.create_topic = create_topic
        self.tells_epochs = context.profile.has("leader_epoch_fencing")

    def update(self, source: int, request: int, message: UpdateMetadataRequest) -> list[str]:
        """Update the metadata and the live brokers; return the partitions being deleted."""
        going: list[str] = []
        context, process = self.context, self.context.process
        error = context.fence_controller(
            message.controller, message.controller_epoch, message.broker_epoch
        )
        if error == NONE:
            process.live_brokers = message.live_brokers
            partitions = message.partitions
            process.metadata.update(partitions)
            if message.names_deleted:
                going = [tp for tp, info in partitions.items() if info.leader == DURING_DELETE]
                for tp in going:
                    del process.metadata[tp]
            context.emit(
                events.MetadataUpdated,
                context.id,
                message.controller,
                message.controller_epoch,
                message.live_brokers,
                request,
            )
            context.carry_out(ControllerKnown())
        context.respond(source, request, UpdateMetadataResponse(request, context.id, error, {}))
        return going

    def describe_topic(self, source: int, request: int, message: MetadataRequest) -> None:
        """Return a topic's partitions as this broker knows them."""
        process, topic = self.context.process, message.topic
        partitions: dict[int, PartitionMetadata] = {}
        for number in self._partitions_of(topic):
            info = process.metadata.get(f"{topic}-{number}")
            if info is not None:
                partitions[number] = self._describe(info)
        error = NONE if partitions else self._error_for_unknown(topic)
        if not is_topic_name(topic):
            error = "INVALID_TOPIC_EXCEPTION"
        self.context.respond(source, request, MetadataResponse(request, topic, error, partitions))

    def describe_features(self, source: int, request: int, _message: ApiVersionsRequest) -> None:
        """Return the version of the znode /feature, which has no features in this mode (2.7+)."""
        node = self.zk.zookeeper.find(znodes.FEATURE)
        response = ApiVersionsResponse(request, epoch=-1 if node is None else node.version)
        self.context.respond(source, request, response)

    def describe_cluster(self, source: int, request: int, message: ClusterMetadataRequest) -> None:
        """Return the brokers, the controller and topics (``KafkaApis.handleTopicMetadata``).

        A request for all topics omits those whose leaders have not been announced yet.
        """
        process = self.context.process
        names = message.topics
        if names is None:
            names = list(dict.fromkeys(split(tp)[0] for tp in process.metadata))
        topics: dict[str, TopicDescription] = {}
        unknown = 0
        for topic in names:
            may_create = message.creates and unknown < AUTO_CREATED_MAX
            topics[topic] = self._description(topic, may_create)
            unknown += not topics[topic].partitions
        cluster = self.zk.zookeeper.find(znodes.CLUSTER_ID)
        response = ClusterMetadataResponse(
            request,
            sorted(process.live_brokers),
            process.known_controller if process.known_controller in process.live_brokers else -1,
            znodes.cluster_id_in(None if cluster is None else cluster.data),
            topics,
        )
        self.context.respond(source, request, response)

    def _description(self, topic: str, creates: bool) -> TopicDescription:
        may_create = creates and self.context.config.auto_create_topics_enable
        if not is_topic_name(topic):
            is_told = may_create or self.context.profile.has("invalid_topic_name_error")
            return TopicDescription(
                "INVALID_TOPIC_EXCEPTION" if is_told else "UNKNOWN_TOPIC_OR_PARTITION"
            )
        metadata = self.context.process.metadata
        partitions = {
            number: self._partition(info)
            for number in self._partitions_of(topic)
            if (info := metadata.get(f"{topic}-{number}")) is not None
        }
        if partitions:
            node = self.zk.zookeeper.find(znodes.topic_path(topic))
            topic_id = znodes.topic_id_in(None if node is None else node.data)
            return TopicDescription(NONE, topic_id, partitions)
        error = self._error_for_unknown(topic)
        if may_create and error != "LEADER_NOT_AVAILABLE" and self.zk.usable():
            error = self.create_topic(topic)
        return TopicDescription(error)

    def _partition(self, info: PartitionInfo) -> PartitionDescription:
        """A partition with its replicas; only live members of the ISR are listed."""
        metadata = self._describe(info)
        return PartitionDescription(
            metadata.error, metadata.leader, metadata.leader_epoch, info.replicas, info.isr
        )

    def _describe(self, info: PartitionInfo) -> PartitionMetadata:
        """A partition as described to clients; since 2.1 with its leader epoch."""
        epoch = info.leader_epoch if self.tells_epochs else -1
        if info.leader in self.context.process.live_brokers:
            return PartitionMetadata(NONE, info.leader, epoch)
        return PartitionMetadata("LEADER_NOT_AVAILABLE", -1, epoch)

    def _error_for_unknown(self, topic: str) -> str:
        """The error for a topic that is not in this broker's metadata.

        A broker that would auto-create the topic discovers that it exists already
        (``KafkaApis.createTopic``, auto.create.topics.enable), if ZooKeeper responds.
        """
        zk = self.zk
        try:
            exists = zk.find(znodes.topic_path(topic)) is not None
            going = zk.find(znodes.delete_topic_path(topic)) is not None
        except errors.ConnectionLoss:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        return "LEADER_NOT_AVAILABLE" if exists and not going else "UNKNOWN_TOPIC_OR_PARTITION"

    def _partitions_of(self, topic: str) -> list[int]:
        """The partitions that may be known, including those that have never had a leader."""
        numbers: dict[int, None] = {}
        while f"{topic}-{len(numbers)}" in self.context.process.metadata:
            numbers[len(numbers)] = None
        # Partition numbers are read from their znodes, to save an index of the metadata by topic;
        # everything reported about them comes from the metadata alone.
        names = self.zk.zookeeper.names(znodes.partitions_path(topic))
        stored = [number for name in names if (number := znodes.number_in(name)) is not None]
        return sorted(numbers | dict.fromkeys(stored))
