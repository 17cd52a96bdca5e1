"""What a broker in KRaft mode tells clients: its image (``KRaftMetadataCache``)."""

from emulator.broker.kraft_state import KRaftBrokerState
from emulator.broker_context import BrokerContext
from emulator.protocol import (
    ClusterMetadataRequest,
    ClusterMetadataResponse,
    MetadataRequest,
    MetadataResponse,
    PartitionDescription,
    PartitionMetadata,
    TopicDescription,
)
from emulator.protocol.errors import NONE
from emulator.protocol.names import is_topic_name


class KRaftMetadata:
    """Answers clients from the image."""

    def __init__(self, context: BrokerContext, state: KRaftBrokerState) -> None:
        """Answer for the broker of ``context``."""
        self.context = context
        self.state = state

    def describe_topic(self, source: int, request: int, message: MetadataRequest) -> None:
        """Tell a client of a topic's partitions as this broker knows them."""
        image, topic = self.state.image, message.topic
        found = image.topic(topic)
        partitions: dict[int, PartitionMetadata] = {}
        if found is not None:
            for number, partition in sorted(found.partitions.items()):
                if partition.leader in image.brokers:
                    told = PartitionMetadata(NONE, partition.leader, partition.leader_epoch)
                else:
                    told = PartitionMetadata("LEADER_NOT_AVAILABLE", -1, partition.leader_epoch)
                partitions[number] = told
        error = NONE if partitions else "UNKNOWN_TOPIC_OR_PARTITION"
        if not is_topic_name(topic):
            error = "INVALID_TOPIC_EXCEPTION"
        self.context.respond(source, request, MetadataResponse(request, topic, error, partitions))

    def describe_cluster(self, source: int, request: int, message: ClusterMetadataRequest) -> None:
        """Tell a client the brokers, a controller and topics.

        Clients do not reach the controllers, so a broker that is alive stands for them
        (``KRaftMetadataCache.getRandomAliveBrokerId``; here it is the broker itself). Topics are
        never made automatically.
        """
        image = self.state.image
        names = list(image.topic_ids) if message.topics is None else message.topics
        brokers = [b for b, each in sorted(image.brokers.items()) if not each.fenced]
        topics = {topic: self._describe(topic) for topic in names}
        response = ClusterMetadataResponse(request, brokers, self.context.id, "", topics)
        self.context.respond(source, request, response)

    def _describe(self, topic: str) -> TopicDescription:
        if not is_topic_name(topic):
            return TopicDescription("INVALID_TOPIC_EXCEPTION")
        found = self.state.image.topic(topic)
        if found is None:
            return TopicDescription("UNKNOWN_TOPIC_OR_PARTITION")
        brokers = self.state.image.brokers
        partitions = {
            number: PartitionDescription(
                NONE if each.leader in brokers else "LEADER_NOT_AVAILABLE",
                each.leader if each.leader in brokers else -1,
                each.leader_epoch,
                list(each.replicas),
                list(each.isr),
            )
            for number, each in sorted(found.partitions.items())
        }
        return TopicDescription(NONE, found.id, partitions)
