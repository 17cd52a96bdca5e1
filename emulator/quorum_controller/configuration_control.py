"""Dynamic configurations of topics, brokers, groups and subscriptions.

Source: ``ConfigurationControlManager``, 3.9 to 4.1.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from emulator.common.names import is_topic_name
from emulator.metadata_log.image import config_key
from emulator.metadata_log.records import (
    BROKER_RESOURCE,
    GROUP_RESOURCE,
    METRICS_RESOURCE,
    TOPIC_RESOURCE,
    AnyRecord,
    ClearElrRecord,
    ConfigRecord,
)
from emulator.quorum_controller.context import MIN_INSYNC_REPLICAS, Context
from emulator.quorum_controller.result import ApiError, ApiException, Result, user_operation
from emulator.releases import client_metrics
from emulator.releases.config import ConfigError, check_topic_config
from emulator.releases.config_names import LISTS

CHECKED_WHOLE: Final = (METRICS_RESOURCE, GROUP_RESOURCE)
"""The types of resources whose values are checked together."""
MAX_VALUE_LENGTH: Final = 32_767
"""The maximum length of a configuration value."""


class ConfigResource(NamedTuple):
    """The resource of a configuration; a broker's name is its id, or ``""`` for the default."""

    type: int
    name: str


def incremental_alter_configs(
    context: Context, changes: Mapping[ConfigResource, Mapping[str, str | None]]
) -> Result[dict[ConfigResource, ApiError]]:
    """Set configurations, or remove them with None; the records are one atomic batch.

    Values are validated before the resource is looked for (``validateAlterConfig``). Setting
    min.insync.replicas clears the ELRs, whose members were eligible by the previous minimum
    (KIP-966).
    """
    records: list[AnyRecord] = []
    response = {}
    for resource, values in changes.items():
        try:
            altered = _alter(context, resource, values)
            _check_exists(context, resource)
            records += altered
        except ApiException as refused:
            response[resource] = refused.as_error()
        else:
            response[resource] = ApiError()
    return user_operation(_with_cleared_elrs(context, records), response)


def legacy_alter_configs(
    context: Context, configs: Mapping[ConfigResource, Mapping[str, str | None]]
) -> Result[dict[ConfigResource, ApiError]]:
    """Replace configurations: those that are not named are removed (AlterConfigs, KIP-133)."""
    changes = {
        resource: {
            **values,
            **{
                name: None
                for name in context.image.configs.get(config_key(*resource), {})
                if name not in values
            },
        }
        for resource, values in configs.items()
    }
    return incremental_alter_configs(context, changes)


def alter_new_topic(context: Context, topic: str, values: Mapping[str, str]) -> list[AnyRecord]:
    """Return the configurations of a new topic.

    Raises:
        ApiException: INVALID_CONFIG for an invalid topic configuration name or value.
    """
    records = _alter(context, ConfigResource(TOPIC_RESOURCE, topic), values)
    return _with_cleared_elrs(context, records)


def elr_safety_records(context: Context) -> list[AnyRecord]:
    """Return the records required before ELR is enabled: a single minimum for the cluster.

    With broker-level minima, the controller and a leader could disagree about eligibility
    (``maybeGenerateElrSafetyRecords``).
    """
    records: list[AnyRecord] = []
    if context.image.broker_config(None, MIN_INSYNC_REPLICAS) is None:
        value = str(context.settings.min_insync_replicas)
        records.append(ConfigRecord(BROKER_RESOURCE, "", MIN_INSYNC_REPLICAS, value))
    for key, values in context.image.configs.items():
        resource_type, _, name = key.partition(":")
        if resource_type == "broker" and name and MIN_INSYNC_REPLICAS in values:
            records.append(ConfigRecord(BROKER_RESOURCE, name, MIN_INSYNC_REPLICAS, None))
    return records


