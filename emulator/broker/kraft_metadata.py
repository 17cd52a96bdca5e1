"""What a broker in KRaft mode tells clients: its image (``KRaftMetadataCache``)."""

from emulator.broker.kraft_state import KRaftBrokerState
from emulator.broker_context import BrokerContext
from emulator.protocol import MetadataRequest, MetadataResponse, PartitionMetadata
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
