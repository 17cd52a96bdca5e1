"""Admin requests of external clients: topics, partitions, configs, elections, reassignments."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator import protocol
from emulator.clients.context import ClientContext
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.ids import by_topic, tp_of, uuid_bytes
from emulator.clients.external.metadata import TopicIds
from emulator.common.errors import ERRORS, NONE
from emulator.common.names import METADATA_TOPIC
from emulator.protocol import AnyMessage
from emulator.releases.broker_configs import broker_configs
from emulator.releases.config_descriptions import DEFAULT, ConfigEntry, unexpected_broker
from emulator.releases.group_configs import group_configs
from emulator.wire.messages import alter_configs, configs, offsets, partitions
from emulator.wire.messages import topics as wire
from emulator.wire.types import NO_UUID, Message

US_PER_MS: Final = 1_000
TOPIC: Final = 2
BROKER: Final = 4
BROKER_LOGGER: Final = 8
CLIENT_METRICS: Final = 16
GROUP: Final = 32
"""Types of config resources (``ConfigResource.Type``)."""
SET: Final = 0
DELETE: Final = 1
APPEND: Final = 2
SUBTRACT: Final = 3
"""Operations on config values (``AlterConfigOp.OpType``)."""
PREFERRED: Final = 0
UNCLEAN: Final = 1
ELECTIONS: Final = (PREFERRED, UNCLEAN)
"""Types of elections (``ElectionType``)."""

AnyResource = configs.AlterConfigsResource | alter_configs.AlterConfigsResource


class CreateTopics(Struct, eq=False):
    """CreateTopics: completed when the topics have leaders."""

    context: ClientContext
    known_ids: TopicIds

    def ask(self, call: Call[wire.CreateTopicsRequest]) -> list[AnyMessage]:
        """Create all topics in one request, but those that are refused here."""
        request = call.message
        refused = _named_twice(request).keys() | self._prohibited(request)
        topics = {
            topic.name: protocol.NewTopic(
                topic.num_partitions,
                topic.replication_factor,
                {row.partition_index: row.broker_ids for row in topic.assignments},
                {config.name: config.value or "" for config in topic.configs},
            )
            for topic in request.topics
            if topic.name not in refused
        }
        timeout_us = request.timeout_ms * US_PER_MS
        return [protocol.CreateTopicsRequest(topics, timeout_us, request.validate_only)]

    def respond(
        self, call: Call[wire.CreateTopicsRequest], response: protocol.TopicsResponse
    ) -> Message:
        twice = _named_twice(call.message)
        rows = self._refused_twice(twice)
        rows += [self._prohibition() for _ in self._prohibited(call.message) - twice.keys()]
        for name, error in response.errors.items():
            made = response.created.get(name)
            row = wire.CreatableTopicResult(
                name, error_code=ERRORS[error].code, error_message=response.messages.get(name)
            )
            if made is not None and made.topic_id:  # also if the leaders are awaited in vain
                self.known_ids.replace(name, made.topic_id)
                row = replace(row, topic_id=uuid_bytes(made.topic_id))
            if made is not None and error == NONE:
                row = replace(
                    row,
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

    def _prohibited(self, request: wire.CreateTopicsRequest) -> set[str]:
        """The topics of a request that nobody may create: since 3.3, that of the metadata log."""
        if not self.context.profile.has("metadata_topic_prohibited"):
            return set()
        return {topic.name for topic in request.topics} & {METADATA_TOPIC}

    def _prohibition(self) -> wire.CreatableTopicResult:
        if self.context.profile.has("metadata_topic_prohibition_explained"):
            code = ERRORS["INVALID_REQUEST"].code
            reason = f"Creation of internal topic {METADATA_TOPIC} is prohibited."
            return wire.CreatableTopicResult(METADATA_TOPIC, error_code=code, error_message=reason)
        code = ERRORS["TOPIC_AUTHORIZATION_FAILED"].code
        return wire.CreatableTopicResult(
            METADATA_TOPIC,
            error_code=code,
            error_message="Authorization failed.",
            topic_config_error_code=code,
        )

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


def _named_twice(
    request: wire.CreateTopicsRequest | wire.CreatePartitionsRequest,
) -> dict[str, int]:
    """How often a request names the topics that it names more than once."""
    times = Counter(topic.name for topic in request.topics)
    return {name: count for name, count in times.items() if count > 1}


class DeleteTopics(Struct, eq=False):
    """DeleteTopics: by name, or by id from version 6 on.

    Source: ``KafkaApis.handleDeleteTopicsRequest``, ``ControllerApis.deleteTopics``.
    """

    context: ClientContext
    known_ids: TopicIds

    def ask(self, call: Call[wire.DeleteTopicsRequest]) -> list[AnyMessage]:
        """Delete the topics that the request names or gives the ids of, those that it can mean."""
        request = call.message
        if self._is_refused(request):
            return []
        names, _ = self._meant(request)
        if not self.context.in_kraft_mode:
            names = list(dict.fromkeys(names))
        return [protocol.DeleteTopicsRequest(names, request.timeout_ms * US_PER_MS)]

    def respond(
        self, call: Call[wire.DeleteTopicsRequest], *responses: protocol.TopicsResponse
    ) -> Message:
        """Return the result for each topic, those that are not looked for first.

        A controller in KRaft mode also tells the ids of topics that are deleted by name; a broker
        with ZooKeeper answers for each time that a topic is named, since 2.4.
        """
        request, is_kraft = call.message, self.context.in_kraft_mode
        if not responses:
            code = ERRORS["INVALID_REQUEST"].code
            return wire.DeleteTopicsResponse(
                responses=[
                    wire.DeletableTopicResult(topic.name, topic.topic_id, code)
                    for topic in request.topics
                ]
            )
        (response,) = responses
        names, rows = self._meant(request)
        ids = {
            self.known_ids.name(topic.topic_id): topic.topic_id
            for topic in request.topics
            if topic.name is None
        }
        times = Counter(names)
        each_time = not is_kraft and self.context.profile.has("topics_named_twice_answered_twice")
        for name, error in response.errors.items():
            topic_id = ids.get(name, NO_UUID)
            if is_kraft and error == NONE:
                topic_id = self.known_ids.id(name)
            code, reason = ERRORS[error].code, response.messages.get(name)
            row = wire.DeletableTopicResult(name, topic_id, code, reason)
            rows += [row] * (times[name] if each_time else 1)
        return wire.DeleteTopicsResponse(responses=rows)

    def _is_refused(self, request: wire.DeleteTopicsRequest) -> bool:
        """Whether a broker with ZooKeeper refuses all topics: one has both a name and an id."""
        return not self.context.in_kraft_mode and any(map(_has_both, request.topics))

    def _meant(
        self, request: wire.DeleteTopicsRequest
    ) -> tuple[list[str], list[wire.DeletableTopicResult]]:
        """The names of the topics to delete, and the results for those that are not looked for."""
        is_kraft = self.context.in_kraft_mode
        names, rows = list(request.topic_names), []
        ids: Counter[bytes] = Counter()
        for topic in request.topics:
            if _has_both(topic):
                reason = "You may not specify both topic name and topic id."
                rows.append(_not_deleted(topic.name, topic.topic_id, "INVALID_REQUEST", reason))
            elif topic.name is not None:
                names.append(topic.name)
            elif topic.topic_id != NO_UUID:
                ids[topic.topic_id] += 1
            elif is_kraft:
                reason = "Neither topic name nor id were specified."
                rows.append(_not_deleted(None, NO_UUID, "INVALID_REQUEST", reason))
            else:
                rows.append(_not_deleted(None, NO_UUID, "TOPIC_AUTHORIZATION_FAILED"))
        for topic_id, times in ids.items():
            name = self.known_ids.name(topic_id)
            if is_kraft and times > 1:
                reason = "Duplicate topic id."
                rows.append(_not_deleted(None, topic_id, "INVALID_REQUEST", reason))
            elif name is None:
                rows += [_not_deleted(None, topic_id, "UNKNOWN_TOPIC_ID")] * times
            else:
                names += [name] * times
        return names, rows


def _has_both(topic: wire.DeleteTopicState) -> bool:
    return topic.name is not None and topic.topic_id != NO_UUID


def _not_deleted(
    name: str | None, topic_id: bytes, error: str, reason: str | None = None
) -> wire.DeletableTopicResult:
    return wire.DeletableTopicResult(name, topic_id, ERRORS[error].code, reason)


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


class CreatePartitions(Struct, eq=False):
    """CreatePartitions."""

    context: ClientContext

    def ask(self, call: Call[wire.CreatePartitionsRequest]) -> list[AnyMessage]:
        """Add partitions to all topics in one request, but those that it names twice."""
        request = call.message
        twice = _named_twice(request)
        topics = {
            topic.name: (topic.count, [row.broker_ids for row in topic.assignments or ()])
            for topic in request.topics
            if topic.name not in twice
        }
        timeout_us = request.timeout_ms * US_PER_MS
        return [protocol.CreatePartitionsRequest(topics, timeout_us, request.validate_only)]

    def respond(
        self, call: Call[wire.CreatePartitionsRequest], response: protocol.TopicsResponse
    ) -> Message:
        is_kraft = self.context.in_kraft_mode
        reason = "Duplicate topic name." if is_kraft else "Duplicate topic in request."
        code = ERRORS["INVALID_REQUEST"].code
        rows = [
            wire.CreatePartitionsTopicResult(name, code, reason)
            for name in _named_twice(call.message)
        ]
        rows += [
            wire.CreatePartitionsTopicResult(name, ERRORS[error].code, response.messages.get(name))
            for name, error in response.errors.items()
        ]
        return wire.CreatePartitionsResponse(results=rows)


class OfResources:
    """A request about the configurations of topics, brokers and groups (4.0)."""

    def __init__(self, context: ClientContext) -> None:
        self.profile = context.profile
        self.has_groups = bool(group_configs(context.profile.numbers))
        self.checks_each = context.profile.has("wrong_value_is_invalid_config")
        self.has_no_nulls = context.profile.has("descriptions_without_null")
        self.no_message = "" if self.has_no_nulls else None

    def is_unexpected(self, kind: int) -> bool:
        """Whether no broker of the release expects a type of resources in a request."""
        known = {TOPIC, BROKER}
        if self.profile.has("broker_logger_resources"):
            known.add(BROKER_LOGGER)
        if self.profile.has("client_metrics_resources"):
            known.add(CLIENT_METRICS)
        if self.has_groups:
            known.add(GROUP)
        return kind not in known


class DescribeConfigs(OfResources):
    """DescribeConfigs: of topics, groups (4.0), and the broker that receives the request.

    An unexpected type of resource refuses the whole request (``ConfigHelper``, ``KafkaApis``). The
    brokers here have no loggers.
    """

    def ask(self, call: Call[configs.DescribeConfigsRequest]) -> list[AnyMessage]:
        resources = call.message.resources
        if any(self.is_unexpected(resource.resource_type) for resource in resources):
            return [protocol.DescribeConfigsResponse(0, "INVALID_REQUEST") for _ in resources]
        return [self._description(resource, call.connection.broker) for resource in resources]

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
                if self.is_requested(entry.name, keys)
            ]
            code = ERRORS[response.error].code
            kind, name = resource.resource_type, resource.resource_name
            reason = response.message or self.no_message
            results.append(configs.DescribeConfigsResult(code, reason, kind, name, rows))
        return configs.DescribeConfigsResponse(results=results)

    def is_requested(self, name: str, keys: Sequence[str] | None) -> bool:
        """Whether a request for some configurations, or for all, includes this one."""
        if not keys:
            return keys is None or self.has_no_nulls
        return name in keys

    def _description(self, resource: configs.DescribeConfigsResource, broker: int) -> AnyMessage:
        if resource.resource_type == TOPIC:
            return protocol.DescribeConfigsRequest(resource.resource_name)
        if resource.resource_type == BROKER:
            return protocol.DescribeConfigsRequest(None, resource.resource_name)
        if resource.resource_type == GROUP:
            return protocol.DescribeConfigsRequest(None, group=resource.resource_name)
        if resource.resource_type == BROKER_LOGGER:
            reason = unexpected_broker(resource.resource_name, broker, or_all=False)
            return protocol.DescribeConfigsResponse(
                0, "INVALID_REQUEST" if reason else NONE, message=reason
            )
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


class AltersResources(OfResources):
    """A request that alters configurations, each resource by a message of its own.

    Source: ``ConfigAdminManager.preprocess``; before 3.3 ``KafkaApis`` and ``ZkAdminManager``.
    """

    def refusals(self, resources: Sequence[AnyResource]) -> list[AnyMessage | None]:
        """Why a broker refuses resources before it asks the controller; None if it does not.

        Before 3.3 an unexpected type of resource refuses the whole request.
        """
        if not self.checks_each:
            if any(self.is_unexpected(resource.resource_type) for resource in resources):
                reason = "Unexpected resource type UNKNOWN"
                return [_refused(resource, "INVALID_REQUEST", reason) for resource in resources]
            return [self._refusal(resource) for resource in resources]
        times = Counter((resource.resource_type, resource.resource_name) for resource in resources)
        return [
            _refused(resource, "INVALID_REQUEST", "Each resource must appear at most once.")
            if times[resource.resource_type, resource.resource_name] > 1
            else self._refusal(resource)
            for resource in resources
        ]

    def _refusal(self, resource: AnyResource) -> AnyMessage | None:
        """Why one resource is refused; before 3.3 a name that replaces twice is the last one."""
        kind = resource.resource_type
        looks_closely = self.checks_each or isinstance(resource, configs.AlterConfigsResource)
        keys = [config.name for config in resource.configs]
        if looks_closely and len({*keys}) < len(keys):
            return _refused(resource, "INVALID_REQUEST", "Error due to duplicate config keys")
        nulls = [config.name for config in resource.configs if _is_null(config)]
        if nulls:
            if not looks_closely and not self.profile.has("null_values_are_refused"):
                return _refused(resource, "UNKNOWN_SERVER_ERROR")
            reason = f"Null value not supported for : {', '.join(nulls)}"
            return _refused(resource, "INVALID_REQUEST", reason)
        if self.is_unexpected(kind):
            return _refused(resource, "INVALID_REQUEST", f"Unknown resource type {kind}")
        if kind not in (TOPIC, BROKER, GROUP):
            reason = "Topics, brokers and groups (4.0) can be altered here."
            return _refused(resource, "INVALID_REQUEST", reason)
        return None

    @staticmethod
    def rows(
        resources: Sequence[AnyResource], responses: Sequence[AnyMessage]
    ) -> list[configs.AlterConfigsResourceResponse]:
        """Return the result for each resource: error code and message, and which it is."""
        rows = []
        for resource, response in zip(resources, responses, strict=True):
            assert isinstance(response, protocol.TopicsResponse | protocol.AdminResponse), response
            name = resource.resource_name
            error = response.errors.get(name, getattr(response, "error", NONE))
            code, reason = ERRORS[error].code, response.messages.get(name)
            row = configs.AlterConfigsResourceResponse(code, reason, resource.resource_type, name)
            rows.append(row)
        return rows


def _refused(resource: AnyResource, error: str, reason: str = "") -> protocol.TopicsResponse:
    name = resource.resource_name
    return protocol.TopicsResponse(0, {name: error}, {name: reason} if reason else {})


def _is_null(config: configs.AlterableConfig | alter_configs.AlterableConfig) -> bool:
    """Whether a value is null that has to be one: only who deletes a value gives none."""
    return config.value is None and getattr(config, "config_operation", SET) != DELETE


class IncrementalAlterConfigs(AltersResources):
    """IncrementalAlterConfigs (KIP-339): of topics, brokers and groups (4.0)."""

    def ask(self, call: Call[configs.IncrementalAlterConfigsRequest]) -> list[AnyMessage]:
        """Alter each resource in a request of its own."""
        request = call.message
        return [
            refusal or self._change(resource, validate_only=request.validate_only)
            for resource, refusal in zip(
                request.resources, self.refusals(request.resources), strict=True
            )
        ]

    def _change(self, resource: configs.AlterConfigsResource, *, validate_only: bool) -> AnyMessage:
        kind, name = resource.resource_type, resource.resource_name
        changes: dict[int, dict[str, str]] = {SET: {}, DELETE: {}, APPEND: {}, SUBTRACT: {}}
        for config in resource.configs:
            if config.config_operation not in changes:
                is_told = self.checks_each and kind == BROKER
                return _refused(resource, "INVALID_REQUEST" if is_told else "UNKNOWN_SERVER_ERROR")
            changes[config.config_operation][config.name] = config.value or ""
        removed = dict.fromkeys(changes[DELETE], "")
        if kind == TOPIC:
            return protocol.AlterConfigsRequest(
                {name: changes[SET] | removed},
                validate_only,
                appended={name: changes[APPEND]},
                subtracted={name: changes[SUBTRACT]},
            )
        if refusal := self._changed_list(resource):
            return refusal
        values = {**changes[SET], **dict.fromkeys(removed)}
        return protocol.IncrementalAlterConfigsRequest(kind, name, values, validate_only)

    def _changed_list(self, resource: configs.AlterConfigsResource) -> AnyMessage | None:
        """The refusal to append to a value of a group or broker, or to subtract from it.

        A controller knows no types of groups' configurations, so that even those that are lists are
        none to it (``KafkaConfigSchema``; recorded with 4.4.0). A broker knows the types of its own
        (``ConfigAdminManager.prepareIncrementalConfigs``); their lists cannot be changed here.
        """
        for config in resource.configs:
            if config.config_operation not in (APPEND, SUBTRACT):
                continue
            word = "append" if config.config_operation == APPEND else "subtract"
            if resource.resource_type == GROUP:
                reason = f"Can't {word.upper()} to key {config.name} because its type is not LIST."
                return _refused(resource, "INVALID_CONFIG", reason)
            key = broker_configs(self.profile.numbers).get(config.name)
            if key is not None and key.type == "LIST":
                reason = "Lists of topics can be changed here, and values of brokers be set."
                return _refused(resource, "INVALID_REQUEST", reason)
            reason = f"Config value {word} is not allowed for config key: {config.name}"
            error = "INVALID_CONFIG" if self.checks_each else "INVALID_REQUEST"
            return _refused(resource, error, reason)
        return None

    def respond(
        self, call: Call[configs.IncrementalAlterConfigsRequest], *responses: AnyMessage
    ) -> Message:
        rows = self.rows(call.message.resources, responses)
        return configs.IncrementalAlterConfigsResponse(responses=rows)


class AlterConfigs(AltersResources):
    """AlterConfigs: replace all configs of topics, brokers or groups (KIP-133)."""

    def ask(self, call: Call[alter_configs.AlterConfigsRequest]) -> list[AnyMessage]:
        """Alter each resource in a request of its own."""
        request = call.message
        return [
            refusal or self._replacement(resource, validate_only=request.validate_only)
            for resource, refusal in zip(
                request.resources, self.refusals(request.resources), strict=True
            )
        ]

    def _replacement(
        self, resource: alter_configs.AlterConfigsResource, *, validate_only: bool
    ) -> AnyMessage:
        kind, name = resource.resource_type, resource.resource_name
        values = {config.name: config.value or "" for config in resource.configs}
        if kind == TOPIC:
            return protocol.AlterConfigsRequest({name: values}, validate_only, replaces=True)
        return protocol.IncrementalAlterConfigsRequest(
            kind, name, dict(values), validate_only, replaces=True
        )

    def respond(
        self, call: Call[alter_configs.AlterConfigsRequest], *responses: AnyMessage
    ) -> Message:
        rows = self.rows(call.message.resources, responses)
        if not self.checks_each:  # the row is made of a ConfigResource, whose type is unknown then
            rows = [
                replace(row, resource_type=0) if self.is_unexpected(row.resource_type) else row
                for row in rows
            ]
        return alter_configs.AlterConfigsResponse(responses=rows)


class ElectLeaders(Struct, eq=False):
    """ElectLeaders: preferred or unclean leader election (KIP-460)."""

    context: ClientContext

    def ask(self, call: Call[partitions.ElectLeadersRequest]) -> list[AnyMessage]:
        """Request the election for all partitions at once.

        A broker with ZooKeeper fails to read an unknown type; a controller refuses it
        (``ElectionType.valueOf``, ``ReplicationControlManager.electLeaders``).
        """
        request = call.message
        if request.election_type not in ELECTIONS:
            error = "INVALID_REQUEST" if self.context.in_kraft_mode else "UNKNOWN_SERVER_ERROR"
            return [
                protocol.ElectLeadersResponse(
                    0,
                    error,
                    {
                        tp_of(topic.topic, number): error
                        for topic in request.topic_partitions or ()
                        for number in topic.partitions
                    },
                )
            ]
        if request.topic_partitions == []:  # null are all partitions
            return [protocol.ElectLeadersResponse(0, NONE, {})]
        named = [
            tp_of(topic.topic, number)
            for topic in request.topic_partitions or ()
            for number in topic.partitions
        ]
        return [protocol.ElectLeadersRequest(named, unclean=request.election_type == UNCLEAN)]

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
        allowed = call.message.allow_replication_factor_change
        return [protocol.AlterPartitionReassignmentsRequest(targets, allowed)]

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
            allow_replication_factor_change=call.message.allow_replication_factor_change,
            error_code=ERRORS[response.error].code,
            error_message=None,
            responses=topics,
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
