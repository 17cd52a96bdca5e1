"""All producers and consumers: one host that communicates with the brokers."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from emulator import protocol as messages
from emulator.clients.admin import AdminClient
from emulator.clients.consumer import Consumers
from emulator.clients.context import ClientContext
from emulator.clients.network_client import NetworkClient
from emulator.clients.producer import Producers
from emulator.releases.config import Settings

if TYPE_CHECKING:
    from emulator.clients.external.external_clients import ExternalClients

LATE = (
    messages.ListConfigResourcesResponse,
    messages.UnregisterBrokerResponse,
    messages.UpdateFeaturesResponse,
    messages.AclsResponse,
    messages.AlterReplicaLogDirsResponse,
    messages.ApiVersionsResponse,
    messages.DeleteRecordsResponse,
    messages.DescribeLogDirsResponse,
    messages.DescribeQuorumResponse,
    messages.AddOffsetsToTxnResponse,
    messages.DescribeProducersResponse,
    messages.DescribeTransactionsResponse,
    messages.WriteTxnMarkersResponse,
    messages.ShareGroupHeartbeatResponse,
    messages.ShareGroupDescribeResponse,
    messages.ShareFetchResponse,
    messages.ShareAcknowledgeResponse,
    messages.DescribeShareGroupOffsetsResponse,
    messages.ShareGroupOffsetsResponse,
)
"""Responses to external clients alone, which may have disconnected."""


class ClientHost:
    """Dispatches messages to the clients they are addressed to."""

    def __init__(self, context: ClientContext, settings: Settings) -> None:
        """Create the clients that use ``context``; brokers have ``settings``."""
        self.context = context
        self.state = context.state
        self.value_of = context.ledger.value_of
        connections = NetworkClient(context)
        self.producers = Producers(context, connections)
        self.consumers = Consumers(context, connections)
        self.fetcher = self.consumers.fetcher
        self.offsets = self.consumers.group
        self.members = self.offsets.members
        self.admin = AdminClient(context, connections)
        self._settings = settings
        self._external = context.state.external
        self._tasks = {
            "admin": self.admin.timer,
            "producer": self.producers.timer,
            "transaction": self.producers.transactions.timer,
            "consumer": self.fetcher.timer,
            "group": self.members.timer,
            "heartbeat": self.members.beat,
            "group-limit": self.offsets.out_of_time,
        }
        self._handlers = self._table()

    @cached_property
    def external(self) -> "ExternalClients":
        """The external clients; they need Kafka's wire protocol, which takes time to import."""
        from emulator.clients.external.external_clients import ExternalClients

        return ExternalClients(self.context, self._settings)

    def handle(self, source: int, message: messages.AnyMessage) -> None:
        if self._external.requests and self.external.take(message):
            return
        self._handlers[type(message)](source, message)

    def _table(self) -> dict[type, Callable[[int, Any], object]]:
        group_responses = dict.fromkeys(get_args(messages.GroupResponse), self.members.on_response)
        return {
            messages.ClusterMetadataResponse: _too_late,
            messages.DescribeConfigsResponse: _too_late,
            messages.ListPartitionReassignmentsResponse: _too_late,
            **dict.fromkeys(LATE, _too_late),
            **group_responses,
            messages.FindCoordinatorResponse: self._coordinator_found,
            messages.AddPartitionsToTxnResponse: self.producers.transactions.take,
            messages.EndTxnResponse: self.producers.transactions.take,
            messages.ProduceResponse: self.producers.on_response,
            messages.InitProducerIdResponse: self._identified,
            messages.FetchResponse: self.fetcher.fetched,
            messages.ListOffsetsResponse: self.fetcher.located,
            messages.OffsetsForLeaderEpochResponse: self.fetcher.validated,
            messages.MetadataResponse: self._metadata_received,
            messages.DescribeClusterResponse: self.admin.response_received,
            messages.ElectLeadersResponse: self.admin.response_received,
            messages.AlterPartitionReassignmentsResponse: self.admin.response_received,
            messages.AlterPartitionResponse: self.admin.response_received,
            messages.IncrementalAlterConfigsResponse: self.admin.response_received,
            messages.TopicsResponse: self.admin.response_received,
            messages.ConnectionLost: self._connection_lost,
            messages.Timer: self._timer,
        }

    def _metadata_received(self, source: int, message: messages.MetadataResponse) -> None:
        """Pass a broker's description of a topic to the client that requested it."""
        if not (
            self.producers.metadata_received(source, message)
            or self.members.metadata_received(source, message)
        ):
            self.fetcher.metadata_received(source, message)

    def _coordinator_found(self, source: int, message: messages.FindCoordinatorResponse) -> None:
        """Pass a coordinator to the producer or the member of a group that looks for it."""
        if not self.producers.transactions.take(source, message):
            self.members.on_response(source, message)

    def _identified(self, source: int, message: messages.InitProducerIdResponse) -> None:
        if not self.producers.transactions.take(source, message):
            self.producers.identified(source, message)

    def _connection_lost(self, _source: int, message: messages.ConnectionLost) -> None:
        self.producers.connection_lost(message)
        self.producers.transactions.connection_lost(message)
        self.fetcher.connection_lost(message)
        self.members.connection_lost(message)
        self.admin.connection_lost(message)
        if self._external.connections or self._external.unanswered:
            self.external.connection_lost(message)

    def _timer(self, _source: int, message: messages.Timer) -> None:
        task = self._tasks.get(message.task) or self.external.tasks[message.task]
        task(message.key, message.number)


def _too_late(_source: int, _message: messages.AnyMessage) -> None:
    """Ignore a response whose external client has disconnected."""
