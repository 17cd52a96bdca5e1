"""Administrators' requests to the active controller, and its responses."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from emulator import protocol as messages
from emulator.common.names import split
from emulator.metadata_log.image import config_key
from emulator.metadata_log.records import TOPIC_RESOURCE
from emulator.protocol.kraft import AdminRequest
from emulator.quorum_controller.configuration_control import ConfigResource
from emulator.quorum_controller.feature_control import UpgradeType
from emulator.quorum_controller.partition_change_builder import Election
from emulator.quorum_controller.quorum_controller import QuorumController
from emulator.quorum_controller.result import ApiError, ApiException, Result
from emulator.quorum_controller.topics import (
    CreatableTopic,
    CreatedTopic,
    CreatePartitionsTopic,
)
from emulator.releases.config import ConfigError, changed_lists

Errors = Mapping[str, ApiError]
"""The result for each topic, partition or resource."""
Outcome = tuple[Result[Any], Errors]


def respond_to_admin(
    controller: QuorumController, request: int, message: AdminRequest
) -> tuple[Result[Any], messages.EnvelopeResponse]:
    """Let the controller handle a request; the response is sent once its records are committed."""
    try:
        result, outcomes = _REQUESTS[type(message)](controller, message)
    except ApiException as refused:
        whole = {"": str(refused)}
        return Result([], None), messages.EnvelopeResponse(request, refused.error, {}, whole)
    errors = {name: outcome.error for name, outcome in outcomes.items()}
    reasons = {name: outcome.message for name, outcome in outcomes.items() if outcome.message}
    if isinstance(message, messages.CreateAclsRequest | messages.DeleteAclsRequest):
        deletes = isinstance(message, messages.DeleteAclsRequest)
        acls = [matching for _, matching in result.response] if deletes else []
        return result, messages.EnvelopeResponse(request, "NONE", errors, reasons, acls=acls)
    created = _created(result.response) if result.response else {}
    return result, messages.EnvelopeResponse(request, "NONE", errors, reasons, created=created)


def _created(outcomes: Mapping[str, object]) -> dict[str, messages.TopicCreated]:
    return {
        name: messages.TopicCreated(
            outcome.topic_id, outcome.num_partitions, outcome.replication_factor
        )
        for name, outcome in outcomes.items()
        if isinstance(outcome, CreatedTopic) and not outcome.error.is_failure
    }


def _create_topics(controller: QuorumController, message: messages.CreateTopicsRequest) -> Outcome:
    topics = [
        CreatableTopic(
            name,
            topic.partitions,
            topic.replication_factor,
            {number: tuple(replicas) for number, replicas in topic.assignment.items()},
            dict(topic.config),
        )
        for name, topic in message.topics.items()
    ]
    result = controller.create_topics(topics, validate_only=message.validate_only)
    return result, {name: created.error for name, created in result.response.items()}


def _delete_topics(controller: QuorumController, message: messages.DeleteTopicsRequest) -> Outcome:
    result = controller.delete_topics(message.topics)
    return result, result.response


def _create_partitions(
    controller: QuorumController, message: messages.CreatePartitionsRequest
) -> Outcome:
    topics = [
        CreatePartitionsTopic(name, count, None if lists is None else list(map(tuple, lists)))
        for name, (count, lists) in message.topics.items()
    ]
    result = controller.create_partitions(topics)
    return Result([], None) if message.validate_only else result, result.response


def _alter_topics(controller: QuorumController, message: messages.AlterConfigsRequest) -> Outcome:
    changes: dict[ConfigResource, dict[str, str | None]] = {}
    errors: dict[str, ApiError] = {}
    for topic, values in message.topics.items():
        resource = ConfigResource(TOPIC_RESOURCE, topic)
        current = controller.image.configs.get(config_key(*resource), {})
        appended, subtracted = message.appended.get(topic, {}), message.subtracted.get(topic, {})
        try:
            lists = changed_lists(current, appended, subtracted)
        except ConfigError as error:
            errors[topic] = ApiError("INVALID_CONFIG", str(error))
        else:
            changes[resource] = {**{key: value or None for key, value in values.items()}, **lists}
    alter = controller.incremental_alter_configs
    result = (controller.legacy_alter_configs if message.replaces else alter)(changes)
    errors |= {resource.name: error for resource, error in result.response.items()}
    return Result([], None) if message.validate_only else result, errors


def _alter_configs(
    controller: QuorumController, message: messages.IncrementalAlterConfigsRequest
) -> Outcome:
    resource = ConfigResource(message.resource_type, message.resource_name)
    alter = controller.incremental_alter_configs
    result = (controller.legacy_alter_configs if message.replaces else alter)(
        {resource: message.values}
    )
    errors = {resource.name: error for resource, error in result.response.items()}
    return Result([], None) if message.validate_only else result, errors


def _create_acls(controller: QuorumController, message: messages.CreateAclsRequest) -> Outcome:
    result = controller.create_acls(message.acls)
    return result, {str(number): error for number, error in enumerate(result.response)}


def _delete_acls(controller: QuorumController, message: messages.DeleteAclsRequest) -> Outcome:
    result = controller.delete_acls(message.filters)
    return result, {str(number): error for number, (error, _) in enumerate(result.response)}


def _update_features(
    controller: QuorumController, message: messages.UpdateFeaturesRequest
) -> Outcome:
    levels = {name: level for name, (level, _) in message.updates.items()}
    upgrade_types = list(UpgradeType)
    types = {name: upgrade_types[kind - 1] for name, (_, kind) in message.updates.items()}
    result = controller.update_features(levels, types, validate_only=message.validate_only)
    return result, {}


def _unregister_broker(
    controller: QuorumController, message: messages.UnregisterBrokerRequest
) -> Outcome:
    return controller.unregister_broker(message.broker), {}


def _elect_leaders(controller: QuorumController, message: messages.ElectLeadersRequest) -> Outcome:
    election = Election.UNCLEAN if message.unclean else Election.PREFERRED
    partitions = [split(tp) for tp in message.partitions] or None
    result = controller.elect_leaders(election, partitions)
    return result, _by_partition(result.response)


def _reassign(
    controller: QuorumController, message: messages.AlterPartitionReassignmentsRequest
) -> Outcome:
    targets = {
        split(tp): None if replicas is None else tuple(replicas)
        for tp, replicas in message.partitions.items()
    }
    result = controller.alter_partition_reassignments(
        targets, allow_replication_factor_change=message.allow_replication_factor_change
    )
    return result, _by_partition(result.response)


def _by_partition(errors: Mapping[tuple[str, int], ApiError]) -> Errors:
    return {f"{topic}-{number}": error for (topic, number), error in errors.items()}


_REQUESTS: Final[Mapping[type, Callable[[QuorumController, Any], Outcome]]] = {
    messages.CreateTopicsRequest: _create_topics,
    messages.DeleteTopicsRequest: _delete_topics,
    messages.CreatePartitionsRequest: _create_partitions,
    messages.AlterConfigsRequest: _alter_topics,
    messages.IncrementalAlterConfigsRequest: _alter_configs,
    messages.UpdateFeaturesRequest: _update_features,
    messages.UnregisterBrokerRequest: _unregister_broker,
    messages.CreateAclsRequest: _create_acls,
    messages.DeleteAclsRequest: _delete_acls,
    messages.ElectLeadersRequest: _elect_leaders,
    messages.AlterPartitionReassignmentsRequest: _reassign,
}