def _alter(
    context: Context, resource: ConfigResource, values: Mapping[str, str | None]
) -> list[AnyRecord]:
    _check_name(resource)
    configs = context.image.configs.get(config_key(*resource), {})
    # A broker's configuration is written even if it is unchanged, so that brokers reload the files
    # it refers to (KAFKA-14136).
    changed = {
        name: value
        for name, value in values.items()
        if resource.type == BROKER_RESOURCE or configs.get(name) != value
    }
    for name, value in changed.items():
        _check_min_isr(context, resource, name, value)
        if value == "" and name not in LISTS and resource.type not in CHECKED_WHOLE:
            raise ApiException("INVALID_CONFIG", f"{name} needs a value; give none to delete it.")
        if value is not None and len(value) > MAX_VALUE_LENGTH:
            raise ApiException(
                "INVALID_CONFIG",
                f"{name} may have {MAX_VALUE_LENGTH} characters, not {len(value)}.",
            )
    if resource.type == TOPIC_RESOURCE:
        changed = _checked_topic_values(changed, context.settings.topic_config_names)
    if resource.type in CHECKED_WHOLE:
        whole = {name: value for name, value in (configs | changed).items() if value is not None}
        _check_whole(context, resource, whole)
    return [ConfigRecord(*resource, name, value) for name, value in changed.items()]


def _checked_topic_values(
    values: Mapping[str, str | None], names: frozenset[str]
) -> dict[str, str | None]:
    checked: dict[str, str | None] = {}
    for name, value in values.items():
        if name not in names:
            raise ApiException("INVALID_CONFIG", f"Unknown topic config name: {name}")
        checked[name] = value
        if value is not None:
            try:
                checked |= check_topic_config({name: value})
            except ConfigError as error:
                raise ApiException("INVALID_CONFIG", str(error)) from None
    return checked


def _check_name(resource: ConfigResource) -> None:
    """Refuse what no topic or group is called (``ControllerConfigurationValidator``)."""
    if not resource.name and resource.type == METRICS_RESOURCE:
        raise ApiException("INVALID_REQUEST", "Subscription name can't be empty")
    if not resource.name and resource.type != BROKER_RESOURCE:
        kind = "topic" if resource.type == TOPIC_RESOURCE else "group"
        raise ApiException("INVALID_REQUEST", f"Default {kind} resources are not allowed.")
    if resource.type == TOPIC_RESOURCE and not is_topic_name(resource.name):
        reason = f"{resource.name!r} cannot be the name of a topic."
        raise ApiException("INVALID_TOPIC_EXCEPTION", reason)


def _check_whole(context: Context, resource: ConfigResource, values: Mapping[str, str]) -> None:
    """Check all values of a group, or of a subscription to metrics, together."""
    rules = context.settings.group_configs
    try:
        if resource.type == METRICS_RESOURCE:
            are_parsed = context.rules.metrics_subscriptions_are_configurations
            client_metrics.check(values, are_parsed=are_parsed)
        elif rules is not None:
            rules.check(values)
        else:
            raise ApiException("INVALID_REQUEST", "Groups have configurations from 4.0 on.")
    except client_metrics.NumberError as error:
        raise ApiException("UNKNOWN_SERVER_ERROR", str(error)) from None
    except client_metrics.RequestError as error:
        raise ApiException("INVALID_REQUEST", str(error)) from None
    except ConfigError as error:
        raise ApiException("INVALID_CONFIG", str(error)) from None


def _check_min_isr(
    context: Context, resource: ConfigResource, name: str, value: str | None
) -> None:
    """With ELR there is one cluster-wide minimum, which cannot be removed (KIP-966)."""
    if name != MIN_INSYNC_REPLICAS or resource.type != BROKER_RESOURCE:
        return
    if not context.image.elr_enabled:
        return
    if resource.name:
        raise ApiException(
            "INVALID_CONFIG",
            f"{name} cannot be set for broker {resource.name} while ELR is enabled: set it for the"
            " cluster or for topics.",
        )
    if value is None:
        raise ApiException(
            "INVALID_CONFIG", f"The cluster's {name} cannot be removed while ELR is enabled."
        )


def _check_exists(context: Context, resource: ConfigResource) -> None:
    if resource.type == TOPIC_RESOURCE:
        context.topic(resource.name)
    elif resource.type == BROKER_RESOURCE and resource.name:
        image = context.image
        nodes = sorted({*image.brokers, *image.controllers, context.settings.node_id})
        if resource.name not in {str(node) for node in nodes}:
            raise ApiException(
                "BROKER_ID_NOT_REGISTERED",
                f"There is no node {resource.name!r}; registered: {', '.join(map(str, nodes))}.",
            )


def _with_cleared_elrs(context: Context, records: list[AnyRecord]) -> list[AnyRecord]:
    if not context.image.elr_enabled:
        return records
    return [
        *records,
        *(
            ClearElrRecord(record.resource_name if record.resource_type == TOPIC_RESOURCE else "")
            for record in records
            if isinstance(record, ConfigRecord) and record.name == MIN_INSYNC_REPLICAS
        ),
    ]
