"""Requests of external clients about consumer groups of the new protocol (KIP-848)."""

from collections.abc import Mapping, Sequence
from typing import Final

from emulator import protocol
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.ids import uuid_bytes, uuid_text
from emulator.clients.external.metadata import TopicIds
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.wire.messages import consumer_groups as wire
from emulator.wire.types import NO_UUID, Message

HOST: Final = "/127.0.0.1"
CLASSIC, CONSUMER = 0, 1
"""Types of members."""
Described = tuple[str, protocol.ConsumerGroupDescription]
"""A group's name, and what it is."""


class GroupHeartbeat:
    """A heartbeat: completed when what it changes is replicated."""

    response: type[wire.GroupHeartbeatResponse]

    def __init__(self, known_ids: TopicIds) -> None:
        """Add the ids that members are told to ``known_ids``: they ask for these topics next."""
        self.known_ids = known_ids

    def respond(self, _call: AnyCall, response: protocol.GroupHeartbeatResponse) -> Message:
        """Return the member's epoch and, if it is told, its assignment."""
        self.known_ids.add(response.names)
        assignment = response.assignment
        return self.response(
            error_code=ERRORS[response.error].code,
            error_message=response.message or None,
            member_id=response.member_id or None,
            member_epoch=response.member_epoch,
            heartbeat_interval_ms=response.heartbeat_interval_ms,
            assignment=None
            if assignment is None
            else wire.HeartbeatAssignment(
                [
                    wire.HeartbeatTopicPartitions(uuid_bytes(topic), numbers)
                    for topic, numbers in assignment.items()
                ]
            ),
        )


class ConsumerGroupHeartbeat(GroupHeartbeat):
    """ConsumerGroupHeartbeat."""

    response = wire.ConsumerGroupHeartbeatResponse

    def ask(self, call: Call[wire.ConsumerGroupHeartbeatRequest]) -> list[AnyMessage]:
        request = call.message
        owned = request.topic_partitions
        return [
            protocol.ConsumerGroupHeartbeatRequest(
                request.group_id,
                request.member_id,
                request.member_epoch,
                request.rack_id,
                request.subscribed_topic_names,
                call.client,
                HOST,
                request.instance_id,
                request.rebalance_timeout_ms,
                request.subscribed_topic_regex,
                request.server_assignor,
                None
                if owned is None
                else {uuid_text(topic.topic_id): topic.partitions for topic in owned},
                call.header.api_version,
            )
        ]


class GroupDescribe:
    """A request that describes groups."""

    request: type[protocol.ConsumerGroupDescribeRequest] | type[protocol.ShareGroupDescribeRequest]

    def __init__(self, known_ids: TopicIds) -> None:
        self.known_ids = known_ids

    def ask(self, call: Call[wire.GroupsDescribeRequest]) -> list[AnyMessage]:
        return [self.request(call.message.group_ids)]

    def respond(
        self, call: Call[wire.GroupsDescribeRequest], response: protocol.GroupsDescribeResponse
    ) -> Message:
        for group in response.groups.values():
            self.known_ids.add(group.names)
        return self.described([(name, response.groups[name]) for name in call.message.group_ids])

    def described(self, groups: Sequence[Described]) -> Message:
        """The response with groups, each as often as it is named."""
        raise NotImplementedError


class ConsumerGroupDescribe(GroupDescribe):
    """ConsumerGroupDescribe."""

    request = protocol.ConsumerGroupDescribeRequest

    def described(self, groups: Sequence[Described]) -> Message:
        return wire.ConsumerGroupDescribeResponse(
            groups=[_group(name, group) for name, group in groups]
        )


def _group(name: str, group: protocol.ConsumerGroupDescription) -> wire.DescribedConsumerGroup:
    return wire.DescribedConsumerGroup(
        *description_fields(name, group),
        [
            wire.DescribedConsumer(
                member.id,
                member.instance_id or None,
                member.rack_id or None,
                member.epoch,
                member.client,
                member.host,
                member.topics,
                member.regex,
                described_assignment(member.assigned, group.names),
                described_assignment(member.target, group.names),
                CLASSIC if member.is_classic else CONSUMER,
            )
            for member in group.members
        ],
    )


def description_fields(
    name: str, group: protocol.ConsumerGroupDescription
) -> tuple[int, str | None, str, str, int, int, str]:
    """The fields of a description of a group, but for its members."""
    return (
        ERRORS[group.error].code,
        group.message or None,
        name,
        group.state,
        group.epoch,
        group.assignment_epoch,
        group.assignor if group.error == NONE else "",
    )


def described_assignment(
    partitions: Mapping[str, list[int]], names: Mapping[str, str]
) -> wire.DescribedAssignment:
    """An assignment without the topics that do not exist any more."""
    return wire.DescribedAssignment(
        [
            wire.DescribedTopicPartitions(uuid_bytes(topic) or NO_UUID, names[topic], numbers)
            for topic, numbers in partitions.items()
            if topic in names
        ]
    )
