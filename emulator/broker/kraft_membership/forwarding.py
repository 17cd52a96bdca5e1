"""Forwarding of administrative requests to the active controller (KIP-590)."""

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from emulator.broker.kraft_membership.controller_channel import ControllerChannel
from emulator.broker.kraft_membership.metadata import config_layers
from emulator.broker.kraft_membership.state import KRaftMembershipState, Pending
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.coordinator import internal_topics
from emulator.metadata_log.records import BROKER_RESOURCE
from emulator.protocol import (
    AclsResponse,
    AlterConfigsRequest,
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    CreateAclsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteAclsRequest,
    DeleteTopicsRequest,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    EnvelopeRequest,
    EnvelopeResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    NewTopic,
    TopicCreated,
    TopicsResponse,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from emulator.protocol.kraft import AdminRequest
from emulator.releases.config import ConfigError, check_dynamic
from emulator.releases.config_descriptions import describe_topic

PATIENCE_US: Final = 60_000_000
"""How long a request is retried (``ForwardingManager``'s channel)."""
TRY_US: Final = 30_000_000
"""The timeout of one attempt (request.timeout.ms)."""

NOBODY: Final = -1
"""The source of the broker's own requests."""

OF_TOPICS: Final = (
    CreateTopicsRequest,
    CreatePartitionsRequest,
    DeleteTopicsRequest,
    AlterConfigsRequest,
)
"""Requests with one result per topic."""
OTHERS: Final[dict[type, type[Any]]] = {
    IncrementalAlterConfigsRequest: IncrementalAlterConfigsResponse,
    ElectLeadersRequest: ElectLeadersResponse,
    AlterPartitionReassignmentsRequest: AlterPartitionReassignmentsResponse,
    UpdateFeaturesRequest: UpdateFeaturesResponse,
    UnregisterBrokerRequest: UnregisterBrokerResponse,
}
"""Requests with a single result, and their responses."""
OF_ACLS: Final = (CreateAclsRequest, DeleteAclsRequest)
FORWARDED: Final = (*OF_TOPICS, *OTHERS, *OF_ACLS, DescribeQuorumRequest)


class ForwardingManager:
    """Forwards requests to the controller, and the responses to the clients."""

    def __init__(self, context: BrokerContext, state: KRaftMembershipState) -> None:
        self.context = context
        self.state = state
        self.channel = ControllerChannel(
            context, state.forwarding, "forwarding", lambda: TRY_US, self._on_response
        )

    def forward(self, source: int, request: int, message: AdminRequest) -> None:
        """Forward to the controller; brokers' configurations are validated here first."""
        if isinstance(message, IncrementalAlterConfigsRequest):
            reason = self._refusal(message)
            if reason:
                name = message.resource_name
                reply = IncrementalAlterConfigsResponse(
                    request, "NONE", {name: "INVALID_REQUEST"}, {name: reason}
                )
                self.context.respond(source, request, reply)
                return
        self.channel.ask(EnvelopeRequest(message), PATIENCE_US, source, request)

    # ---- the broker's own requests (AutoTopicCreationManager)

    def create(self, topic: str, partitions: int, factor: int, config: dict[str, str]) -> None:
        """Ask the controller to create a topic, unless that request is already in flight."""
        if topic not in self._in_flight():
            self._create(topic, NewTopic(partitions, factor, {}, dict(config)))

    def create_automatically(self, topics: Iterable[str]) -> None:
        """Create topics that a client requested, with this broker's defaults.

        Source: ``DefaultAutoTopicCreationManager.creatableTopic``.
        """
        config, in_flight = self.context.config, self._in_flight()
        for topic in topics:
            internal = internal_topics.INTERNAL_TOPICS.get(topic)
            if internal is not None:
                internal_topics.create(self.context, internal)
            elif topic not in in_flight:
                count, factor = config.num_partitions, config.default_replication_factor
                self._create(topic, NewTopic(count, factor, {}, {}))

    def _create(self, topic: str, new_topic: NewTopic) -> None:
        request = EnvelopeRequest(CreateTopicsRequest({topic: new_topic}, TRY_US))
        self.channel.ask(request, PATIENCE_US)

    def _in_flight(self) -> set[str]:
        """The topics that this broker is creating (``inflightTopics``)."""
        return {
            topic
            for pending in self.state.forwarding.queue
            if pending.source == NOBODY
            and isinstance(pending.message, EnvelopeRequest)
            and isinstance(pending.message.enveloped, CreateTopicsRequest)
            for topic in pending.message.enveloped.topics
        }

    def _refusal(self, message: IncrementalAlterConfigsRequest) -> str:
        """Why this broker must not forward a change (``ConfigAdminManager.preprocess``), if so.

        It validates the defaults of all brokers and its own values, no other broker's. The
        controller knows brokers' configurations by their names only.
        """
        if message.resource_type == BROKER_RESOURCE:
            context, name = self.context, message.resource_name
            try:
                check_dynamic(message.values, context.settings.version, name, context.id)
            except ConfigError as error:
                return str(error)
        return ""

    def _described(
        self, request: AdminRequest, created: dict[str, TopicCreated]
    ) -> dict[str, TopicCreated]:
        """Add the configurations of created topics."""
        if not isinstance(request, CreateTopicsRequest):
            return created
        layers, version = (
            config_layers(self.context, self.state.image),
            self.context.settings.version,
        )
        return {
            name: replace(
                topic, entries=describe_topic(version, request.topics[name].config, layers)
            )
            for name, topic in created.items()
        }

    def _on_response(self, pending: Pending, response: EnvelopeResponse | None) -> None:
        """Unwrap the response in the envelope."""
        if pending.source == NOBODY:
            return  # a component that needs the topic requests it again
        assert isinstance(pending.message, EnvelopeRequest)
        enveloped, request = pending.message.enveloped, pending.client_request
        error = "REQUEST_TIMED_OUT" if response is None else response.error
        errors = {} if response is None else response.errors
        messages = {} if response is None else response.messages
        reply: Any
        if isinstance(enveloped, DescribeQuorumRequest):
            quorum = None if response is None else response.quorum
            reply = DescribeQuorumResponse(request, error, quorum)
        elif isinstance(enveloped, OF_ACLS):
            acls = [] if response is None else response.acls
            reply = AclsResponse(request, error, errors, messages, acls)
        elif isinstance(enveloped, OF_TOPICS):
            if error != NONE:
                errors = dict.fromkeys(enveloped.topics, error)
                messages = dict.fromkeys(enveloped.topics, messages[""]) if messages else {}
            created = {} if response is None else response.created
            reply = TopicsResponse(request, errors, messages, self._described(enveloped, created))
        else:
            reply = OTHERS[type(enveloped)](request, error, errors, messages)
        self.context.respond(pending.source, request, reply)
