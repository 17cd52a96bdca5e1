"""Group members: finding the coordinator, joining the group and staying in it.

A member has at most one request in flight, besides heartbeats; its state determines the next one
(:meth:`GroupMembers.pump`). A poll that has begun is completed, including its commit, before the
member rejoins. Source: ``AbstractCoordinator`` and ``ConsumerCoordinator``, 0.9 to 3.9.
"""

from collections.abc import Callable
from typing import Final

from emulator import events
from emulator import protocol as messages
from emulator.clients.assignors import ASSIGNORS, COOPERATIVE
from emulator.clients.context import ClientContext
from emulator.clients.group_state import (
    AWAITING,
    CONSUMER,
    COUNTING,
    GONE,
    JOINING,
    MEMBER,
    OUT,
    POSITIONS,
    SHARE,
    SYNCING,
    Membership,
)
from emulator.clients.network_client import RESPONSE_US, NetworkClient
from emulator.clients.state import Consumer
from emulator.common.errors import NONE
from emulator.common.names import random_uuid, split

JOIN_MARGIN_US: Final = 5_000_000
"""How long a member waits for a JoinGroup response beyond the rebalance timeout."""
IDLE_US: Final = 1_000_000
"""The retry interval of a member with no waiting statement."""
LEFT: Final = -1
"""The epoch with which a member of the protocol `consumer` leaves."""
AWAITED_HEARTBEATS: Final = 2
"""For how many heartbeats a new member without partitions waits for some."""
FENCED: Final = frozenset(("FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"))
"""Errors after which a member of the protocol `consumer` joins again under its id."""
ELSEWHERE: Final = frozenset(("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "REQUEST_TIMED_OUT"))


class GroupMembers:
    """The group membership protocol of consumers."""

    def __init__(
        self,
        context: ClientContext,
        connections: NetworkClient,
        *,
        steady: Callable[[Consumer, Membership], None],
        on_response: Callable[
            [Consumer, Membership, messages.GroupResponse | messages.MetadataResponse], None
        ],
        refused: Callable[[Consumer, str], None],
    ) -> None:
        """Use ``context``.

        ``steady`` takes a stable member's next step for its statement, ``answered`` handles the
        response to it, and ``refused`` fails the statement of a consumer that cannot join.
        """
        self.context = context
        self.kernel = context.kernel
        self.defaults = context.consumer_defaults
        self.connections = connections
        self._steady = steady
        self._on_statement_response = on_response
        self._statement_refused = refused

    # ---- next request

    def pump(self, consumer: Consumer) -> None:
        """Send the next request unless one is in flight."""
        membership = consumer.membership
        idle = consumer.reading is None
        if (
            membership is None
            or membership.request
            or membership.paused
            or (idle and not membership.subscribes)
        ):
            return
        if membership.coordinator < 0:
            self._find(consumer, membership)
        elif membership.phase == COUNTING:
            self._count(consumer, membership)
        elif membership.phase == SYNCING:
            self._sync(consumer, membership)
        elif membership.phase == AWAITING:
            return
        elif membership.pending is not None and self._is_free(consumer):
            self._take_assignment(consumer, membership, membership.pending)
        elif membership.subscribes and self._has_to_join(consumer, membership):
            self._join(consumer, membership)
        else:
            self._steady(consumer, membership)

    def _has_to_join(self, consumer: Consumer, membership: Membership) -> bool:
        return self._is_free(consumer) and (membership.phase == OUT or membership.rejoin)

    @staticmethod
    def _is_free(consumer: Consumer) -> bool:
        """Whether a consumer reads nothing at the moment, and has nothing to commit."""
        reading = consumer.reading
        return reading is None or reading.stage in ("", JOINING, POSITIONS)

    def ask(
        self, consumer: Consumer, target: int, message: messages.AnyMessage, limit_us: int
    ) -> None:
        """Send the member's request to a broker."""
        membership = consumer.membership
        assert membership is not None
        membership.target = target
        membership.request = self.context.send(target, message)
        self._limit(consumer, membership, limit_us)

    def ask_coordinator(self, consumer: Consumer, message: messages.AnyMessage) -> None:
        """Send the member's request to its coordinator."""
        membership = consumer.membership
        assert membership is not None
        self.ask(consumer, membership.coordinator, message, self.defaults.request_timeout_us)

    def _limit(self, consumer: Consumer, membership: Membership, delay_us: int) -> None:
        membership.token = self.context.new_id()
        self.context.later("group", consumer.name, membership.token, delay_us)

    def pause(self, consumer: Consumer) -> None:
        """Retry after a backoff (retry.backoff.ms, or longer if no statement waits)."""
        membership = consumer.membership
        assert membership is not None
        membership.request, membership.paused = 0, True
        idle = consumer.reading is None
        self._limit(consumer, membership, IDLE_US if idle else self.defaults.retry_backoff_us)

    # ---- the coordinator

    def _find(self, consumer: Consumer, membership: Membership) -> None:
        membership.left = membership.left or self.connections.candidates(consumer.connections)
        request = messages.FindCoordinatorRequest(membership.group)
        self.ask(consumer, membership.left.pop(0), request, RESPONSE_US)

    def _coordinator_found(
        self, consumer: Consumer, membership: Membership, response: messages.FindCoordinatorResponse
    ) -> None:
        if response.error == NONE:
            membership.coordinator, membership.left = response.coordinator, []
            self.pump(consumer)
        else:
            membership.error = response.error
            self.pause(consumer)

    def lost(self, consumer: Consumer, membership: Membership) -> None:
        """Mark the coordinator as unknown and look it up again."""
        self._hang_up(membership)
        membership.coordinator = -1
        if membership.phase in (COUNTING, SYNCING):
            membership.phase = OUT
        if not membership.paused:
            self.pause(consumer)

    def _hang_up(self, membership: Membership) -> None:
        """Withdraw the unanswered request; a request already sent may still arrive."""
        if membership.request:
            self.context.withdraw(membership.target, membership.request)
        if membership.heartbeat:
            self.context.withdraw(membership.coordinator, membership.heartbeat)
        membership.request = membership.heartbeat = 0

    # ---- joining

    def subscription(self, membership: Membership) -> messages.Subscription:
        """The member's subscription; the cooperative assignor includes owned partitions."""
        owned = list(membership.partitions) if membership.assignor == COOPERATIVE else []
        return messages.Subscription([membership.topic], owned)

    def _join(self, consumer: Consumer, membership: Membership) -> None:
        if membership.protocol in (CONSUMER, SHARE):
            self._join_consumers(consumer, membership)
            return
        if membership.assignor != COOPERATIVE:
            membership.partitions = []
        message = messages.JoinGroupRequest(
            membership.group,
            membership.member_id,
            consumer.name,
            membership.assignor,
            self.subscription(membership),
            self.defaults.session_timeout_us,
            self.defaults.rebalance_timeout_us,
        )
        membership.phase, membership.rejoin = OUT, False
        limit_us = self.defaults.rebalance_timeout_us + JOIN_MARGIN_US
        self.ask(consumer, membership.coordinator, message, limit_us)

    def _joined(
        self, consumer: Consumer, membership: Membership, response: messages.JoinGroupResponse
    ) -> None:
        membership.member_id = response.member_id or membership.member_id
        if response.error == "MEMBER_ID_REQUIRED":
            self.pump(consumer)
            return
        if response.error != NONE:
            self.failed(consumer, response.error)
            return
        membership.generation, membership.leader = response.generation, response.leader
        membership.members, membership.counts = response.members, {}
        topics = {topic for member in response.members.values() for topic in member.topics}
        membership.counting = sorted(topics)
        membership.phase = COUNTING if membership.leads else SYNCING
        self.pump(consumer)

    def _count(self, consumer: Consumer, membership: Membership) -> None:
        """As the leader, fetch the number of partitions to assign."""
        if not membership.counting:
            membership.phase = SYNCING
            self.pump(consumer)
            return
        self.ask_coordinator(consumer, messages.MetadataRequest(membership.counting[0]))

    def metadata_received(self, source: int, message: messages.MetadataResponse) -> bool:
        """Handle a broker's metadata of a topic; return False if no member requested it."""
        for consumer in self.context.state.consumers.values():
            membership = consumer.membership
            if membership is not None and membership.request == message.request:
                self.connections.responded(consumer.connections, source)
                membership.request = 0
                if membership.phase == COUNTING:
                    membership.counts[membership.counting.pop(0)] = len(message.partitions)
                    self.pump(consumer)
                else:
                    self._on_statement_response(consumer, membership, message)
                return True
        return False

    def _sync(self, consumer: Consumer, membership: Membership) -> None:
        assignment: dict[str, list[str]] = {}
        if membership.leads:
            subscriptions = {name: member.topics for name, member in membership.members.items()}
            owned = {name: member.owned for name, member in membership.members.items()}
            assignment = ASSIGNORS[membership.assignor](membership.counts, subscriptions, owned)
        message = messages.SyncGroupRequest(
            membership.group, membership.generation, membership.member_id, assignment
        )
        self.ask_coordinator(consumer, message)

    def _synced(
        self, consumer: Consumer, membership: Membership, response: messages.SyncGroupResponse
    ) -> None:
        if response.error != NONE:
            self.failed(consumer, response.error)
            return
        gave_up = any(tp not in response.partitions for tp in membership.partitions)
        membership.rejoin = membership.rejoin or gave_up
        membership.phase, membership.partitions = MEMBER, list(response.partitions)
        self.kernel.emit(
            events.AssignmentChanged,
            membership.group,
            consumer.name,
            membership.generation,
            response.partitions,
        )
        membership.heard_us, membership.heartbeat = self.kernel.now, 0
        self._next_heartbeat(consumer, membership)
        self.pump(consumer)

    def failed(self, consumer: Consumer, error: str) -> None:
        """Handle an error: rejoin, look up the coordinator, retry, or fail the statement."""
        membership = consumer.membership
        assert membership is not None
        membership.error = error
        if error in GONE:
            membership.forget()
            self.pause(consumer)
        elif error in ELSEWHERE:
            self.lost(consumer, membership)
        elif error == "REBALANCE_IN_PROGRESS":
            membership.phase = OUT
            self.pump(consumer)
        elif error in ("COORDINATOR_LOAD_IN_PROGRESS", "STALE_MEMBER_EPOCH"):
            self.pause(consumer)
        else:
            consumer.membership = None
            self._statement_refused(consumer, error)

    # ---- the protocol `consumer`

    def _join_consumers(self, consumer: Consumer, membership: Membership) -> None:
        """Send the first heartbeat, which joins the group with an id that the member makes."""
        membership.member_id = membership.member_id or random_uuid(self.kernel.random_below)
        membership.phase, membership.rejoin, membership.pending = OUT, False, None
        membership.partitions, membership.generation = [], 0
        if membership.protocol == SHARE:
            topics, name = [membership.topic], consumer.name
            shares = messages.ShareGroupHeartbeatRequest(
                membership.group, membership.member_id, 0, topics=topics, client=name
            )
            self.ask_coordinator(consumer, shares)
            return
        message = messages.ConsumerGroupHeartbeatRequest(
            membership.group,
            membership.member_id,
            0,
            rebalance_timeout_ms=self.defaults.rebalance_timeout_us // 1_000,
            topics=[membership.topic],
            owned={},
            client=consumer.name,
        )
        self.ask_coordinator(consumer, message)

    def _joined_consumers(
        self, consumer: Consumer, membership: Membership, response: messages.EpochResponse
    ) -> None:
        if response.error != NONE:
            self.failed(consumer, response.error)
            return
        membership.phase, membership.waits = AWAITING, AWAITED_HEARTBEATS
        membership.heard_us, membership.heartbeat = self.kernel.now, 0
        self._note_heartbeat(consumer, membership, response)
        self._next_heartbeat(consumer, membership)

    def _note_heartbeat(
        self, consumer: Consumer, membership: Membership, response: messages.EpochResponse
    ) -> None:
        """Take the epoch and, if there is one, the assignment of a response."""
        membership.generation = response.member_epoch
        membership.interval_us = response.heartbeat_interval_ms * 1_000
        membership.ids.update({name: topic for topic, name in response.names.items()})
        if response.assignment is not None:
            partitions = [
                f"{response.names[topic]}-{number}"
                for topic, numbers in response.assignment.items()
                if topic in response.names
                for number in numbers
            ]
            if self._is_free(consumer) or set(membership.partitions) <= set(partitions):
                self._take_assignment(consumer, membership, partitions)
            else:
                membership.pending = partitions
        if membership.phase == AWAITING:
            membership.waits -= 1
            if membership.partitions or membership.waits < 0:
                membership.phase = MEMBER
        self.pump(consumer)

    def _take_assignment(
        self, consumer: Consumer, membership: Membership, partitions: list[str]
    ) -> None:
        """Give up what is not assigned any more, and tell the coordinator so at once."""
        gave_up = not set(membership.partitions) <= set(partitions)
        membership.partitions, membership.pending = partitions, None
        self.kernel.emit(
            events.AssignmentChanged,
            membership.group,
            consumer.name,
            membership.generation,
            partitions,
        )
        if gave_up and membership.coordinator >= 0 and not membership.heartbeat:
            self._send_heartbeat(consumer, membership)
        self.pump(consumer)

    def _send_heartbeat(self, consumer: Consumer, membership: Membership) -> None:
        message: messages.AnyMessage = messages.HeartbeatRequest(
            membership.group, membership.generation, membership.member_id
        )
        if membership.protocol == SHARE:
            message = messages.ShareGroupHeartbeatRequest(
                membership.group,
                membership.member_id,
                membership.generation,
                client=consumer.name,
            )
        elif membership.protocol == CONSUMER:
            owned: dict[str, list[int]] = {}
            for tp in membership.partitions:
                topic, number = split(tp)
                owned.setdefault(membership.ids[topic], []).append(number)
            message = messages.ConsumerGroupHeartbeatRequest(
                membership.group,
                membership.member_id,
                membership.generation,
                owned=owned,
                client=consumer.name,
            )
        membership.heartbeat = self.context.send(membership.coordinator, message)

    def _beaten_consumers(
        self, consumer: Consumer, membership: Membership, response: messages.EpochResponse
    ) -> None:
        """Handle the response to a heartbeat; a fenced member has lost its partitions."""
        membership.heartbeat, membership.heard_us = 0, self.kernel.now
        if response.error == NONE:
            self._note_heartbeat(consumer, membership, response)
            return
        membership.error = response.error
        if response.error in FENCED:
            membership.phase, membership.pending, membership.partitions = OUT, None, []
        elif not membership.request:
            self.lost(consumer, membership)
        self.pump(consumer)

    # ---- heartbeats and leaving

    def _next_heartbeat(self, consumer: Consumer, membership: Membership) -> None:
        membership.heartbeat_token = self.context.new_id()
        delay_us = membership.interval_us or self.defaults.heartbeat_interval_us
        self.context.later("heartbeat", consumer.name, membership.heartbeat_token, delay_us)

    def beat(self, name: str, token: int) -> None:
        """Send a heartbeat if it is due."""
        consumer = self.context.state.consumers[name]
        membership = consumer.membership
        if membership is None or membership.heartbeat_token != token:
            return
        if membership.phase not in (MEMBER, AWAITING):
            return
        silent_us = self.kernel.now - membership.heard_us
        if membership.heartbeat and silent_us >= self.defaults.session_timeout_us:
            self.lost(consumer, membership)
        elif membership.coordinator >= 0 and not membership.heartbeat:
            self._send_heartbeat(consumer, membership)
        self._next_heartbeat(consumer, membership)

    def _beaten(
        self, consumer: Consumer, membership: Membership, response: messages.HeartbeatResponse
    ) -> None:
        membership.heartbeat, membership.heard_us = 0, self.kernel.now
        if response.error == NONE:
            return
        if response.error in GONE or response.error == "REBALANCE_IN_PROGRESS":
            membership.refused(response.error)
        elif not membership.request:
            self.lost(consumer, membership)
        self.pump(consumer)

    def drop(self, consumer: Consumer) -> None:
        """Leave the group and notify the coordinator if it is known."""
        membership, consumer.membership = consumer.membership, None
        if membership is not None and membership.member_id and membership.coordinator >= 0:
            self.context.send(membership.coordinator, leaving(membership))

    # ---- responses, timeouts, connections

    def on_response(self, source: int, message: messages.GroupResponse) -> None:
        """Handle a response from the coordinator, or from the broker that looks it up."""
        for consumer in self.context.state.consumers.values():
            membership = consumer.membership
            if membership is None:
                continue
            is_beat = membership.heartbeat and membership.heartbeat == message.request
            if is_beat and isinstance(message, messages.EpochResponse):
                self.connections.responded(consumer.connections, source)
                self._beaten_consumers(consumer, membership, message)
            elif isinstance(message, messages.HeartbeatResponse):
                if membership.heartbeat == message.request:
                    self.connections.responded(consumer.connections, source)
                    self._beaten(consumer, membership, message)
            elif membership.request == message.request:
                self.connections.responded(consumer.connections, source)
                membership.request = 0
                self._take(consumer, membership, message)

    def _take(
        self, consumer: Consumer, membership: Membership, message: messages.GroupResponse
    ) -> None:
        match message:
            case messages.FindCoordinatorResponse():
                self._coordinator_found(consumer, membership, message)
            case messages.JoinGroupResponse():
                self._joined(consumer, membership, message)
            case messages.SyncGroupResponse():
                self._synced(consumer, membership, message)
            case (
                messages.ConsumerGroupHeartbeatResponse(member_epoch=epoch)
                | messages.ShareGroupHeartbeatResponse(member_epoch=epoch)
            ) if epoch >= 0:
                self._joined_consumers(consumer, membership, message)
            case _:
                self._on_statement_response(consumer, membership, message)

    def timer(self, name: str, token: int) -> None:
        """Handle the end of a backoff, or a request timeout."""
        consumer = self.context.state.consumers[name]
        membership = consumer.membership
        if membership is None or membership.token != token:
            return
        if membership.paused:
            membership.paused = False
            self.pump(consumer)
        elif membership.request:
            self.connections.is_silent(consumer.connections, membership.target)
            self._hang_up(membership)
            self._unanswered(consumer, membership)

    def _unanswered(self, consumer: Consumer, membership: Membership) -> None:
        """Handle a failed request: try the next broker, or look up the coordinator again."""
        if membership.coordinator < 0:
            self.pump(consumer) if membership.left else self.pause(consumer)
        else:
            self.lost(consumer, membership)

    def connection_lost(self, message: messages.ConnectionLost) -> None:
        """Handle a broken or refused connection, which heartbeats and requests share."""
        peer = message.peer
        for consumer in self.context.state.consumers.values():
            membership = consumer.membership
            if membership is None:
                continue
            request = message.request
            if message.lost and request in (membership.heartbeat, membership.request):
                request = 0
            if request in (0, membership.heartbeat, membership.request) and peer in (
                membership.coordinator,
                membership.target,
            ):
                self.connections.broke(consumer.connections, peer)
            if membership.coordinator == peer and request in (0, membership.heartbeat):
                membership.heartbeat = 0
                if not membership.request:
                    self.lost(consumer, membership)
            if (
                membership.request
                and membership.target == peer
                and request in (0, membership.request)
            ):
                membership.request = 0
                self._unanswered(consumer, membership)


def leaving(membership: Membership) -> messages.AnyMessage:
    """The request with which a member leaves its group."""
    if membership.protocol == CONSUMER:
        return messages.ConsumerGroupHeartbeatRequest(membership.group, membership.member_id, LEFT)
    if membership.protocol == SHARE:
        return messages.ShareGroupHeartbeatRequest(membership.group, membership.member_id, LEFT)
    return messages.LeaveGroupRequest(membership.group, membership.member_id)
