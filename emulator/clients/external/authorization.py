"""What a client may do: the messages to a broker that are refused, in whole or in part.

A broker decides by the entries that it knows when it starts to handle a request. The parts that it
refuses are answered at once, and kept until the response to the others has come. Source:
``KafkaApis``, ``ControllerApis``, ``AuthHelper``.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from msgspec.structs import asdict, replace

from emulator import protocol
from emulator.clients.context import ClientContext
from emulator.clients.external.refusals import refusal
from emulator.clients.external_state import Connection
from emulator.common.acls import (
    ALTER,
    ALTER_CONFIGS,
    CLUSTER,
    CLUSTER_ACTION,
    CLUSTER_NAME,
    CREATE,
    DELETE,
    DESCRIBE,
    DESCRIBE_CONFIGS,
    GROUP,
    IDEMPOTENT_WRITE,
    OPERATIONS_ON,
    READ,
    TOPIC,
    TRANSACTIONAL_ID,
    WRITE,
    Acl,
    is_allowed,
    is_allowed_on_any,
)
from emulator.common.errors import ERRORS
from emulator.metadata_log.records import BROKER_RESOURCE, GROUP_RESOURCE, METRICS_RESOURCE
from emulator.protocol import AnyMessage
from emulator.releases.config import Settings
from emulator.wire.messages.cluster import (
    DescribeClusterRequest,
    DescribeTopicPartitionsRequest,
    MetadataRequest,
)
from emulator.wire.messages.consumer_groups import ConsumerGroupDescribeRequest
from emulator.wire.messages.groups import DescribeGroupsRequest
from emulator.wire.types import Message

ANONYMOUS: Final = "User:ANONYMOUS"
"""Who a client is that does not authenticate."""
ERRORS_BY_TYPE: Final = {
    TOPIC: "TOPIC_AUTHORIZATION_FAILED",
    GROUP: "GROUP_AUTHORIZATION_FAILED",
    CLUSTER: "CLUSTER_AUTHORIZATION_FAILED",
    TRANSACTIONAL_ID: "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
}
UNREADABLE: Final = ERRORS_BY_TYPE[TOPIC]
WITHOUT_OPERATIONS: Final = frozenset(ERRORS[name].code for name in (UNREADABLE, "INVALID_REQUEST"))
"""Topics with these errors have no authorized operations."""
OFFSET_COMMITS: Final = ("OffsetCommit", "TxnOffsetCommit")


class Client(NamedTuple):
    """Who asks, from where, and what the broker knows about it."""

    acls: Collection[Acl]
    principal: str
    host: str
    is_super: bool
    is_open: bool
    in_kraft_mode: bool
    asks_controller: bool
    of_groups: tuple[int, ...]

    def may(self, operation: int, resource_type: int, name: str) -> bool:
        return self.is_super or is_allowed(
            *(self.acls, self.principal, self.host, operation, resource_type, name),
            otherwise=self.is_open,
        )

    def may_on_cluster(self, operation: int) -> bool:
        """Return whether an operation on the cluster is allowed."""
        return self.may(operation, CLUSTER, CLUSTER_NAME)

    def may_write_anything(self) -> bool:
        """Return whether some topic may be written to (KIP-679)."""
        own = (self.acls, self.principal, self.host, WRITE, TOPIC)
        return self.is_super or is_allowed_on_any(*own, otherwise=self.is_open)

    def _operations_on(self, resource_type: int) -> tuple[int, ...]:
        return self.of_groups if resource_type == GROUP else OPERATIONS_ON[resource_type]

    def operations_on(self, resource_type: int, name: str) -> int:
        """Return the operations that are allowed on a resource, as bits (KIP-430)."""
        allowed = (
            operation
            for operation in self._operations_on(resource_type)
            if self.may(operation, resource_type, name)
        )
        return sum(1 << operation for operation in allowed)


class Authorizer:
    """Decides for the brokers of a cluster."""

    def __init__(self, settings: Settings, context: ClientContext) -> None:
        """Use the configuration of brokers, and the entries that each of them knows.

        ``is_there``: the brokers have an authorizer.
        """
        defaults = settings.defaults
        self._membership_of = context.membership_of
        self._in_kraft_mode = context.in_kraft_mode
        has_configs = context.profile.has("groups_have_configs")
        configs = (DESCRIBE_CONFIGS, ALTER_CONFIGS) if has_configs else ()
        self._of_groups = (*OPERATIONS_ON[GROUP], *configs)
        self.is_there = bool(defaults.get("authorizer.class.name", "").strip())
        self._supers = {user.strip() for user in defaults.get("super.users", "").split(";")}
        open_to_all = defaults.get("allow.everyone.if.no.acl.found", "").strip().lower()
        self._is_open = open_to_all == "true"

    def client(self, connection: Connection) -> Client:
        """Return what a broker knows about the client of a connection."""
        principal = connection.principal or ANONYMOUS
        is_super = not self.is_there or principal in self._supers
        acls: Collection[Acl] = ()
        asks_controller = True
        if self.is_there and self._membership_of is not None:
            membership = self._membership_of(connection.broker)
            acls, asks_controller = membership.acls, membership.handles_administration
        return Client(
            *(acls, principal, connection.host, is_super, self._is_open),
            *(self._in_kraft_mode, asks_controller, self._of_groups),
        )


# ---- whole messages

Need = tuple[int, int, str]
"""An operation on a resource, by its type and name."""


def _on_cluster(operation: int) -> Callable[[Any], list[Need]]:
    return lambda _message: [(operation, CLUSTER, CLUSTER_NAME)]


def _of_group(operation: int) -> Callable[[Any], list[Need]]:
    return lambda message: [(operation, GROUP, message.group)]


def _of_transaction(message: Any) -> list[Need]:  # noqa: ANN401 - one of several requests
    return [(WRITE, TRANSACTIONAL_ID, message.transactional_id)]


def _produce(message: protocol.ProduceRequest) -> list[Need]:
    transaction = _of_transaction(message) if message.transactional_id else []
    return [*transaction, (WRITE, TOPIC, _topic_of(message.tp))]


def _find_coordinator(message: protocol.FindCoordinatorRequest) -> list[Need]:
    return [(DESCRIBE, TRANSACTIONAL_ID if message.is_transaction else GROUP, message.group)]


def _describe_configs(message: protocol.DescribeConfigsRequest) -> list[Need]:
    if message.group is not None:
        return [(DESCRIBE_CONFIGS, GROUP, message.group)]
    if message.topic is None:
        return [(DESCRIBE_CONFIGS, CLUSTER, CLUSTER_NAME)]
    return [(DESCRIBE_CONFIGS, TOPIC, message.topic)]


def _alter_configs(message: protocol.IncrementalAlterConfigsRequest) -> list[Need]:
    if message.resource_type in (BROKER_RESOURCE, METRICS_RESOURCE):
        return [(ALTER_CONFIGS, CLUSTER, CLUSTER_NAME)]
    kind = GROUP if message.resource_type == GROUP_RESOURCE else TOPIC
    return [(ALTER_CONFIGS, kind, message.resource_name)]


WHOLE: Final[Mapping[type, Callable[[Any], list[Need]]]] = {
    protocol.ProduceRequest: _produce,
    protocol.ListOffsetsRequest: lambda message: [(DESCRIBE, TOPIC, _topic_of(message.tp))],
    protocol.FindCoordinatorRequest: _find_coordinator,
    protocol.JoinGroupRequest: _of_group(READ),
    protocol.SyncGroupRequest: _of_group(READ),
    protocol.HeartbeatRequest: _of_group(READ),
    protocol.LeaveGroupRequest: _of_group(READ),
    protocol.ConsumerGroupHeartbeatRequest: lambda message: [
        (READ, GROUP, message.group),
        *((DESCRIBE, TOPIC, topic) for topic in message.topics or ()),
    ],
    protocol.DescribeShareGroupOffsetsRequest: lambda message: [
        (DESCRIBE, GROUP, group) for group in message.groups
    ],
    protocol.ShareGroupHeartbeatRequest: lambda message: [
        (READ, GROUP, message.group),
        *((DESCRIBE, TOPIC, topic) for topic in message.topics or ()),
    ],
    protocol.ShareFetchRequest: _of_group(READ),
    protocol.ShareAcknowledgeRequest: _of_group(READ),
    protocol.AlterShareGroupOffsetsRequest: _of_group(READ),
    protocol.DeleteShareGroupOffsetsRequest: _of_group(DELETE),
    protocol.OffsetCommitRequest: _of_group(READ),
    protocol.TxnOffsetCommitRequest: lambda message: [
        *_of_transaction(message),
        (READ, GROUP, message.group),
    ],
    protocol.OffsetFetchRequest: _of_group(DESCRIBE),
    protocol.OffsetDeleteRequest: _of_group(DELETE),
    protocol.AddPartitionsToTxnRequest: _of_transaction,
    protocol.AddOffsetsToTxnRequest: lambda message: [
        *_of_transaction(message),
        (READ, GROUP, message.group),
    ],
    protocol.EndTxnRequest: _of_transaction,
    protocol.WriteTxnMarkersRequest: _on_cluster(CLUSTER_ACTION),
    protocol.DescribeConfigsRequest: _describe_configs,
    protocol.IncrementalAlterConfigsRequest: _alter_configs,
    protocol.ElectLeadersRequest: _on_cluster(ALTER),
    protocol.AlterPartitionReassignmentsRequest: _on_cluster(ALTER),
    protocol.ListPartitionReassignmentsRequest: _on_cluster(DESCRIBE),
    protocol.AlterReplicaLogDirsRequest: _on_cluster(ALTER),
    protocol.DescribeLogDirsRequest: _on_cluster(DESCRIBE),
    protocol.DescribeQuorumRequest: _on_cluster(DESCRIBE),
    protocol.UpdateFeaturesRequest: _on_cluster(ALTER),
    protocol.UnregisterBrokerRequest: _on_cluster(ALTER),
    protocol.ListConfigResourcesRequest: _on_cluster(DESCRIBE_CONFIGS),
    protocol.CreateAclsRequest: _on_cluster(ALTER),
    protocol.DeleteAclsRequest: _on_cluster(ALTER),
}
"""What a message needs that is carried out as a whole, or not at all."""


# ---- messages about several things


class Parts(NamedTuple):
    """A field of a message with names of things, each of which needs an operation.

    Who may do ``of_cluster`` to the cluster may do it to all; if ``only_kraft``, in KRaft mode.
    """

    field: str
    operation: int
    resource_type: int = TOPIC
    of_partitions: bool = False
    of_cluster: int = 0
    only_kraft: bool = False

    def name(self, key: str) -> str:
        """Return the name of the resource of an entry."""
        return _topic_of(key) if self.of_partitions else key


SEVERAL: Final[Mapping[type, Parts]] = {
    protocol.FetchRequest: Parts("partitions", READ, of_partitions=True),
    protocol.OffsetsForLeaderEpochRequest: Parts(
        "partitions", DESCRIBE, of_partitions=True, of_cluster=CLUSTER_ACTION
    ),
    protocol.AddPartitionsToTxnRequest: Parts("partitions", WRITE, of_partitions=True),
    protocol.OffsetCommitRequest: Parts("offsets", READ, of_partitions=True),
    protocol.TxnOffsetCommitRequest: Parts("offsets", READ, of_partitions=True),
    protocol.OffsetFetchRequest: Parts("partitions", DESCRIBE, of_partitions=True),
    protocol.OffsetDeleteRequest: Parts("partitions", READ, of_partitions=True),
    protocol.DeleteRecordsRequest: Parts("offsets", DELETE, of_partitions=True),
    protocol.DescribeProducersRequest: Parts("partitions", READ, of_partitions=True),
    protocol.ClusterMetadataRequest: Parts("topics", DESCRIBE),
    protocol.CreateTopicsRequest: Parts("topics", CREATE, of_cluster=CREATE),
    protocol.DeleteTopicsRequest: Parts("topics", DELETE, of_cluster=DELETE, only_kraft=True),
    protocol.CreatePartitionsRequest: Parts("topics", ALTER),
    protocol.AlterConfigsRequest: Parts("topics", ALTER_CONFIGS),
    protocol.DescribeGroupsRequest: Parts("groups", DESCRIBE, GROUP),
    protocol.ShareFetchRequest: Parts("partitions", READ, of_partitions=True),
    protocol.ShareAcknowledgeRequest: Parts("acknowledged", READ, of_partitions=True),
    protocol.AlterShareGroupOffsetsRequest: Parts("offsets", READ, of_partitions=True),
    protocol.DeleteShareGroupOffsetsRequest: Parts("topics", READ),
    protocol.DescribeShareGroupOffsetsRequest: Parts("groups", DESCRIBE, GROUP),
    protocol.ConsumerGroupDescribeRequest: Parts("groups", DESCRIBE, GROUP),
    protocol.ShareGroupDescribeRequest: Parts("groups", DESCRIBE, GROUP),
    protocol.DeleteGroupsRequest: Parts("groups", DELETE, GROUP),
    protocol.DescribeTransactionsRequest: Parts("transactional_ids", DESCRIBE, TRANSACTIONAL_ID),
}
"""What each part of a message needs; the others are carried out."""


FOR_CONTROLLER: Final = (
    protocol.CreateTopicsRequest,
    protocol.CreatePartitionsRequest,
    protocol.DeleteTopicsRequest,
)
"""Requests that the controller handles."""


class Split(NamedTuple):
    """A message without the parts that are refused (None: nothing is left), and their response."""

    message: AnyMessage | None
    refused: AnyMessage | None


def split(api: str, message: AnyMessage, client: Client) -> Split:
    """Take from a message for an API what its client may not do."""
    if isinstance(message, FOR_CONTROLLER) and not client.asks_controller:
        return Split(message, None)  # that the broker is not the controller comes first
    error = _error_of(message, client)
    if error:
        return Split(None, refusal(message, error))
    parts = SEVERAL.get(type(message))
    if parts is None or getattr(message, parts.field) is None:
        return Split(message, None)
    return _split(api, message, parts, client)


def _split(api: str, message: AnyMessage, parts: Parts, client: Client) -> Split:
    keys: Iterable[str] = getattr(message, parts.field)
    operation = READ if api in OFFSET_COMMITS else parts.operation
    asks_cluster = parts.of_cluster and (client.in_kraft_mode or not parts.only_kraft)
    if asks_cluster and client.may_on_cluster(parts.of_cluster):
        return Split(message, None)
    denied = [
        key for key in keys if not client.may(operation, parts.resource_type, parts.name(key))
    ]
    if not denied:
        return Split(message, None)
    refused = refusal(_only(message, parts.field, denied), ERRORS_BY_TYPE[parts.resource_type])
    allowed = [key for key in keys if key not in denied]
    if isinstance(message, protocol.ClusterMetadataRequest):
        return Split(_only(message, parts.field, allowed), refused)
    if isinstance(message, protocol.AddPartitionsToTxnRequest):
        rest = refusal(_only(message, parts.field, allowed), "OPERATION_NOT_ATTEMPTED")
        return Split(None, merged(rest, refused))
    if isinstance(message, protocol.OffsetCommitRequest | protocol.TxnOffsetCommitRequest):
        # Which partitions are refused is told with those that do not exist.
        return Split(_only(message, parts.field, allowed), None)
    return Split(_only(message, parts.field, allowed) if allowed else None, refused)


def asks_for_all(message: AnyMessage) -> bool:
    """Return whether a message is about everything of a kind, not about what it names."""
    parts = SEVERAL.get(type(message))
    return parts is not None and getattr(message, parts.field) is None


def _error_of(message: AnyMessage, client: Client) -> str:
    """The error of a message that is refused as a whole; empty if it is not."""
    if isinstance(message, protocol.InitProducerIdRequest) and not message.transactional_id:
        is_allowed_to = client.may_on_cluster(IDEMPOTENT_WRITE) or client.may_write_anything()
        return "" if is_allowed_to else ERRORS_BY_TYPE[CLUSTER]
    needs = WHOLE.get(type(message), lambda _message: [])(message)
    if isinstance(message, protocol.InitProducerIdRequest):
        needs = _of_transaction(message)
    for operation, resource_type, name in needs:
        if not client.may(operation, resource_type, name):
            return ERRORS_BY_TYPE[resource_type]
    return ""


def _only(message: Any, field: str, keys: Collection[str]) -> Any:  # noqa: ANN401 - any request
    value = getattr(message, field)
    if isinstance(value, dict):
        return replace(message, **{field: {key: value[key] for key in value if key in keys}})
    return replace(message, **{field: [key for key in value if key in keys]})


def merged(response: AnyMessage, refused: AnyMessage | None) -> AnyMessage:
    """Return a response with the entries of those parts that were refused."""
    if refused is None:
        return response
    more = asdict(refused)
    both = {
        name: value | more[name]
        for name, value in asdict(response).items()
        if isinstance(value, dict) and isinstance(more.get(name), dict)
    }
    whole: AnyMessage = replace(response, **both)
    return whole


# ---- fetch sessions


def split_fetch(
    message: protocol.FetchRequest, connection: Connection, client: Client
) -> protocol.FetchRequest:
    """Take from a fetch what its client may not read.

    It is kept with the connection for the rest of its fetch session: each response tells it, until
    it may be read.
    """
    goes_on = message.session_epoch > 0
    earlier = connection.unreadable if goes_on else {}
    named = {**earlier, **message.partitions}
    for tp in message.forgotten:
        named.pop(tp, None)
    readable = {tp for tp in named if client.may(READ, TOPIC, _topic_of(tp))}
    connection.unreadable = {tp: partition for tp, partition in named.items() if tp not in readable}
    partitions = {tp: partition for tp, partition in named.items() if tp in readable}
    is_over = bool(connection.unreadable) and not partitions and not goes_on
    wait_us = 0 if is_over else message.max_wait_us
    return replace(message, partitions=partitions, max_wait_us=wait_us)


# ---- what a client sees

SEEN: Final = {"topics": TOPIC, "groups": GROUP, "transactions": TRANSACTIONAL_ID}
"""The fields of responses to requests for everything, and the types of what they name."""


def visible(response: AnyMessage, client: Client) -> AnyMessage:
    """Return a response to a request for everything, without what the client may not know of."""
    if isinstance(response, protocol.DescribeGroupsResponse) and client.may_on_cluster(DESCRIBE):
        return response
    if isinstance(response, protocol.OffsetFetchResponse):
        offsets = {
            tp: offset
            for tp, offset in response.offsets.items()
            if client.may(DESCRIBE, TOPIC, _topic_of(tp))
        }
        return replace(response, offsets=offsets)
    for field, resource_type in SEEN.items():
        rows = getattr(response, field, None)
        if isinstance(rows, dict):
            seen = {
                name: row for name, row in rows.items() if client.may(DESCRIBE, resource_type, name)
            }
            whole: AnyMessage = replace(response, **{field: seen})
            return whole
    return response


def with_operations(request: Message, response: Message, client: Client) -> Message:
    """Return a response with the operations that its client may do, if it asks (KIP-430)."""
    told: dict[str, Any] = {}
    if getattr(request, "include_cluster_authorized_operations", False):
        may_know = client.may_on_cluster(DESCRIBE)
        own = client.operations_on(CLUSTER, CLUSTER_NAME) if may_know else 0
        told["cluster_authorized_operations"] = own
    is_about_topics = isinstance(request, DescribeTopicPartitionsRequest)
    if is_about_topics or getattr(request, "include_topic_authorized_operations", False):
        topics: Any = response
        told["topics"] = [
            topic
            if topic.error_code in WITHOUT_OPERATIONS
            else replace(topic, topic_authorized_operations=client.operations_on(TOPIC, topic.name))
            for topic in topics.topics
        ]
    if getattr(request, "include_authorized_operations", False):
        groups: Any = response
        told["groups"] = [
            group
            if group.error_code
            else replace(group, authorized_operations=client.operations_on(GROUP, group.group_id))
            for group in groups.groups
        ]
    return replace(response, **told) if told else response


TELLS_OPERATIONS: Final = (
    MetadataRequest,
    DescribeClusterRequest,
    DescribeTopicPartitionsRequest,
    DescribeGroupsRequest,
    ConsumerGroupDescribeRequest,
)
"""The requests whose clients may ask for the operations that are allowed to them."""


def without_configs(response: AnyMessage, client: Client) -> AnyMessage:
    """Return what topics were created with, without what the client may not know (KIP-525)."""
    if not isinstance(response, protocol.TopicsResponse):
        return response
    error = ERRORS_BY_TYPE[TOPIC]
    created = {
        name: topic
        if client.may(DESCRIBE_CONFIGS, TOPIC, name)
        else protocol.TopicCreated(topic.topic_id, -1, -1, config_error=error)
        for name, topic in response.created.items()
    }
    return replace(response, created=created)


def _topic_of(tp: str) -> str:
    return tp.rpartition("-")[0]
