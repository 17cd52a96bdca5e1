"""Admin requests of external clients: topics, partitions, configs, elections, reassignments."""

from collections import Counter
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator import protocol
from emulator.clients.context import ClientContext
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.ids import by_topic, tp_of, uuid_bytes
from emulator.clients.external.metadata import TopicIds
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.releases.config_descriptions import DEFAULT, ConfigEntry
from emulator.releases.group_configs import group_configs
from emulator.wire.messages import alter_configs, configs, offsets, partitions
from emulator.wire.messages import topics as wire
from emulator.wire.types import NO_UUID, Message

US_PER_MS: Final = 1_000
TOPIC: Final = 2
BROKER: Final = 4
GROUP: Final = 32
"""Types of config resources (``ConfigResource.Type``)."""
SET: Final = 0
DELETE: Final = 1
APPEND: Final = 2
SUBTRACT: Final = 3
OPERATIONS: Final = (SET, DELETE, APPEND, SUBTRACT)
"""Operations on config values (``AlterConfigOp.OpType``)."""


class CreateTopics(Struct, eq=False):
    """CreateTopics: completed when the topics have leaders."""

    context: ClientContext
    known_ids: TopicIds

    def ask(self, call: Call[wire.CreateTopicsRequest]) -> list[AnyMessage]:
        """Create all topics in one request, but those that it names twice."""
        request = call.message
        twice = _named_twice(request)
        topics = {
            topic.name: protocol.NewTopic(
                topic.num_partitions,
                topic.replication_factor,
                {row.partition_index: row.broker_ids for row in topic.assignments},
                {config.name: config.value or "" for config in topic.configs},
            )
            for topic in request.topics
            if topic.name not in twice
        }
        timeout_us = request.timeout_ms * US_PER_MS
        return [protocol.CreateTopicsRequest(topics, timeout_us, request.validate_only)]

    def respond(
        self, call: Call[wire.CreateTopicsRequest], response: protocol.TopicsResponse
    ) -> Message:
        rows = self._refused_twice(_named_twice(call.message))
        for name, error in response.errors.items():
            made = response.created.get(name) if error == NONE else None
            row = wire.CreatableTopicResult(
                name, error_code=ERRORS[error].code, error_message=response.messages.get(name)
            )
            if made is not None:
                self.known_ids.replace(name, made.topic_id)
                row = replace(
                    row,
                    topic_id=uuid_bytes(made.topic_id) if made.topic_id else row.topic_id,
                    topic_config_error_code=ERRORS[made.config_error].code,
                    num_partitions=made.partitions,
                    replication_factor=made.replication_factor,
                    configs=[
                        wire.CreatableTopicConfigs(
                            entry.name, entry.value, entry.is_read_only, entry.source
                        )
                        for entry in made.entries
                    ],
                )
            rows.append(row)
        return wire.CreateTopicsResponse(topics=rows)

    def _refused_twice(self, names: dict[str, int]) -> list[wire.CreatableTopicResult]:
        """The results for topics that a request names more than once.

        From 2.4 on a broker with ZooKeeper answers for each time that a name is there. Source:
        ``KafkaApis.handleCreateTopicsRequest``, ``ControllerApis.createTopics``.
        """
        code, is_kraft = ERRORS["INVALID_REQUEST"].code, self.context.in_kraft_mode
        reason = "Duplicate topic name." if is_kraft else "Found multiple entries for this topic."
        each_time = not is_kraft and self.context.profile.has("topics_named_twice_answered_twice")
        return [
            wire.CreatableTopicResult(name, error_code=code, error_message=reason)
            for name, times in names.items()
            for _ in range(times if each_time else 1)
        ]


def _named_twice(request: wire.CreateTopicsRequest) -> dict[str, int]:
    """How often a request names the topics that it names more than once."""
    times = Counter(topic.name for topic in request.topics)
    return {name: count for name, count in times.items() if count > 1}


class DeleteTopics(Struct, eq=False):
    """DeleteTopics: by name, or by id from version 6 on."""

    known_ids: TopicIds

    def ask(self, call: Call[wire.DeleteTopicsRequest]) -> list[AnyMessage]:
        request = call.message
        names = [topic.name or self.known_ids.name(topic.topic_id) for topic in request.topics]
        names += request.topic_names
        timeout_us = request.timeout_ms * US_PER_MS
        return [protocol.DeleteTopicsRequest([name for name in names if name], timeout_us)]

    def respond(
        self, call: Call[wire.DeleteTopicsRequest], *responses: protocol.TopicsResponse
    ) -> Message:
        """Return the result for each topic, those of unknown ids first."""
        (response,) = responses
        rows = [
            wire.DeletableTopicResult(None, topic.topic_id, ERRORS["UNKNOWN_TOPIC_ID"].code)
            for topic in call.message.topics
            if topic.topic_id != NO_UUID and self.known_ids.name(topic.topic_id) is None
        ]
        rows += [
            wire.DeletableTopicResult(
                name, error_code=ERRORS[error].code, error_message=response.messages.get(name)
            )
            for name, error in response.errors.items()
        ]
        return wire.DeleteTopicsResponse(responses=rows)


