"""What administrators ask of a broker, forwarded to the active controller (KIP-590)."""

from typing import Any, Final

from emulator.broker.controller_channel import ControllerChannel
from emulator.broker.kraft_state import KRaftBrokerState, Pending
from emulator.broker_context import BrokerContext
from emulator.coordinator import internal_topics
from emulator.metadata_log.records import BROKER_RESOURCE
from emulator.protocol import (
    AlterConfigsRequest,
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ConnectionLost,
    CreatePartitionsRequest,
    CreateTopicsRequest,
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
    TopicsResponse,
)
from emulator.protocol.errors import NONE
from emulator.protocol.kraft import AdminRequest
from emulator.protocol.names import split

PATIENCE_US: Final = 60_000_000
"""How long a request is tried (``ForwardingManager``'s channel)."""
TRY_US: Final = 30_000_000
"""How long one try may take (request.timeout.ms)."""

NOBODY: Final = -1
"""The source of what the broker itself asks."""

OF_TOPICS: Final = (
    CreateTopicsRequest,
    CreatePartitionsRequest,
    DeleteTopicsRequest,
    AlterConfigsRequest,
)
"""Requests that are answered topic by topic."""
OTHERS: Final[dict[type, type[Any]]] = {
    IncrementalAlterConfigsRequest: IncrementalAlterConfigsResponse,
    ElectLeadersRequest: ElectLeadersResponse,
    AlterPartitionReassignmentsRequest: AlterPartitionReassignmentsResponse,
}
"""Requests that may fail as a whole, and how they are answered."""
FORWARDED: Final = (*OF_TOPICS, *OTHERS, DescribeQuorumRequest)


class ForwardingManager:
    """Forwards requests, and their answers to whoever asked."""

    def __init__(self, context: BrokerContext, state: KRaftBrokerState) -> None:
        """Forward in ``context``."""
        self.context = context
        self.state = state
        self.channel = ControllerChannel(
            context, state.forwarding, "forwarding", lambda: TRY_US, self._answered
        )

    def forward(self, source: int, request: int, message: AdminRequest) -> None:
        """Have the controller answer; a broker's own values are checked by that broker alone."""
        if isinstance(message, IncrementalAlterConfigsRequest) and self._is_of_another(message):
            errors = {message.resource_name: "INVALID_REQUEST"}
            answer = IncrementalAlterConfigsResponse(request, "NONE", errors)
            self.context.respond(source, request, answer)
            return
        self.channel.ask(EnvelopeRequest(message), PATIENCE_US, source, request)

    # ---- what the broker itself needs (AutoTopicCreationManager)

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has, as far as this broker has read; 0: there is none."""
        found = self.state.image.topic(topic)
        return 0 if found is None else len(found.partitions)

    def leader(self, tp: str) -> int | None:
        """Who leads a partition, as far as this broker has read; None: there is none."""
        found = self.state.image.partition(*split(tp))
        return None if found is None else found.leader

    def create(self, topic: str, partitions: int, factor: int, config: dict[str, str]) -> None:
        """Ask the controller to make a topic, unless that is asked already."""
        wanted = NewTopic(partitions, factor, {}, dict(config))
        request = EnvelopeRequest(CreateTopicsRequest({topic: wanted}, TRY_US))
        if all(each.message != request for each in self.state.forwarding.queue):
            self.channel.ask(request, PATIENCE_US)

    def create_automatically(self, topic: str) -> None:
        """Have a topic made that a client asked for, with this broker's defaults.

        Source: ``DefaultAutoTopicCreationManager.creatableTopic``.
        """
        config = self.context.config
        internal = internal_topics.INTERNAL_TOPICS.get(topic)
        if internal is not None:
            internal_topics.create(self.context, internal)
            return
        self.create(topic, config.num_partitions, config.default_replication_factor, {})

    def _is_of_another(self, message: IncrementalAlterConfigsRequest) -> bool:
        is_broker = message.resource_type == BROKER_RESOURCE and bool(message.resource_name)
        return is_broker and message.resource_name != str(self.context.id)

    def _answered(self, pending: Pending, response: EnvelopeResponse | None) -> None:
        """Take what was in the envelope out of it."""
        if pending.source == NOBODY:
            return  # whoever needs the topic asks for it again
        assert isinstance(pending.message, EnvelopeRequest)
        wanted, request = pending.message.wanted, pending.client_request
        error = "REQUEST_TIMED_OUT" if response is None else response.error
        errors = {} if response is None else response.errors
        answer: Any
        if isinstance(wanted, DescribeQuorumRequest):
            quorum = None if response is None else response.quorum
            answer = DescribeQuorumResponse(request, error, quorum)
        elif isinstance(wanted, OF_TOPICS):
            if error != NONE:
                errors = dict.fromkeys(wanted.topics, error)
            answer = TopicsResponse(request, errors, {} if response is None else response.messages)
        else:
            answer = OTHERS[type(wanted)](request, error, errors)
        self.context.respond(pending.source, request, answer)

    def take(self, request: int, response: object) -> bool:
        """Take a response if it is to something that was forwarded."""
        return self.channel.take(request, response)

    def connection_lost(self, message: ConnectionLost) -> None:
        """A connection broke."""
        self.channel.connection_lost(message)
