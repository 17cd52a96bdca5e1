"""How a broker in KRaft mode answers clients from its metadata image (``KRaftMetadataCache``)."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from msgspec import Struct

from emulator.broker.kraft_membership.state import KRaftMembershipState
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.common.limits import AUTO_CREATED_MAX
from emulator.common.names import is_topic_name
from emulator.metadata_log.image import MetadataImage, config_key
from emulator.metadata_log.records import (
    BROKER_RESOURCE,
    GROUP_RESOURCE,
    METRICS_RESOURCE,
    TOPIC_RESOURCE,
)
from emulator.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ClusterMetadataRequest,
    ClusterMetadataResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    MetadataRequest,
    MetadataResponse,
    PartitionDescription,
    PartitionMetadata,
    TopicDescription,
)
from emulator.releases.config_descriptions import (
    BROKER,
    DEFAULT_BROKER,
    STATIC_BROKER,
    Layers,
    describe_broker,
    describe_defaults,
    describe_group,
    describe_subscription,
    describe_topic,
    static_values,
    unexpected_broker,
)

UNNAMED: Final = "Group name must not be empty"
NO_SUBSCRIPTION: Final = "Client metrics subscription name must not be empty"


def config_layers(context: BrokerContext, image: MetadataImage) -> Layers:
    """Return a broker's configuration values by source: its own, all brokers', and static ones."""
    return [
        (BROKER, image.configs.get(config_key(BROKER_RESOURCE, str(context.id)), {})),
        (DEFAULT_BROKER, image.configs.get(config_key(BROKER_RESOURCE, ""), {})),
        (STATIC_BROKER, static_values(context.settings, context.id, in_kraft_mode=True)),
    ]


class KRaftMetadata(Struct, eq=False):
    """Answers clients from the metadata image.

    ``create_topics`` requests the creation of topics.
    """

    context: BrokerContext
    state: KRaftMembershipState
    cluster_id: str
    create_topics: Callable[[Iterable[str]], None]

    def describe_features(self, source: int, request: int, _message: ApiVersionsRequest) -> None:
        """Return the finalized features, and the offset of the metadata as their epoch."""
        image = self.state.image
        response = ApiVersionsResponse(request, dict(image.features), image.offset)
        self.context.respond(source, request, response)

    def describe_topic(self, source: int, request: int, message: MetadataRequest) -> None:
        """Return a topic's partitions as this broker knows them."""
        image, topic = self.state.image, message.topic
        topic_image = image.topic(topic)
        partitions: dict[int, PartitionMetadata] = {}
        if topic_image is not None:
            for number, partition in sorted(topic_image.partitions.items()):
                if partition.leader in image.brokers:
                    metadata = PartitionMetadata(NONE, partition.leader, partition.leader_epoch)
                else:
                    metadata = PartitionMetadata("LEADER_NOT_AVAILABLE", -1, partition.leader_epoch)
                partitions[number] = metadata
        error = NONE if partitions else "UNKNOWN_TOPIC_OR_PARTITION"
        if not is_topic_name(topic):
            error = "INVALID_TOPIC_EXCEPTION"
        self.context.respond(source, request, MetadataResponse(request, topic, error, partitions))

    def describe_cluster(self, source: int, request: int, message: ClusterMetadataRequest) -> None:
        """Return the brokers, a controller and topics.

        Clients cannot reach the controllers, so a live broker is returned as the controller
        (``KRaftMetadataCache.getRandomAliveBrokerId``; here it is the broker itself). A topic being
        auto-created is unknown until this broker has applied its records
        (``DefaultAutoTopicCreationManager``).
        """
        image = self.state.image
        names = list(image.topic_ids) if message.topics is None else message.topics
        brokers = [
            b for b, registration in sorted(image.brokers.items()) if not registration.fenced
        ]
        fenced = tuple(
            b for b, registration in sorted(image.brokers.items()) if registration.fenced
        )
        topics = {topic: self._describe(topic) for topic in names}
        if message.creates and self.context.config.auto_create_topics_enable:
            unknown = (
                topic
                for topic, description in topics.items()
                if description.error == "UNKNOWN_TOPIC_OR_PARTITION"
            )
            self.create_topics(islice(unknown, AUTO_CREATED_MAX))
        response = ClusterMetadataResponse(
            request, brokers, self.context.id, self.cluster_id, topics, fenced
        )
        self.context.respond(source, request, response)

    def _describe(self, topic: str) -> TopicDescription:
        if not is_topic_name(topic):
            return TopicDescription("INVALID_TOPIC_EXCEPTION")
        topic_image = self.state.image.topic(topic)
        if topic_image is None:
            return TopicDescription("UNKNOWN_TOPIC_OR_PARTITION")
        brokers = self.state.image.brokers
        partitions = {
            number: PartitionDescription(
                NONE if partition.leader in brokers else "LEADER_NOT_AVAILABLE",
                partition.leader if partition.leader in brokers else -1,
                partition.leader_epoch,
                list(partition.replicas),
                list(partition.isr),
                list(partition.elr),
                list(partition.last_known_elr),
            )
            for number, partition in sorted(topic_image.partitions.items())
        }
        return TopicDescription(NONE, topic_image.id, partitions)

    def list_config_resources(
        self, client: int, request: int, _message: ListConfigResourcesRequest
    ) -> None:
        image = self.state.image
        topics = sorted(topic.name for topic in image.topics.values())
        groups, subscriptions = (
            sorted(key.removeprefix(prefix) for key in image.configs if key.startswith(prefix))
            for prefix in (config_key(kind, "") for kind in (GROUP_RESOURCE, METRICS_RESOURCE))
        )
        response = ListConfigResourcesResponse(
            request, topics, sorted(image.brokers), groups, subscriptions
        )
        self.context.respond(client, request, response)

    def list_reassignments(
        self, source: int, request: int, _message: ListPartitionReassignmentsRequest
    ) -> None:
        """Return the reassignments in progress, as far as this broker's image shows them."""
        moves = {}
        for topic, number, partition in self.state.image.partitions():
            if partition.adding_replicas or partition.removing_replicas:
                remaining = [
                    broker
                    for broker in partition.replicas
                    if broker not in partition.removing_replicas
                ]
                before = [
                    broker
                    for broker in partition.replicas
                    if broker not in partition.adding_replicas
                ]
                moves[f"{topic.name}-{number}"] = (before, remaining)
        response = ListPartitionReassignmentsResponse(request, NONE, moves)
        self.context.respond(source, request, response)

    def describe_controller(
        self, source: int, request: int, _message: DescribeClusterRequest
    ) -> None:
        """Return its own id: clients cannot reach the controller, so brokers forward to it."""
        response = DescribeClusterResponse(request, self.context.id)
        self.context.respond(source, request, response)

    def describe_configs(self, source: int, request: int, message: DescribeConfigsRequest) -> None:
        """Return the configuration of a topic, a group or this broker (``ConfigHelper``)."""
        context, image = self.context, self.state.image
        version = context.settings.version
        layers, reason = config_layers(context, image), ""
        if message.topic is not None:
            values = image.configs.get(config_key(TOPIC_RESOURCE, message.topic), {})
            entries = describe_topic(version, values, layers)
            error = NONE if image.topic(message.topic) is not None else "UNKNOWN_TOPIC_OR_PARTITION"
            error = error if is_topic_name(message.topic) else "INVALID_TOPIC_EXCEPTION"
        elif message.group is not None:
            values = image.configs.get(config_key(GROUP_RESOURCE, message.group), {})
            entries = describe_group(version, values, layers)
            error, reason = (NONE, "") if message.group else ("INVALID_REQUEST", UNNAMED)
        elif message.subscription is not None:
            values = image.configs.get(config_key(METRICS_RESOURCE, message.subscription), {})
            entries = describe_subscription(version, values)
            reason = "" if message.subscription else NO_SUBSCRIPTION
            error = "INVALID_REQUEST" if reason else NONE
        elif message.broker:
            entries = describe_broker(version, layers)
            reason = unexpected_broker(message.broker, context.id)
            error = "INVALID_REQUEST" if reason else NONE
        else:
            defaults = image.configs.get(config_key(BROKER_RESOURCE, ""), {})
            entries, error = describe_defaults(version, defaults), NONE
        response = DescribeConfigsResponse(request, error, entries if error == NONE else [], reason)
        context.respond(source, request, response)
