"""Requests of external clients about configurations of topics, brokers, groups, subscriptions."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from emulator import protocol
from emulator.clients.context import ClientContext
from emulator.clients.external.authorization import Authorizer
from emulator.clients.external.call import Call
from emulator.clients.external_state import Connection
from emulator.common.acls import ALTER_CONFIGS, DESCRIBE_CONFIGS
from emulator.common.errors import ERRORS, NONE
from emulator.common.java_numbers import java_integer
from emulator.protocol import AnyMessage
from emulator.releases.broker_configs import broker_configs
from emulator.releases.config_descriptions import DEFAULT, ConfigEntry, unexpected_broker
from emulator.releases.group_configs import group_configs
from emulator.wire.messages import alter_configs, configs
from emulator.wire.types import Message

TOPIC: Final = 2
BROKER: Final = 4
BROKER_LOGGER: Final = 8
CLIENT_METRICS: Final = 16
GROUP: Final = 32
TYPES: Final = (TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP)
"""Types of config resources (``ConfigResource.Type``)."""
SET: Final = 0
DELETE: Final = 1
APPEND: Final = 2
SUBTRACT: Final = 3
"""Operations on config values (``AlterConfigOp.OpType``)."""
UNAUTHORIZED: Final = "CLUSTER_AUTHORIZATION_FAILED"

AnyResource = configs.AlterConfigsResource | alter_configs.AlterConfigsResource
Resource = TypeVar(
    "Resource",
    configs.DescribeConfigsResource,
    configs.AlterConfigsResource,
    alter_configs.AlterConfigsResource,
)


class OfResources:
    """A request about configurations: of subscriptions since 3.7, and of groups since 4.0, too."""

    def __init__(self, context: ClientContext, authorizer: Authorizer) -> None:
        self.authorizer = authorizer
        self.profile = context.profile
        self.has_subscriptions = context.in_kraft_mode and self.profile.has(
            "client_metrics_resources"
        )
        self.tells_all_of_subscriptions = not self.profile.has(
            "metrics_subscriptions_are_configurations"
        )
        self.has_groups = bool(group_configs(context.profile.numbers))
        self.checks_each = context.profile.has("wrong_value_is_invalid_config")
        self.has_no_nulls = context.profile.has("empty_config_keys_mean_all")
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

    def once(self, resources: Sequence[Resource]) -> list[Resource]:
        """The resources of a request that a broker reads into a map: the last of a name counts."""
        last: dict[tuple[int, str], Resource] = {}
        for resource in resources:
            kind = 0 if self.is_unexpected(resource.resource_type) else resource.resource_type
            last[kind, resource.resource_name] = resource
        return list(last.values())


class DescribeConfigs(OfResources):
    """DescribeConfigs: of topics, groups (4.0), and the broker that receives the request.

    An unexpected type of resource refuses the whole request (``ConfigHelper``, ``KafkaApis``). The
    brokers here have no loggers.
    """

    def ask(self, call: Call[configs.DescribeConfigsRequest]) -> list[AnyMessage]:
        resources = self._resources(call.message)
        if any(self.is_unexpected(resource.resource_type) for resource in resources):
            return [protocol.DescribeConfigsResponse(0, "INVALID_REQUEST") for _ in resources]
        return [self._description(resource, call.connection) for resource in resources]

    def _resources(
        self, request: configs.DescribeConfigsRequest
    ) -> list[configs.DescribeConfigsResource]:
        if self.profile.has("configs_named_by_row"):
            return request.resources
        return [
            replace(resource, resource_type=0)
            if self.is_unexpected(resource.resource_type)
            else resource
            for resource in self.once(request.resources)
        ]

    def respond(
        self,
        call: Call[configs.DescribeConfigsRequest],
        *responses: protocol.DescribeConfigsResponse,
    ) -> Message:
        """Return the values, their sources and, if requested, their synonyms."""
        request = call.message
        results = []
        for resource, response in zip(self._resources(request), responses, strict=True):
            keys = resource.configuration_keys
            rows = [
                _described(entry, synonyms=request.include_synonyms)
                for entry in response.entries
                if self.is_requested(entry.name, keys)
                or (resource.resource_type == CLIENT_METRICS and self.tells_all_of_subscriptions)
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

    def _description(
        self, resource: configs.DescribeConfigsResource, connection: Connection
    ) -> AnyMessage:
        if resource.resource_type == TOPIC:
            return protocol.DescribeConfigsRequest(resource.resource_name)
        if resource.resource_type == BROKER:
            return protocol.DescribeConfigsRequest(None, resource.resource_name)
        if resource.resource_type == GROUP:
            return protocol.DescribeConfigsRequest(None, group=resource.resource_name)
        if resource.resource_type == CLIENT_METRICS and self.has_subscriptions:
            return protocol.DescribeConfigsRequest(None, subscription=resource.resource_name)
        if resource.resource_type == BROKER_LOGGER:
            if not self.authorizer.client(connection).may_on_cluster(DESCRIBE_CONFIGS):
                return protocol.DescribeConfigsResponse(0, UNAUTHORIZED)
            reason = unexpected_broker(resource.resource_name, connection.broker, or_all=False)
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

    refuses_rows = False

    def ask(self, call: Call[Any]) -> list[AnyMessage]:
        """Alter each resource in a request of its own."""
        resources, validate_only = self.answered(call.message.resources), call.message.validate_only
        return [
            refusal or self.change(resource, validate_only=validate_only)
            for resource, refusal in zip(
                resources, self.refusals(resources, call.connection), strict=True
            )
        ]

    def change(self, resource: Any, *, validate_only: bool) -> AnyMessage:  # noqa: ANN401 - of either request
        """The message that alters one resource, or the refusal to."""
        raise NotImplementedError

    def answered(self, resources: Sequence[Resource]) -> Sequence[Resource]:
        """The resources of a request as often as they are answered.

        Before 3.3 it is once, but for an incremental request that is refused as a whole.
        """
        is_read = self.checks_each or (
            self.refuses_rows and any(self.is_unexpected(row.resource_type) for row in resources)
        )
        return resources if is_read else self.once(resources)

    def refusals(
        self, resources: Sequence[AnyResource], connection: Connection
    ) -> list[AnyMessage | None]:
        """Why a broker refuses resources before it asks the controller; None if it does not.

        Before 3.3 an unexpected type of resource refuses the whole request.
        """
        if not self.checks_each:
            if any(self.is_unexpected(resource.resource_type) for resource in resources):
                reason = "Unexpected resource type UNKNOWN"
                return [_refused(resource, "INVALID_REQUEST", reason) for resource in resources]
            return [self._refusal(resource, connection) for resource in resources]
        times = Counter((resource.resource_type, resource.resource_name) for resource in resources)
        return [
            _refused(resource, "INVALID_REQUEST", "Each resource must appear at most once.")
            if times[resource.resource_type, resource.resource_name] > 1
            else self._refusal(resource, connection)
            for resource in resources
        ]

    def _refusal(self, resource: AnyResource, connection: Connection) -> AnyMessage | None:
        """Why one resource is refused; before 3.3 a name that replaces twice is the last one."""
        kind = resource.resource_type
        checks_keys = self.checks_each or isinstance(resource, configs.AlterConfigsResource)
        keys = [config.name for config in resource.configs]
        if checks_keys and len({*keys}) < len(keys):
            return _refused(resource, "INVALID_REQUEST", "Error due to duplicate config keys")
        nulls = [config.name for config in resource.configs if _is_null(config)]
        if nulls:
            if not checks_keys and not self.profile.has("null_config_values_refused"):
                return _refused(resource, "UNKNOWN_SERVER_ERROR")
            reason = f"Null value not supported for : {', '.join(nulls)}"
            return _refused(resource, "INVALID_REQUEST", reason)
        if self.is_unexpected(kind):
            return _refused(resource, "INVALID_REQUEST", f"Unknown resource type {kind}")
        if kind == BROKER_LOGGER:
            return self.loggers(resource, connection)
        if kind == CLIENT_METRICS and not self.has_subscriptions:
            reason = "only supported for topics and brokers, but resource type is CLIENT_METRICS"
            return _refused(resource, "INVALID_REQUEST", f"AlterConfigs is {reason}")
        return self.unauthorized(resource, connection) if kind == CLIENT_METRICS else None

    def unauthorized(self, resource: AnyResource, connection: Connection) -> AnyMessage | None:
        """The refusal to a client that may not alter configurations of the cluster."""
        is_allowed = self.authorizer.client(connection).may_on_cluster(ALTER_CONFIGS)
        return None if is_allowed else _refused(resource, UNAUTHORIZED)

    def loggers(self, resource: AnyResource, _connection: Connection) -> AnyMessage:
        """The answer to who alters loggers, which only an incremental request may do."""
        kind = resource.resource_type
        return _refused(resource, "INVALID_REQUEST", f"Unknown resource type {kind}")

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
    """IncrementalAlterConfigs (KIP-339): also of subscriptions (3.7) and groups (4.0)."""

    refuses_rows = True

    def loggers(self, resource: AnyResource, connection: Connection) -> AnyMessage:
        """Check the changes of levels; a broker here has no loggers (``RuntimeLoggerManager``)."""
        if refusal := self.unauthorized(resource, connection):
            return refusal
        broker, number = connection.broker, java_integer(resource.resource_name)
        noun = "Node" if self.checks_each else "Broker"
        error, reason = "INVALID_REQUEST", ""
        if number is None:
            reason = f"{noun} id must be an integer, but it is: {resource.resource_name}"
        elif number != broker:
            is_node = f"Unexpected node id. Expected {broker}, but received {number}"
            is_broker = f"Unexpected broker id, expected {broker}, but received {number}"
            reason = is_node if self.profile.has("unexpected_node_named") else is_broker
        for config in resource.configs if not reason else ():
            operation = getattr(config, "config_operation", SET)
            if operation in (APPEND, SUBTRACT):
                word = "APPEND" if operation == APPEND else "SUBTRACT"
                reason = f"{word} operation is not allowed for the BROKER_LOGGER resource"
            else:
                error = "INVALID_CONFIG" if self.checks_each else "INVALID_REQUEST"
                reason = f"Logger {config.name} does not exist!"
            break
        return _refused(resource, error if reason else NONE, reason)

    def change(self, resource: configs.AlterConfigsResource, *, validate_only: bool) -> AnyMessage:
        kind, name = resource.resource_type, resource.resource_name
        changes: dict[int, dict[str, str]] = {SET: {}, DELETE: {}, APPEND: {}, SUBTRACT: {}}
        for config in resource.configs:
            if config.config_operation not in changes:
                checks_it = self.checks_each and kind == BROKER
                error = "INVALID_REQUEST" if checks_it else "UNKNOWN_SERVER_ERROR"
                return _refused(resource, error)
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
            if resource.resource_type in (GROUP, CLIENT_METRICS):
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
        rows = self.rows(self.answered(call.message.resources), responses)
        return configs.IncrementalAlterConfigsResponse(responses=rows)


class AlterConfigs(AltersResources):
    """AlterConfigs: replace all configs of topics, brokers or groups (KIP-133)."""

    def change(
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
        rows = self.rows(self.answered(call.message.resources), responses)
        if not self.profile.has("null_config_values_refused"):  # made of a ConfigResource
            rows = [
                replace(row, resource_type=0) if self.is_unexpected(row.resource_type) else row
                for row in rows
            ]
        return alter_configs.AlterConfigsResponse(responses=rows)
