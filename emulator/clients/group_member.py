"""Group members: finding the coordinator, joining the group and staying in it.

A member has at most one request in flight, besides heartbeats; its state determines the next one
(:meth:`GroupMembers.pump`). A poll that has begun is completed, including its commit, before the
member rejoins. Source: ``AbstractCoordinator`` and ``ConsumerCoordinator``, 0.9 to 3.9.
"""

from collections.abc import Callable
from typing import Final

from emulator import events
from emulator.clients.assignors import ASSIGNORS, COOPERATIVE
from emulator.clients.context import ClientContext
from emulator.clients.group_state import (
    COUNTING,
    GONE,
    JOINING,
    MEMBER,
    OUT,
    POSITIONS,
    SYNCING,
    Membership,
)
from emulator.clients.network_client import RESPONSE_US, NetworkClient
from emulator.clients.state import Consumer
from emulator.protocol import (
    AnyMessage,
    ConnectionLost,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    GroupResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    MetadataRequest,
    MetadataResponse,
    Subscription,
    SyncGroupRequest,
    SyncGroupResponse,
)
from emulator.protocol.errors import NONE

JOIN_MARGIN_US: Final = 5_000_000
"""How long a member waits for a JoinGroup response beyond the rebalance timeout."""
IDLE_US: Final = 1_000_000
"""The retry interval of a member with no waiting statement."""
ELSEWHERE: Final = frozenset(("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "REQUEST_TIMED_OUT"))


class GroupMembers:
    """The group membership protocol of consumers."""

    def __init__(
        self,
        context: ClientContext,
        connections: NetworkClient,
        *,
        steady: Callable[[Consumer, Membership], None],
        on_response: Callable[[Consumer, Membership, GroupResponse | MetadataResponse], None],
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
        mine = consumer.membership
        idle = consumer.reading is None
        if mine is None or mine.request or mine.paused or (idle and not mine.subscribes):
            return
        if mine.coordinator < 0:
            self._find(consumer, mine)
        elif mine.phase == COUNTING:
            self._count(consumer, mine)
        elif mine.phase == SYNCING:
            self._sync(consumer, mine)
        elif mine.subscribes and self._has_to_join(consumer, mine):
            self._join(consumer, mine)
        else:
            self._steady(consumer, mine)

    @staticmethod
    def _has_to_join(consumer: Consumer, mine: Membership) -> bool:
        reading = consumer.reading
        free = reading is None or reading.stage in ("", JOINING, POSITIONS)
        return free and (mine.phase == OUT or mine.rejoin)

    def ask(self, consumer: Consumer, target: int, message: AnyMessage, limit_us: int) -> None:
        """Send the member's request to a broker."""
        mine = consumer.membership
        assert mine is not None
        mine.target = target
        mine.request = self.context.send(target, message)
        self._limit(consumer, mine, limit_us)

    def ask_coordinator(self, consumer: Consumer, message: AnyMessage) -> None:
        """Send the member's request to its coordinator."""
        mine = consumer.membership
        assert mine is not None
        self.ask(consumer, mine.coordinator, message, self.defaults.request_timeout_us)

    def _limit(self, consumer: Consumer, mine: Membership, delay_us: int) -> None:
        mine.token = self.context.new_id()
        self.context.later("group", consumer.name, mine.token, delay_us)

    def pause(self, consumer: Consumer) -> None:
        """Retry after a backoff (retry.backoff.ms, or longer if no statement waits)."""
        mine = consumer.membership
        assert mine is not None
        mine.request, mine.paused = 0, True
        idle = consumer.reading is None
        self._limit(consumer, mine, IDLE_US if idle else self.defaults.retry_backoff_us)

    # ---- the coordinator

    def _find(self, consumer: Consumer, mine: Membership) -> None:
        mine.left = mine.left or self.connections.candidates(consumer.connections)
        request = FindCoordinatorRequest(mine.group)
        self.ask(consumer, mine.left.pop(0), request, RESPONSE_US)

    def _found(
        self, consumer: Consumer, mine: Membership, response: FindCoordinatorResponse
    ) -> None:
        if response.error == NONE:
            mine.coordinator, mine.left = response.coordinator, []
            self.pump(consumer)
        else:
            mine.error = response.error
            self.pause(consumer)

    def lost(self, consumer: Consumer, mine: Membership) -> None:
        """Mark the coordinator as unknown and look it up again."""
        self._hang_up(mine)
        mine.coordinator = -1
        if mine.phase in (COUNTING, SYNCING):
            mine.phase = OUT
        if not mine.paused:
            self.pause(consumer)

    def _hang_up(self, mine: Membership) -> None:
        """Withdraw the unanswered request; a request already sent may still arrive."""
        if mine.request:
            self.context.withdraw(mine.target, mine.request)
        if mine.heartbeat:
            self.context.withdraw(mine.coordinator, mine.heartbeat)
        mine.request = mine.heartbeat = 0

    # ---- joining

    def subscription(self, mine: Membership) -> Subscription:
        """The member's subscription; the cooperative assignor includes owned partitions."""
        owned = list(mine.partitions) if mine.assignor == COOPERATIVE else []
        return Subscription([mine.topic], owned)

    def _join(self, consumer: Consumer, mine: Membership) -> None:
        if mine.assignor != COOPERATIVE:
            mine.partitions = []
        message = JoinGroupRequest(
            mine.group,
            mine.member_id,
            consumer.name,
            mine.assignor,
            self.subscription(mine),
            self.defaults.session_timeout_us,
            self.defaults.rebalance_timeout_us,
        )
        mine.phase, mine.rejoin = OUT, False
        limit_us = self.defaults.rebalance_timeout_us + JOIN_MARGIN_US
        self.ask(consumer, mine.coordinator, message, limit_us)

    def _joined(self, consumer: Consumer, mine: Membership, response: JoinGroupResponse) -> None:
        mine.member_id = response.member_id or mine.member_id
        if response.error == "MEMBER_ID_REQUIRED":
            self.pump(consumer)
            return
        if response.error != NONE:
            self.failed(consumer, response.error)
            return
        mine.generation, mine.leader = response.generation, response.leader
        mine.members, mine.counts = response.members, {}
        topics = {topic for each in response.members.values() for topic in each.topics}
        mine.counting = sorted(topics)
        mine.phase = COUNTING if mine.leads else SYNCING
        self.pump(consumer)

    def _count(self, consumer: Consumer, mine: Membership) -> None:
        """As the leader, fetch the number of partitions to assign."""
        if not mine.counting:
            mine.phase = SYNCING
            self.pump(consumer)
            return
        self.ask_coordinator(consumer, MetadataRequest(mine.counting[0]))

    def told(self, source: int, message: MetadataResponse) -> bool:
        """Handle a broker's metadata of a topic; return False if no member requested it."""
        for consumer in self.context.state.consumers.values():
            mine = consumer.membership
            if mine is not None and mine.request == message.request:
                self.connections.responded(consumer.connections, source)
                mine.request = 0
                if mine.phase == COUNTING:
                    mine.counts[mine.counting.pop(0)] = len(message.partitions)
                    self.pump(consumer)
                else:
                    self._on_statement_response(consumer, mine, message)
                return True
        return False

    def _sync(self, consumer: Consumer, mine: Membership) -> None:
        assignment: dict[str, list[str]] = {}
        if mine.leads:
            wanted = {name: each.topics for name, each in mine.members.items()}
            owned = {name: each.owned for name, each in mine.members.items()}
            assignment = ASSIGNORS[mine.assignor](mine.counts, wanted, owned)
        message = SyncGroupRequest(mine.group, mine.generation, mine.member_id, assignment)
        self.ask_coordinator(consumer, message)

    def _synced(self, consumer: Consumer, mine: Membership, response: SyncGroupResponse) -> None:
        if response.error != NONE:
            self.failed(consumer, response.error)
            return
        gave_up = any(tp not in response.partitions for tp in mine.partitions)
        mine.rejoin = mine.rejoin or gave_up
        mine.phase, mine.partitions = MEMBER, list(response.partitions)
        self.kernel.emit(
            events.AssignmentChanged,
            mine.group,
            consumer.name,
            mine.generation,
            response.partitions,
        )
        mine.heard_us, mine.heartbeat = self.kernel.now, 0
        self._next_heartbeat(consumer, mine)
        self.pump(consumer)

    def failed(self, consumer: Consumer, error: str) -> None:
        """Handle an error: rejoin, look up the coordinator, retry, or fail the statement."""
        mine = consumer.membership
        assert mine is not None
        mine.error = error
        if error in GONE:
            mine.forget()
            self.pause(consumer)
        elif error in ELSEWHERE:
            self.lost(consumer, mine)
        elif error == "REBALANCE_IN_PROGRESS":
            mine.phase = OUT
            self.pump(consumer)
        elif error == "COORDINATOR_LOAD_IN_PROGRESS":
            self.pause(consumer)
        else:
            consumer.membership = None
            self._statement_refused(consumer, error)

    # ---- heartbeats and leaving

    def _next_heartbeat(self, consumer: Consumer, mine: Membership) -> None:
        mine.heartbeat_token = self.context.new_id()
        delay_us = self.defaults.heartbeat_interval_us
        self.context.later("heartbeat", consumer.name, mine.heartbeat_token, delay_us)

    def beat(self, name: str, token: int) -> None:
        """Send a heartbeat if it is due."""
        consumer = self.context.state.consumers[name]
        mine = consumer.membership
        if mine is None or mine.heartbeat_token != token or mine.phase != MEMBER:
            return
        silent_us = self.kernel.now - mine.heard_us
        if mine.heartbeat and silent_us >= self.defaults.session_timeout_us:
            self.lost(consumer, mine)
        elif mine.coordinator >= 0 and not mine.heartbeat:
            message = HeartbeatRequest(mine.group, mine.generation, mine.member_id)
            mine.heartbeat = self.context.send(mine.coordinator, message)
        self._next_heartbeat(consumer, mine)

    def _beaten(self, consumer: Consumer, mine: Membership, response: HeartbeatResponse) -> None:
        mine.heartbeat, mine.heard_us = 0, self.kernel.now
        if response.error == NONE:
            return
        if response.error in GONE or response.error == "REBALANCE_IN_PROGRESS":
            mine.refused(response.error)
        elif not mine.request:
            self.lost(consumer, mine)
        self.pump(consumer)

    def drop(self, consumer: Consumer) -> None:
        """Leave the group and notify the coordinator if it is known."""
        mine, consumer.membership = consumer.membership, None
        if mine is not None and mine.member_id and mine.coordinator >= 0:
            message = LeaveGroupRequest(mine.group, mine.member_id)
            self.context.send(mine.coordinator, message)

    # ---- responses, timeouts, connections

    def on_response(self, source: int, message: GroupResponse) -> None:
        """Handle a response from the coordinator, or from the broker that looks it up."""
        for consumer in self.context.state.consumers.values():
            mine = consumer.membership
            if mine is None:
                continue
            if isinstance(message, HeartbeatResponse):
                if mine.heartbeat == message.request:
                    self.connections.responded(consumer.connections, source)
                    self._beaten(consumer, mine, message)
            elif mine.request == message.request:
                self.connections.responded(consumer.connections, source)
                mine.request = 0
                self._take(consumer, mine, message)

    def _take(self, consumer: Consumer, mine: Membership, message: GroupResponse) -> None:
        match message:
            case FindCoordinatorResponse():
                self._found(consumer, mine, message)
            case JoinGroupResponse():
                self._joined(consumer, mine, message)
            case SyncGroupResponse():
                self._synced(consumer, mine, message)
            case _:
                self._on_statement_response(consumer, mine, message)

    def timer(self, name: str, token: int) -> None:
        """Handle the end of a backoff, or a request timeout."""
        consumer = self.context.state.consumers[name]
        mine = consumer.membership
        if mine is None or mine.token != token:
            return
        if mine.paused:
            mine.paused = False
            self.pump(consumer)
        elif mine.request:
            self.connections.is_silent(consumer.connections, mine.target)
            self._hang_up(mine)
            self._unanswered(consumer, mine)

    def _unanswered(self, consumer: Consumer, mine: Membership) -> None:
        """Handle a failed request: try the next broker, or look up the coordinator again."""
        if mine.coordinator < 0:
            self.pump(consumer) if mine.left else self.pause(consumer)
        else:
            self.lost(consumer, mine)

    def connection_lost(self, message: ConnectionLost) -> None:
        """Handle a broken or refused connection, which heartbeats and requests share."""
        peer = message.peer
        for consumer in self.context.state.consumers.values():
            mine = consumer.membership
            if mine is None:
                continue
            request = message.request
            if message.lost and request in (mine.heartbeat, mine.request):
                request = 0
            if request in (0, mine.heartbeat, mine.request) and peer in (
                mine.coordinator,
                mine.target,
            ):
                self.connections.broke(consumer.connections, peer)
            if mine.coordinator == peer and request in (0, mine.heartbeat):
                mine.heartbeat = 0
                if not mine.request:
                    self.lost(consumer, mine)
            if mine.request and mine.target == peer and request in (0, mine.request):
                mine.request = 0
                self._unanswered(consumer, mine)