class DeleteRecords:
    """DeleteRecords (KIP-107): completed when the leader and the live followers have deleted."""

    def ask(self, call: Call[offsets.DeleteRecordsRequest]) -> list[AnyMessage]:
        """Delete records of all partitions in one request."""
        request = call.message
        limits = {
            tp_of(topic.name, partition.partition_index): partition.offset
            for topic in request.topics
            for partition in topic.partitions
        }
        return [protocol.DeleteRecordsRequest(limits, request.timeout_ms * US_PER_MS)]

    def respond(
        self, call: Call[offsets.DeleteRecordsRequest], response: protocol.DeleteRecordsResponse
    ) -> Message:
        """Return the new log start offset of each partition."""
        topics = []
        for topic in call.message.topics:
            rows = []
            for partition in topic.partitions:
                number = partition.partition_index
                error, start = response.results[tp_of(topic.name, number)]
                row = offsets.DeleteRecordsPartitionResult(number, start, ERRORS[error].code)
                rows.append(row)
            topics.append(offsets.DeleteRecordsTopicResult(topic.name, rows))
        return offsets.DeleteRecordsResponse(topics=topics)


class CreatePartitions:
    """CreatePartitions."""

    def ask(self, call: Call[wire.CreatePartitionsRequest]) -> list[AnyMessage]:
        """Add partitions to all topics in one request."""
        request = call.message
        topics = {
            topic.name: (topic.count, [row.broker_ids for row in topic.assignments or ()])
            for topic in request.topics
        }
        timeout_us = request.timeout_ms * US_PER_MS
        return [protocol.CreatePartitionsRequest(topics, timeout_us, request.validate_only)]

    def respond(self, _call: AnyCall, response: protocol.TopicsResponse) -> Message:
        rows = [
            wire.CreatePartitionsTopicResult(name, ERRORS[error].code, response.messages.get(name))
            for name, error in response.errors.items()
        ]
        return wire.CreatePartitionsResponse(results=rows)


class OfResources:
    """A request about the configurations of topics, brokers and groups (4.0)."""

    def __init__(self, context: ClientContext) -> None:
        self.has_groups = bool(group_configs(context.profile.numbers))


class DescribeConfigs(OfResources):
    """DescribeConfigs: of topics, groups (4.0), and the broker that receives the request."""

    def ask(self, call: Call[configs.DescribeConfigsRequest]) -> list[AnyMessage]:
        return [self._description(resource) for resource in call.message.resources]

    def respond(
        self,
        call: Call[configs.DescribeConfigsRequest],
        *responses: protocol.DescribeConfigsResponse,
    ) -> Message:
        """Return the values, their sources and, if requested, their synonyms."""
        request = call.message
        results = []
        for resource, response in zip(request.resources, responses, strict=True):
            keys = resource.configuration_keys
            rows = [
                _described(entry, synonyms=request.include_synonyms)
                for entry in response.entries
                if not keys or entry.name in keys
            ]
            code = ERRORS[response.error].code
            kind, name = resource.resource_type, resource.resource_name
            reason = response.message if kind == GROUP else None
            results.append(configs.DescribeConfigsResult(code, reason, kind, name, rows))
        return configs.DescribeConfigsResponse(results=results)

    def _description(self, resource: configs.DescribeConfigsResource) -> AnyMessage:
        if resource.resource_type == TOPIC:
            return protocol.DescribeConfigsRequest(resource.resource_name)
        if resource.resource_type == BROKER:
            return protocol.DescribeConfigsRequest(None, resource.resource_name)
        if resource.resource_type == GROUP and self.has_groups:
            return protocol.DescribeConfigsRequest(None, group=resource.resource_name)
        return protocol.DescribeConfigsResponse(0, "INVALID_REQUEST")


