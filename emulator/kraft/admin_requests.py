"""What administrators ask of the active controller, and its answers as they go over the wire."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from emulator import protocol as messages
from emulator.protocol import AnyMessage
from emulator.protocol.names import split
from emulator.quorum_controller.configuration_control import ConfigResource
from emulator.quorum_controller.partition_change_builder import Election
from emulator.quorum_controller.quorum_controller import QuorumController
from emulator.quorum_controller.result import ApiException, Result
from emulator.quorum_controller.topics import DEFAULT, CreatableTopic, CreatePartitionsTopic

Errors = dict[str, str]
"""Kafka's error for each topic, partition or resource."""
Asked = tuple[Result[Any], Errors]


def answer_admin(
    controller: QuorumController, request: int, message: AnyMessage
) -> tuple[Result[Any], AnyMessage]:
    """Have the controller decide on a request; the response is for when it is committed."""
    ask, kind = _REQUESTS[type(message)]
    try:
        result, errors = ask(controller, message)
    except ApiException as refused:
        return Result([], None), kind(request, refused.error, {})
    return result, kind(request, "NONE", errors)


def _create_topics(controller: QuorumController, message: messages.CreateTopicsRequest) -> Asked:
    wanted = [
        CreatableTopic(
            topic.name,
            DEFAULT if topic.assignments else topic.partitions,
            DEFAULT if topic.assignments else topic.replication_factor,
            {number: tuple(each) for number, each in enumerate(topic.assignments)},
            dict(topic.config),
        )
        for topic in message.topics
    ]
    result = controller.create_topics(wanted)
    return result, {name: created.error.error for name, created in result.response.items()}


def _delete_topics(controller: QuorumController, message: messages.DeleteTopicsRequest) -> Asked:
    result = controller.delete_topics(message.topics)
    return result, {name: error.error for name, error in result.response.items()}


def _create_partitions(
    controller: QuorumController, message: messages.CreatePartitionsRequest
) -> Asked:
    lists = message.assignments
    assignments = None if lists is None else [tuple(each) for each in lists]
    wanted = CreatePartitionsTopic(message.topic, message.count, assignments)
    result = controller.create_partitions([wanted])
    return result, {name: error.error for name, error in result.response.items()}


def _alter_configs(
    controller: QuorumController, message: messages.IncrementalAlterConfigsRequest
) -> Asked:
    resource = ConfigResource(message.resource_type, message.resource_name)
    result = controller.incremental_alter_configs({resource: message.values})
    return result, {each.name: error.error for each, error in result.response.items()}


def _elect_leaders(controller: QuorumController, message: messages.ElectLeadersRequest) -> Asked:
    election = Election.PREFERRED if message.preferred else Election.UNCLEAN
    wanted = [split(tp) for tp in message.partitions] or None
    result = controller.elect_leaders(election, wanted)
    return result, _by_partition(result.response)


def _reassign(
    controller: QuorumController, message: messages.AlterPartitionReassignmentsRequest
) -> Asked:
    targets = {
        split(tp): None if replicas is None else tuple(replicas)
        for tp, replicas in message.partitions.items()
    }
    result = controller.alter_partition_reassignments(targets)
    return result, _by_partition(result.response)


def _by_partition(errors: Mapping[tuple[str, int], Any]) -> Errors:
    return {f"{topic}-{number}": error.error for (topic, number), error in errors.items()}


_REQUESTS: Final[Mapping[type, tuple[Callable[[QuorumController, Any], Asked], type[Any]]]] = {
    messages.CreateTopicsRequest: (_create_topics, messages.CreateTopicsResponse),
    messages.DeleteTopicsRequest: (_delete_topics, messages.DeleteTopicsResponse),
    messages.CreatePartitionsRequest: (_create_partitions, messages.CreatePartitionsResponse),
    messages.IncrementalAlterConfigsRequest: (
        _alter_configs,
        messages.IncrementalAlterConfigsResponse,
    ),
    messages.ElectLeadersRequest: (_elect_leaders, messages.ElectLeadersResponse),
    messages.AlterPartitionReassignmentsRequest: (
        _reassign,
        messages.AlterPartitionReassignmentsResponse,
    ),
}
