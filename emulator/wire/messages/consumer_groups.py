"""Consumer groups of the new protocol (KIP-848)."""

from typing import Annotated, Final

from emulator.wire.types import NO_UUID, Api, Bool, Int8, Int16, Int32, Message, String, Uuid, since


class HeartbeatTopicPartitions(Message, frozen=True):
    """Partitions of a topic in heartbeats."""

    topic_id: Uuid = NO_UUID
    partitions: list[Int32] = []


class ConsumerGroupHeartbeatRequest(Message, frozen=True):
    """A member joins (epoch 0), stays, or leaves; null means that nothing has changed."""

    group_id: String = ""
    member_id: String = ""
    member_epoch: Int32 = 0
    instance_id: String | None = None
    rack_id: String | None = None
    rebalance_timeout_ms: Int32 = -1
    subscribed_topic_names: list[String] | None = None
    subscribed_topic_regex: Annotated[String | None, since(1)] = None
    server_assignor: String | None = None
    topic_partitions: list[HeartbeatTopicPartitions] | None = None


class HeartbeatAssignment(Message, frozen=True):
    """The ``assignment`` of :class:`ConsumerGroupHeartbeatResponse`."""

    topic_partitions: list[HeartbeatTopicPartitions] = []


class GroupHeartbeatResponse(Message, frozen=True):
    """The member's epoch, and its assignment if that has changed."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    member_id: String | None = None
    member_epoch: Int32 = 0
    heartbeat_interval_ms: Int32 = 0
    assignment: HeartbeatAssignment | None = None


class ConsumerGroupHeartbeatResponse(GroupHeartbeatResponse, frozen=True):
    """What a member of a consumer group is told."""


class GroupsDescribeRequest(Message, frozen=True):
    """Requests the state and the members of groups."""

    group_ids: list[String] = []
    include_authorized_operations: Bool = False


class ConsumerGroupDescribeRequest(GroupsDescribeRequest, frozen=True):
    """Requests consumer groups."""


class DescribedTopicPartitions(Message, frozen=True):
    """Partitions of a topic in descriptions."""

    topic_id: Uuid = NO_UUID
    topic_name: String = ""
    partitions: list[Int32] = []


class DescribedAssignment(Message, frozen=True):
    """A current or a target assignment."""

    topic_partitions: list[DescribedTopicPartitions] = []


class DescribedConsumer(Message, frozen=True):
    member_id: String = ""
    instance_id: String | None = None
    rack_id: String | None = None
    member_epoch: Int32 = 0
    client_id: String = ""
    client_host: String = ""
    subscribed_topic_names: list[String] = []
    subscribed_topic_regex: String | None = None
    assignment: DescribedAssignment = DescribedAssignment()
    target_assignment: DescribedAssignment = DescribedAssignment()
    member_type: Annotated[Int8, since(1)] = -1


class DescribedModernGroup(Message, frozen=True):
    """What is said of a group of both types."""

    error_code: Int16 = 0
    error_message: String | None = None
    group_id: String = ""
    group_state: String = ""
    group_epoch: Int32 = 0
    assignment_epoch: Int32 = 0
    assignor_name: String = ""


class DescribedConsumerGroup(DescribedModernGroup, frozen=True):
    """One of the ``groups`` of :class:`ConsumerGroupDescribeResponse`."""

    members: list[DescribedConsumer] = []
    authorized_operations: Int32 = -2147483648


class ConsumerGroupDescribeResponse(Message, frozen=True):
    """State, epochs and members of each group."""

    throttle_time_ms: Int32 = 0
    groups: list[DescribedConsumerGroup] = []


APIS: Final = (
    Api(68, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, 1, 0),
    Api(69, ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, 1, 0),
)
