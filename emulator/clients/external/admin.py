"""Admin requests of external clients: topics, partitions, configs, elections, reassignments."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from emulator import protocol
from emulator.clients.context import ClientContext
from emulator.clients.external.call import Call
from emulator.clients.external.ids import split_tp, tp_of, uuid_bytes
from emulator.clients.external.metadata import TopicIds
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.releases.config_descriptions import DEFAULT, ConfigEntry
from emulator.releases.group_configs import group_configs
from emulator.wire.messages import alter_configs, configs, offsets, partitions
from emulator.wire.messages import topics as wire
from emulator.wire.types import Message

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


class CreateTopics:
    """CreateTopics: completed when the topics have leaders."""

    def __init__(self, context: ClientContext) -> None:
        """Answer as the release and mode of ``context`` do."""
        self.context = context

    def ask(self, call: Call) -> list[AnyMessage]:
        """Create all topics in one request, but those that it names twice."""
        request = call.message
        assert isinstance(request, wire.CreateTopicsRequest)
        twice = _named_twice(request)
        topics = {
            topic.name: protocol.NewTopic(
                topic.num_partitions,
                topic.replication_factor,
                {each.partition_index: each.broker_ids for each in topic.assignments},
                {each.name: each.value or "" for each in topic.configs},
            )
            for topic in request.topics
            if topic.name not in twice
        }
        timeout_us = request.timeout_ms * US_PER_MS
        return [protocol.CreateTopicsRequest(topics, timeout_us, request.validate_only)]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the result for each topic."""
        (found,) = responses
        assert isinstance(found, protocol.TopicsResponse)
        assert isinstance(call.message, wire.CreateTopicsRequest)
        rows = self._refused_twice(_named_twice(call.message))
        for name, error in found.errors.items():
            made = found.created.get(name) if error == NONE else None
            row = wire.CreatableTopicResult(
                name, error_code=ERRORS[error].code, error_message=found.messages.get(name)
            )
            if made is not None:
                row = replace(
                    row,
                    topic_id=uuid_bytes(made.topic_id) if made.topic_id else row.topic_id,
                    topic_config_error_code=ERRORS[made.config_error].code,
                    num_partitions=made.partitions,
                    replication_factor=made.replication_factor,
                    configs=[
                        wire.CreatableTopicConfigs(
                            each.name, each.value, each.is_read_only, each.source
                        )
                        for each in made.entries
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
    times = Counter(each.name for each in request.topics)
    return {name: count for name, count in times.items() if count > 1}


class DeleteTopics:
    """DeleteTopics: by name, or by id from version 6 on."""

    def __init__(self, known_ids: TopicIds) -> None:
        """Look up topic names in ``known_ids``."""
        self.known_ids = known_ids

    def ask(self, call: Call) -> list[AnyMessage]:
        """Delete all topics in one request."""
        request = call.message
        assert isinstance(request, wire.DeleteTopicsRequest)
        names = [each.name or self.known_ids.name(each.topic_id) for each in request.topics]
        names += request.topic_names
        timeout_us = request.timeout_ms * US_PER_MS
        return [protocol.DeleteTopicsRequest([name for name in names if name], timeout_us)]

    def respond(self, _call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the result for each topic."""
        (found,) = responses
        assert isinstance(found, protocol.TopicsResponse)
        rows = [
            wire.DeletableTopicResult(
                name, error_code=ERRORS[error].code, error_message=found.messages.get(name)
            )
            for name, error in found.errors.items()
        ]
        return wire.DeleteTopicsResponse(responses=rows)


class DeleteRecords:
    """DeleteRecords (KIP-107): completed when the leader and the live followers have deleted."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Delete records of all partitions in one request."""
        request = call.message
        assert isinstance(request, offsets.DeleteRecordsRequest)
        wanted = {
            tp_of(topic.name, each.partition_index): each.offset
            for topic in request.topics
            for each in topic.partitions
        }
        return [protocol.DeleteRecordsRequest(wanted, request.timeout_ms * US_PER_MS)]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the new log start offset of each partition."""
        request = call.message
        assert isinstance(request, offsets.DeleteRecordsRequest)
        (found,) = responses
        assert isinstance(found, protocol.DeleteRecordsResponse)
        topics = []
        for topic in request.topics:
            rows = []
            for each in topic.partitions:
                error, start = found.results[tp_of(topic.name, each.partition_index)]
                code = ERRORS[error].code
                rows.append(offsets.DeleteRecordsPartitionResult(each.partition_index, start, code))
            topics.append(offsets.DeleteRecordsTopicResult(topic.name, rows))
        return offsets.DeleteRecordsResponse(topics=topics)


class CreatePartitions:
    """CreatePartitions."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Add partitions to all topics in one request."""
        request = call.message
        assert isinstance(request, wire.CreatePartitionsRequest)
        topics = {
            topic.name: (topic.count, [each.broker_ids for each in topic.assignments or ()])
            for topic in request.topics
        }
        timeout_us = request.timeout_ms * US_PER_MS
        return [protocol.CreatePartitionsRequest(topics, timeout_us, request.validate_only)]

    def respond(self, _call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the result for each topic."""
        (found,) = responses
        assert isinstance(found, protocol.TopicsResponse)
        rows = [
            wire.CreatePartitionsTopicResult(name, ERRORS[error].code, found.messages.get(name))
            for name, error in found.errors.items()
        ]
        return wire.CreatePartitionsResponse(results=rows)


class DescribeConfigs:
    """DescribeConfigs: of topics, groups (4.0), and the broker that receives the request."""

    def __init__(self, context: ClientContext) -> None:
        """Describe what the release of ``context`` has."""
        self.has_groups = bool(group_configs(context.profile.numbers))

    def ask(self, call: Call) -> list[AnyMessage]:
        """Request each resource's configs."""
        request = call.message
        assert isinstance(request, configs.DescribeConfigsRequest)
        return [self._description(each) for each in request.resources]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the values, their sources and, if requested, their synonyms."""
        request = call.message
        assert isinstance(request, configs.DescribeConfigsRequest)
        results = []
        for resource, found in zip(request.resources, responses, strict=True):
            assert isinstance(found, protocol.DescribeConfigsResponse)
            wanted = resource.configuration_keys
            rows = [
                _described(each, synonyms=request.include_synonyms)
                for each in found.entries
                if not wanted or each.name in wanted
            ]
            code = ERRORS[found.error].code
            kind, name = resource.resource_type, resource.resource_name
            reason = found.message if resource.resource_type == GROUP else None
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
    names = [configs.DescribeConfigsSynonym(*each) for each in entry.synonyms] if synonyms else []
    return configs.DescribeConfigsResourceResult(
        entry.name,
        entry.value,
        entry.is_read_only,
        is_default=entry.source == DEFAULT,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=names,
        config_type=entry.type,
        documentation=None,
    )


class IncrementalAlterConfigs:
    """IncrementalAlterConfigs (KIP-339): of topics, brokers and groups (4.0)."""

    def __init__(self, context: ClientContext) -> None:
        """Alter what the release of ``context`` has."""
        self.keys = group_configs(context.profile.numbers)

    def ask(self, call: Call) -> list[AnyMessage]:
        """Alter each resource in a request of its own."""
        request = call.message
        assert isinstance(request, configs.IncrementalAlterConfigsRequest)
        return [self._change(each, request) for each in request.resources]

    def _change(
        self,
        resource: configs.AlterConfigsResource,
        request: configs.IncrementalAlterConfigsRequest,
    ) -> AnyMessage:
        kind, name = resource.resource_type, resource.resource_name
        if reason := _refusal(resource):
            return protocol.TopicsResponse(0, {name: "INVALID_REQUEST"}, {name: reason})
        changes: dict[int, dict[str, str]] = {SET: {}, DELETE: {}, APPEND: {}, SUBTRACT: {}}
        for each in resource.configs:
            changes[each.config_operation][each.name] = each.value or ""
        removed = dict.fromkeys(changes[DELETE], "")
        if kind == TOPIC:
            return protocol.AlterConfigsRequest(
                {name: changes[SET] | removed},
                request.validate_only,
                appended={name: changes[APPEND]},
                subtracted={name: changes[SUBTRACT]},
            )
        is_group = kind == GROUP and bool(self.keys)
        if is_group and (refused := self._changed_list(name, changes)):
            return refused
        if (is_group or kind == BROKER) and not (changes[APPEND] or changes[SUBTRACT]):
            values = {**changes[SET], **dict.fromkeys(removed)}
            return protocol.IncrementalAlterConfigsRequest(
                kind, name, values, request.validate_only
            )
        reason = "Topics, brokers and groups (4.0) can be altered here, and lists of topics."
        return protocol.TopicsResponse(0, {name: "INVALID_REQUEST"}, {name: reason})

    def _changed_list(self, group: str, changes: dict[int, dict[str, str]]) -> AnyMessage | None:
        """The refusal to change a group's value that is no list."""
        for operation, word in ((APPEND, "APPEND"), (SUBTRACT, "SUBTRACT")):
            for name in changes[operation]:
                if name not in self.keys or self.keys[name].type != "LIST":
                    reason = f"Can't {word} to key {name} because its type is not LIST."
                    return protocol.TopicsResponse(0, {group: "INVALID_CONFIG"}, {group: reason})
        return None

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the result for each resource."""
        request = call.message
        assert isinstance(request, configs.IncrementalAlterConfigsRequest)
        rows = [
            configs.AlterConfigsResourceResponse(*_altered(each, found))
            for each, found in zip(request.resources, responses, strict=True)
        ]
        return configs.IncrementalAlterConfigsResponse(responses=rows)


def _refusal(resource: configs.AlterConfigsResource) -> str | None:
    """Why a broker refuses a request before it asks the controller; None if it does not.

    Source: ``ConfigAdminManager.preprocess``.
    """
    if len({each.name for each in resource.configs}) < len(resource.configs):
        return "A config may be named once."
    for each in resource.configs:
        if each.config_operation not in OPERATIONS:
            return f"There is no operation {each.config_operation}."
        if each.config_operation != DELETE and each.value is None:
            return f"{each.name} cannot be set to null: delete it."
    return None


class AlterConfigs:
    """AlterConfigs: replace all configs of topics, brokers or groups (KIP-133)."""

    def __init__(self, context: ClientContext) -> None:
        """Alter what the release of ``context`` has."""
        self.has_groups = bool(group_configs(context.profile.numbers))

    def ask(self, call: Call) -> list[AnyMessage]:
        """Alter each resource in a request of its own."""
        request = call.message
        assert isinstance(request, alter_configs.AlterConfigsRequest)
        return [self._change(each, request) for each in request.resources]

    def _change(
        self,
        resource: alter_configs.AlterConfigsResource,
        request: alter_configs.AlterConfigsRequest,
    ) -> AnyMessage:
        kind, name = resource.resource_type, resource.resource_name
        values = {each.name: each.value or "" for each in resource.configs}
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

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the result for each resource."""
        request = call.message
        assert isinstance(request, alter_configs.AlterConfigsRequest)
        rows = [
            alter_configs.AlterConfigsResourceResponse(*_altered(each, found))
            for each, found in zip(request.resources, responses, strict=True)
        ]
        return alter_configs.AlterConfigsResponse(responses=rows)


def _altered(
    resource: configs.AlterConfigsResource | alter_configs.AlterConfigsResource, found: AnyMessage
) -> tuple[int, str | None, int, str]:
    """The result for a resource: error code and message, and which it is."""
    assert isinstance(found, protocol.TopicsResponse | protocol.AdminResponse), found
    name, reasons = resource.resource_name, getattr(found, "messages", {})
    error = found.errors.get(name, getattr(found, "error", NONE))
    return ERRORS[error].code, reasons.get(name), resource.resource_type, name


class ElectLeaders:
    """ElectLeaders: preferred or unclean leader election (KIP-460)."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Request the election for all partitions at once."""
        request = call.message
        assert isinstance(request, partitions.ElectLeadersRequest)
        named = [
            tp_of(each.topic, number)
            for each in request.topic_partitions or ()
            for number in each.partitions
        ]
        return [protocol.ElectLeadersRequest(named, unclean=request.election_type == 1)]

    def respond(self, _call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the result for each partition."""
        (found,) = responses
        assert isinstance(found, protocol.ElectLeadersResponse)
        topics: dict[str, list[partitions.PartitionResult]] = {}
        for tp, error in found.errors.items():
            topic, number = split_tp(tp)
            row = partitions.PartitionResult(number, ERRORS[error].code, None)
            topics.setdefault(topic, []).append(row)
        results = [partitions.ReplicaElectionResult(*each) for each in topics.items()]
        code = ERRORS[found.error].code
        return partitions.ElectLeadersResponse(error_code=code, replica_election_results=results)


class AlterPartitionReassignments:
    """AlterPartitionReassignments (KIP-455)."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Reassign all partitions in one request."""
        request = call.message
        assert isinstance(request, partitions.AlterPartitionReassignmentsRequest)
        wanted = {
            tp_of(topic.name, each.partition_index): each.replicas
            for topic in request.topics
            for each in topic.partitions
        }
        return [protocol.AlterPartitionReassignmentsRequest(wanted)]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the result for each partition."""
        request = call.message
        assert isinstance(request, partitions.AlterPartitionReassignmentsRequest)
        (found,) = responses
        assert isinstance(found, protocol.AlterPartitionReassignmentsResponse)
        rows = [
            partitions.ReassignableTopicResponse(
                topic.name,
                [
                    partitions.ReassignablePartitionResponse(
                        each.partition_index,
                        ERRORS[
                            found.errors.get(tp_of(topic.name, each.partition_index), found.error)
                        ].code,
                        None,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        code = ERRORS[found.error].code
        return partitions.AlterPartitionReassignmentsResponse(
            error_code=code, error_message=None, responses=rows
        )


class ListPartitionReassignments:
    """ListPartitionReassignments (KIP-455)."""

    def ask(self, _call: Call) -> list[AnyMessage]:
        """Request all ongoing reassignments."""
        return [protocol.ListPartitionReassignmentsRequest()]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the reassignments of the named partitions, or all."""
        request = call.message
        assert isinstance(request, partitions.ListPartitionReassignmentsRequest)
        (found,) = responses
        assert isinstance(found, protocol.ListPartitionReassignmentsResponse)
        wanted = None
        if request.topics is not None:
            wanted = {
                tp_of(t.name, number) for t in request.topics for number in t.partition_indexes
            }
        topics: dict[str, list[partitions.OngoingPartitionReassignment]] = {}
        for tp, (original, target) in found.moves.items():
            if wanted is None or tp in wanted:
                topic, number = split_tp(tp)
                removed = [broker for broker in original if broker not in target]
                added = [broker for broker in target if broker not in original]
                row = partitions.OngoingPartitionReassignment(
                    number, [*target, *removed], added, removed
                )
                topics.setdefault(topic, []).append(row)
        return partitions.ListPartitionReassignmentsResponse(
            error_code=ERRORS[found.error].code,
            error_message=None,
            topics=[partitions.OngoingTopicReassignment(*each) for each in topics.items()],
        )