def _described(entry: ConfigEntry, *, synonyms: bool) -> configs.DescribeConfigsResourceResult:
    named = entry.synonyms if synonyms else ()
    return configs.DescribeConfigsResourceResult(
        entry.name,
        entry.value,
        entry.is_read_only,
        is_default=entry.source == DEFAULT,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=[configs.DescribeConfigsSynonym(*synonym) for synonym in named],
        config_type=entry.type,
        documentation=None,
    )


class IncrementalAlterConfigs(OfResources):
    """IncrementalAlterConfigs (KIP-339): of topics, brokers and groups (4.0)."""

    def ask(self, call: Call[configs.IncrementalAlterConfigsRequest]) -> list[AnyMessage]:
        """Alter each resource in a request of its own."""
        request = call.message
        return [self._change(resource, request) for resource in request.resources]

    def _change(
        self,
        resource: configs.AlterConfigsResource,
        request: configs.IncrementalAlterConfigsRequest,
    ) -> AnyMessage:
        kind, name = resource.resource_type, resource.resource_name
        if reason := _refusal(resource):
            return protocol.TopicsResponse(0, {name: "INVALID_REQUEST"}, {name: reason})
        changes: dict[int, dict[str, str]] = {SET: {}, DELETE: {}, APPEND: {}, SUBTRACT: {}}
        for config in resource.configs:
            changes[config.config_operation][config.name] = config.value or ""
        removed = dict.fromkeys(changes[DELETE], "")
        if kind == TOPIC:
            return protocol.AlterConfigsRequest(
                {name: changes[SET] | removed},
                request.validate_only,
                appended={name: changes[APPEND]},
                subtracted={name: changes[SUBTRACT]},
            )
        is_group = kind == GROUP and self.has_groups
        if is_group and (refused := _changed_list(name, changes)):
            return refused
        if (is_group or kind == BROKER) and not (changes[APPEND] or changes[SUBTRACT]):
            values = {**changes[SET], **dict.fromkeys(removed)}
            return protocol.IncrementalAlterConfigsRequest(
                kind, name, values, request.validate_only
            )
        reason = "Topics, brokers and groups (4.0) can be altered here, and lists of topics."
        return protocol.TopicsResponse(0, {name: "INVALID_REQUEST"}, {name: reason})

    def respond(
        self, call: Call[configs.IncrementalAlterConfigsRequest], *responses: AnyMessage
    ) -> Message:
        rows = [
            configs.AlterConfigsResourceResponse(*_altered(resource, response))
            for resource, response in zip(call.message.resources, responses, strict=True)
        ]
        return configs.IncrementalAlterConfigsResponse(responses=rows)


def _changed_list(group: str, changes: dict[int, dict[str, str]]) -> AnyMessage | None:
    """The refusal to append to a group's value, or to subtract from it.

    A controller knows no types of groups' configurations, so that even those that are lists are
    none to it (``KafkaConfigSchema``; recorded with 4.4.0).
    """
    for operation, word in ((APPEND, "APPEND"), (SUBTRACT, "SUBTRACT")):
        for name in changes[operation]:
            reason = f"Can't {word} to key {name} because its type is not LIST."
            return protocol.TopicsResponse(0, {group: "INVALID_CONFIG"}, {group: reason})
    return None


def _refusal(resource: configs.AlterConfigsResource) -> str | None:
    """Why a broker refuses a request before it asks the controller; None if it does not.

    Source: ``ConfigAdminManager.preprocess``.
    """
    if len({config.name for config in resource.configs}) < len(resource.configs):
        return "A config may be named once."
    for config in resource.configs:
        if config.config_operation not in OPERATIONS:
            return f"There is no operation {config.config_operation}."
        if config.config_operation != DELETE and config.value is None:
            return f"{config.name} cannot be set to null: delete it."
    return None


class AlterConfigs(OfResources):
    """AlterConfigs: replace all configs of topics, brokers or groups (KIP-133)."""

    def ask(self, call: Call[alter_configs.AlterConfigsRequest]) -> list[AnyMessage]:
        """Alter each resource in a request of its own."""
        request = call.message
        return [self._change(resource, request) for resource in request.resources]

    def _change(
        self,
        resource: alter_configs.AlterConfigsResource,
        request: alter_configs.AlterConfigsRequest,
    ) -> AnyMessage:
        kind, name = resource.resource_type, resource.resource_name
        values = {config.name: config.value or "" for config in resource.configs}
        if kind == TOPIC:
            return protocol.AlterConfigsRequest(
                {name: values}, request.validate_only, replaces=True
            )
        if kind == BROKER or (kind == GROUP and self.has_groups):
            return protocol.IncrementalAlterConfigsRequest(
                kind, name, dict(values), request.validate_only, replaces=True
            )
        reason = "Topics, brokers and groups (4.0) can be altered here."
        return protocol.TopicsResponse(0, {name: "INVALID_REQUEST"}, {name: reason})

    def respond(
        self, call: Call[alter_configs.AlterConfigsRequest], *responses: AnyMessage
    ) -> Message:
        rows = [
            alter_configs.AlterConfigsResourceResponse(*_altered(resource, response))
            for resource, response in zip(call.message.resources, responses, strict=True)
        ]
        return alter_configs.AlterConfigsResponse(responses=rows)


