"""A broker tells the controller which replicas are in its log directory (KIP-858).

The controller chooses the directory of a new replica itself where a broker has only one. So this
concerns only replicas that were assigned to the broker before it got a new disk.
Source: ``AssignmentsManager``, ``ReplicaManager.maybeUpdateTopicAssignment`` 3.7 to 4.1.
"""

from collections.abc import Iterable
from typing import Any, Final

from emulator.broker.kraft_membership.controller_channel import ControllerChannel
from emulator.broker.kraft_membership.state import KRaftMembershipState, Pending
from emulator.broker_context import BrokerContext
from emulator.metadata_log.changes import TopicIdPartition
from emulator.protocol import AssignReplicasToDirsRequest, AssignReplicasToDirsResponse

TASK: Final = "assignments"
DISPATCH_US: Final = 100_000
"""How long assignments are collected, or wait after an error (``STANDARD_BACKOFF``)."""
LATE_DISPATCH_US: Final = 500_000
"""The same in 3.7 and 3.8 (``DISPATCH_INTERVAL_NS``)."""
PATIENCE_US: Final = 60_000_000
TRY_US: Final = 30_000_000


class AssignmentsManager:
    """Sends the assignments of one broker, one request at a time."""

    def __init__(self, context: BrokerContext, state: KRaftMembershipState) -> None:
        self.context = context
        self.own = state
        is_late = context.profile.has("directory_assignments_wait_half_a_second")
        self.dispatch_us = LATE_DISPATCH_US if is_late else DISPATCH_US
        self.channel = ControllerChannel(
            context, state.assignments, TASK, lambda: TRY_US, self._on_response
        )

    def assign(self, keys: Iterable[TopicIdPartition]) -> None:
        """Send that replicas are in this broker's directory, soon."""
        self.own.unassigned += [(key.topic_id, key.partition) for key in keys]
        if self.own.unassigned:
            self.context.later(TASK, self.dispatch_us)

    def send(self) -> None:
        """Send what has been collected, unless a request is in flight."""
        own, context = self.own, self.context
        if own.assignments.queue:
            return
        due = [partition for partition in own.unassigned if self._is_valid(*partition)]
        own.unassigned = []
        if due:
            request = AssignReplicasToDirsRequest(
                context.id, context.process.broker_epoch, own.directory, due
            )
            self.channel.ask(request, PATIENCE_US)

    def _is_valid(self, topic_id: str, number: int) -> bool:
        """Whether the replica is still assigned to this broker (``Assignment.valid``)."""
        topic = self.own.image.topics.get(topic_id)
        partition = None if topic is None else topic.partitions.get(number)
        return partition is not None and self.context.id in partition.replicas

    def _on_response(self, pending: Pending, response: Any) -> None:  # noqa: ANN401 - None or one kind
        message = pending.message
        assert isinstance(message, AssignReplicasToDirsRequest)
        if isinstance(response, AssignReplicasToDirsResponse) and response.error == "NONE":
            self.own.unassigned += response.refused
        else:
            self.own.unassigned += message.partitions
        if self.own.unassigned:
            self.context.later(TASK, self.dispatch_us)
