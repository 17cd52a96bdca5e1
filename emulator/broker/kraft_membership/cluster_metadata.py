"""What a broker in KRaft mode knows of its cluster: its image of the metadata log."""

from collections.abc import Container, Mapping, Sequence

from emulator.broker.kraft_membership.forwarding import ForwardingManager
from emulator.broker.kraft_membership.state import KRaftMembershipState
from emulator.broker_context import BrokerContext, TopicInfo
from emulator.common.names import split
from emulator.metadata_log.image import config_key
from emulator.metadata_log.records import GROUP_RESOURCE


class ImageMetadata:
    """Answers what a broker's parts ask about the cluster."""

    arrives_in_requests = False
    has_broker_epochs = True
    fetchers_start_late = True

    def __init__(
        self,
        context: BrokerContext,
        state: KRaftMembershipState,
        voters: Sequence[int],
        forwarding: ForwardingManager,
    ) -> None:
        """Look in the image of ``state``; ``voters`` are the controllers."""
        self.process = context.process
        self.state = state
        self.voters = voters
        self.forwarding = forwarding
        self.create = forwarding.create
        self.topic_ids: Mapping[str, str] = state.topic_ids

    @property
    def known_topic_ids(self) -> Container[str]:
        return self.state.image.topics

    @property
    def controller(self) -> int:
        """The quorum's leader that the broker was last told of; -1 if it knows none."""
        controller = self.process.known_controller
        return controller if controller in self.voters else -1

    def partition_count(self, topic: str) -> int:
        """The number of partitions of a topic in the image; 0 if the topic is unknown."""
        topic_image = self.state.image.topic(topic)
        return 0 if topic_image is None else len(topic_image.partitions)

    def exists(self, topic: str) -> bool:
        return self.partition_count(topic) > 0

    def topic(self, name: str) -> TopicInfo | None:
        """A topic's id and number of partitions in the image."""
        topic_image = self.state.image.topic(name)
        return (
            None if topic_image is None else TopicInfo(topic_image.id, len(topic_image.partitions))
        )

    def topic_with_id(self, topic_id: str) -> TopicInfo | None:
        topic_image = self.state.image.topics.get(topic_id)
        return (
            None if topic_image is None else TopicInfo(topic_image.id, len(topic_image.partitions))
        )

    def feature_level(self, name: str) -> int:
        """The finalized level of a feature in the image."""
        return self.state.image.features.get(name, 0)

    def group_config(self, group: str) -> Mapping[str, str]:
        """The configuration of a group in the image."""
        return self.state.image.configs.get(config_key(GROUP_RESOURCE, group), {})

    def topic_names(self) -> list[str]:
        return [topic.name for topic in self.state.image.topics.values()]

    def leader(self, tp: str) -> int | None:
        """The leader of a partition in the image; None if the partition is unknown."""
        partition = self.state.image.partition(*split(tp))
        return None if partition is None else partition.leader

    def broker_epoch(self, broker: int) -> int | None:
        """The epoch of a broker that is not fenced (``KRaftMetadataCache.getAliveBrokerEpoch``)."""
        registration = self.state.image.brokers.get(broker)
        return None if registration is None or registration.fenced else registration.epoch