def _altered(
    resource: configs.AlterConfigsResource | alter_configs.AlterConfigsResource,
    response: AnyMessage,
) -> tuple[int, str | None, int, str]:
    """The result for a resource: error code and message, and which it is."""
    assert isinstance(response, protocol.TopicsResponse | protocol.AdminResponse), response
    name, reasons = resource.resource_name, response.messages
    error = response.errors.get(name, getattr(response, "error", NONE))
    return ERRORS[error].code, reasons.get(name), resource.resource_type, name


class ElectLeaders:
    """ElectLeaders: preferred or unclean leader election (KIP-460)."""

    def ask(self, call: Call[partitions.ElectLeadersRequest]) -> list[AnyMessage]:
        """Request the election for all partitions at once."""
        request = call.message
        if request.topic_partitions == []:  # null are all partitions
            return [protocol.ElectLeadersResponse(0, NONE, {})]
        named = [
            tp_of(topic.topic, number)
            for topic in request.topic_partitions or ()
            for number in topic.partitions
        ]
        return [protocol.ElectLeadersRequest(named, unclean=request.election_type == 1)]

    def respond(self, _call: AnyCall, response: protocol.ElectLeadersResponse) -> Message:
        topics = by_topic(
            response.errors,
            lambda number, error: partitions.PartitionResult(number, ERRORS[error].code, None),
        )
        return partitions.ElectLeadersResponse(
            error_code=ERRORS[response.error].code,
            replica_election_results=[
                partitions.ReplicaElectionResult(*topic) for topic in topics.items()
            ],
        )


class AlterPartitionReassignments:
    """AlterPartitionReassignments (KIP-455)."""

    def ask(self, call: Call[partitions.AlterPartitionReassignmentsRequest]) -> list[AnyMessage]:
        targets = {
            tp_of(topic.name, partition.partition_index): partition.replicas
            for topic in call.message.topics
            for partition in topic.partitions
        }
        return [protocol.AlterPartitionReassignmentsRequest(targets)]

    def respond(
        self,
        call: Call[partitions.AlterPartitionReassignmentsRequest],
        *responses: protocol.AlterPartitionReassignmentsResponse,
    ) -> Message:
        (response,) = responses
        topics = []
        for topic in call.message.topics:
            rows = []
            for partition in topic.partitions:
                number = partition.partition_index
                error = response.errors.get(tp_of(topic.name, number), response.error)
                code = ERRORS[error].code
                rows.append(partitions.ReassignablePartitionResponse(number, code, None))
            topics.append(partitions.ReassignableTopicResponse(topic.name, rows))
        return partitions.AlterPartitionReassignmentsResponse(
            error_code=ERRORS[response.error].code, error_message=None, responses=topics
        )


class ListPartitionReassignments:
    """ListPartitionReassignments (KIP-455)."""

    def ask(self, _call: AnyCall) -> list[AnyMessage]:
        return [protocol.ListPartitionReassignmentsRequest()]

    def respond(
        self,
        call: Call[partitions.ListPartitionReassignmentsRequest],
        response: protocol.ListPartitionReassignmentsResponse,
    ) -> Message:
        """Return the reassignments of the named partitions, or all."""
        request = call.message
        moves = response.moves
        if request.topics is not None:
            named = {
                tp_of(topic.name, number)
                for topic in request.topics
                for number in topic.partition_indexes
            }
            moves = {tp: move for tp, move in moves.items() if tp in named}
        topics = by_topic(moves, _ongoing)
        return partitions.ListPartitionReassignmentsResponse(
            error_code=ERRORS[response.error].code,
            error_message=None,
            topics=[partitions.OngoingTopicReassignment(*topic) for topic in topics.items()],
        )


def _ongoing(
    number: int, move: tuple[list[int], list[int]]
) -> partitions.OngoingPartitionReassignment:
    original, target = move
    removed = [broker for broker in original if broker not in target]
    added = [broker for broker in target if broker not in original]
    return partitions.OngoingPartitionReassignment(number, [*target, *removed], added, removed)
