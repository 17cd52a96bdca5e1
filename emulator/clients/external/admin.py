"""Admin requests of external clients: topics, partitions, configs, elections, reassignments."""

from collections.abc import Sequence
from typing import Final

from emulator import protocol
from emulator.clients.external.call import Call
from emulator.clients.external.metadata import TopicIds
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.releases.config import ConfigError, ConfigType, check_dynamic, type_of
from emulator.wire.messages import alter_configs, configs, offsets, partitions
from emulator.wire.messages import topics as wire
from emulator.wire.types import Message

US_PER_MS: Final = 1_000
TOPIC: Final = 2
BROKER: Final = 4
"""Types of config resources (``ConfigResource.Type``)."""
DYNAMIC_TOPIC_CONFIG: Final = 1
DYNAMIC_BROKER_CONFIG: Final = 2
DEFAULT_CONFIG: Final = 5
"""Sources of config values (``DescribeConfigsResponse.ConfigSource``)."""
TYPES: Final[dict[ConfigType, int]] = {
    "BOOLEAN": 1,
    "STRING": 2,
    "INT": 3,
    "SHORT": 4,
    "LONG": 5,
    "DOUBLE": 6,
    "LIST": 7,
}
"""Types of config values (``DescribeConfigsResponse.ConfigType``)."""
SET: Final = 0
DELETE: Final = 1
APPEND: Final = 2
SUBTRACT: Final = 3
"""Operations on config values (``AlterConfigOp.OpType``)."""


class CreateTopics:
    """CreateTopics: completed when the topics have leaders."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Create all topics in one request."""
        request = call.message
        assert isinstance(request, wire.CreateTopicsRequest)
        topics = {
            topic.name: protocol.NewTopic(
                topic.num_partitions,
                topic.replication_factor,
                {each.partition_index: each.broker_ids for each in topic.assignments},
                {each.name: each.value or "" for each in topic.configs},
            )
            for topic in request.topics
        }
        timeout_us = request.timeout_ms * US_PER_MS
        return [protocol.CreateTopicsRequest(topics, timeout_us, request.validate_only)]

    def respond(self, _call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the result for each topic."""
        (found,) = responses
        assert isinstance(found, protocol.TopicsResponse)
        rows = [
            wire.CreatableTopicResult(
                name,
                error_code=ERRORS[error].code,
                error_message=found.messages.get(name),
            )
            for name, error in found.errors.items()
        ]
        return wire.CreateTopicsResponse(topics=rows)


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
            f"{topic.name}-{each.partition_index}": each.offset
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
                error, start = found.results[f"{topic.name}-{each.partition_index}"]
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
    """DescribeConfigs: of topics, and of the broker that receives the request."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Request each resource's configs."""
        request = call.message
        assert isinstance(request, configs.DescribeConfigsRequest)
        return [
            protocol.DescribeConfigsRequest([each.resource_name])
            if each.resource_type == TOPIC
            else protocol.DescribeConfigsRequest([])
            for each in request.resources
        ]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the values and their sources."""
        request = call.message
        assert isinstance(request, configs.DescribeConfigsRequest)
        results = []
        for asked, found in zip(request.resources, responses, strict=True):
            assert isinstance(found, protocol.DescribeConfigsResponse)
            results.append(self._result(asked, found, call.connection.broker))
        return configs.DescribeConfigsResponse(results=results)

    @staticmethod
    def _result(
        asked: configs.DescribeConfigsResource,
        found: protocol.DescribeConfigsResponse,
        broker: int,
    ) -> configs.DescribeConfigsResult:
        key = asked.resource_name if asked.resource_type == TOPIC else ""
        values, own = found.values.get(key), found.own.get(key, {})
        error, message = NONE, None
        if asked.resource_type not in (TOPIC, BROKER):
            values, error = None, "INVALID_REQUEST"
            message = f"Only topics ({TOPIC}) and brokers ({BROKER}) can be described here."
        elif asked.resource_type == BROKER and asked.resource_name not in ("", str(broker)):
            values, error = None, "INVALID_REQUEST"
            message = f"This is broker {broker}, not {asked.resource_name!r}; ask that broker."
        elif values is None:
            error = "UNKNOWN_TOPIC_OR_PARTITION"
        source = DYNAMIC_TOPIC_CONFIG if asked.resource_type == TOPIC else DYNAMIC_BROKER_CONFIG
        wanted = asked.configuration_keys
        rows = [
            configs.DescribeConfigsResourceResult(
                name,
                value,
                is_default=name not in own,
                config_source=source if name in own else DEFAULT_CONFIG,
                config_type=TYPES[type_of(name)],
                documentation=None,
            )
            for name, value in (values or {}).items()
            if wanted is None or name in wanted
        ]
        return configs.DescribeConfigsResult(
            ERRORS[error].code, message, asked.resource_type, asked.resource_name, rows
        )


class IncrementalAlterConfigs:
    """IncrementalAlterConfigs (KIP-339): of topics, and of brokers without ZooKeeper.

    List append and subtract are not supported. Source: ``ConfigAdminManager.preprocess``.
    """

    def __init__(self, version: str, *, in_kraft_mode: bool) -> None:
        """Validate brokers' configs as ``version`` does; ``in_kraft_mode`` forwards them."""
        self.version = version
        self.in_kraft_mode = in_kraft_mode

    def ask(self, call: Call) -> list[AnyMessage]:
        """Alter all topics in one request, then each broker resource in one."""
        request = call.message
        assert isinstance(request, configs.IncrementalAlterConfigsRequest)
        accepted = self._accepted(request)
        topics = {
            each.resource_name: {change.name: _new_value(change) or "" for change in each.configs}
            for each in accepted
            if each.resource_type == TOPIC
        }
        brokers = [
            protocol.IncrementalAlterConfigsRequest(
                BROKER,
                each.resource_name,
                {change.name: _new_value(change) for change in each.configs},
            )
            for each in accepted
            if each.resource_type == BROKER and not _lifts_throttles(each)
        ]
        return [protocol.AlterConfigsRequest(topics, request.validate_only), *brokers]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the result for each resource."""
        request = call.message
        assert isinstance(request, configs.IncrementalAlterConfigsRequest)
        of_topics, *of_brokers = responses
        assert isinstance(of_topics, protocol.TopicsResponse)
        results: dict[tuple[int, str], tuple[str, str | None]] = {
            (TOPIC, name): (error, of_topics.messages.get(name))
            for name, error in of_topics.errors.items()
        }
        for found in of_brokers:
            assert isinstance(found, protocol.IncrementalAlterConfigsResponse)
            for name, error in found.errors.items():
                results[BROKER, name] = error, None
        rows = []
        for each in request.resources:
            refused = self._refused(each, validate_only=request.validate_only)
            key = each.resource_type, each.resource_name
            error, message = refused or results.get(key, (NONE, None))
            rows.append(configs.AlterConfigsResourceResponse(ERRORS[error].code, message, *key))
        return configs.IncrementalAlterConfigsResponse(responses=rows)

    def _accepted(
        self, request: configs.IncrementalAlterConfigsRequest
    ) -> list[configs.AlterConfigsResource]:
        only = request.validate_only
        return [each for each in request.resources if not self._refused(each, validate_only=only)]

    def _refused(
        self, resource: configs.AlterConfigsResource, *, validate_only: bool
    ) -> tuple[str, str] | None:
        """The error that a broker finds without asking the controller, and its message."""
        names = [each.name for each in resource.configs]
        if len(set(names)) < len(names):
            return "INVALID_REQUEST", "A config may be named once."
        for each in resource.configs:
            if each.config_operation == SET and each.value is None:
                return "INVALID_REQUEST", f"{each.name} cannot be set to null: delete it."
            if each.config_operation in (APPEND, SUBTRACT):
                found = type_of(each.name)
                if found != "LIST":
                    return "INVALID_CONFIG", f"{each.name} is not a list, but {found}."
                return (
                    "INVALID_REQUEST",
                    "Append and subtract are not emulated: set the whole list.",
                )
        if resource.resource_type == TOPIC or _lifts_throttles(resource):
            return None
        if resource.resource_type != BROKER or not self.in_kraft_mode or validate_only:
            return "INVALID_REQUEST", "Only topics can be altered here, and brokers in KRaft mode."
        try:
            check_dynamic({each.name: _new_value(each) for each in resource.configs}, self.version)
        except ConfigError as error:
            return "INVALID_REQUEST", str(error)
        return None


THROTTLES: Final = frozenset(
    {
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    }
)
"""Replication throttles (KIP-73, KIP-113), which are not emulated and therefore never set."""


def _new_value(change: configs.AlterableConfig) -> str | None:
    """The value that is set; None if it is removed."""
    return None if change.config_operation == DELETE else change.value


def _lifts_throttles(resource: configs.AlterConfigsResource) -> bool:
    """Whether a broker's throttles are removed, which changes nothing."""
    return resource.resource_type == BROKER and all(
        each.config_operation == DELETE and each.name in THROTTLES for each in resource.configs
    )


class AlterConfigs:
    """AlterConfigs: replace all configs of topics (KIP-133); configs left out are removed."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Alter all topics in one request; broker configs are changed by statements only."""
        request = call.message
        assert isinstance(request, alter_configs.AlterConfigsRequest)
        topics = {
            each.resource_name: {row.name: row.value or "" for row in each.configs}
            for each in request.resources
            if each.resource_type == TOPIC
        }
        return [protocol.AlterConfigsRequest(topics, request.validate_only, replaces=True)]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the result for each resource."""
        request = call.message
        assert isinstance(request, alter_configs.AlterConfigsRequest)
        (found,) = responses
        assert isinstance(found, protocol.TopicsResponse)
        rows = [
            alter_configs.AlterConfigsResourceResponse(
                ERRORS[found.errors.get(each.resource_name, "INVALID_REQUEST")].code,
                found.messages.get(each.resource_name),
                each.resource_type,
                each.resource_name,
            )
            for each in request.resources
        ]
        return alter_configs.AlterConfigsResponse(responses=rows)


class ElectLeaders:
    """ElectLeaders: preferred or unclean leader election (KIP-460)."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Request the election for all partitions at once."""
        request = call.message
        assert isinstance(request, partitions.ElectLeadersRequest)
        named = [
            f"{each.topic}-{number}"
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
            topic, _, number = tp.rpartition("-")
            row = partitions.PartitionResult(int(number), ERRORS[error].code, None)
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
            f"{topic.name}-{each.partition_index}": each.replicas
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
                            found.errors.get(f"{topic.name}-{each.partition_index}", found.error)
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
                f"{t.name}-{number}" for t in request.topics for number in t.partition_indexes
            }
        topics: dict[str, list[partitions.OngoingPartitionReassignment]] = {}
        for tp, (original, target) in found.moves.items():
            if wanted is None or tp in wanted:
                topic, _, number = tp.rpartition("-")
                removed = [broker for broker in original if broker not in target]
                added = [broker for broker in target if broker not in original]
                row = partitions.OngoingPartitionReassignment(
                    int(number), [*target, *removed], added, removed
                )
                topics.setdefault(topic, []).append(row)
        return partitions.ListPartitionReassignmentsResponse(
            error_code=ERRORS[found.error].code,
            error_message=None,
            topics=[partitions.OngoingTopicReassignment(*each) for each in topics.items()],
        )
