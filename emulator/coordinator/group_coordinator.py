"""The front of the coordinator: who asks, whether this broker is the one, and its clock.

A broker coordinates the groups of those partitions of __consumer_offsets that it leads, once it has
loaded them. Source: ``kafka.coordinator.group.GroupCoordinator`` 0.9 to 3.9.
"""

from collections.abc import Callable

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.coordinator import offsets_topic
from emulator.coordinator.group_metadata import Offsets
from emulator.coordinator.groups import (
    COMMIT,
    DEAD,
    HEARTBEAT,
    NEXT,
    NONE,
    REFUSED,
    CoordinatorState,
    Group,
)
from emulator.coordinator.members import Members
from emulator.coordinator.offset_expiry import Expiry
from emulator.events import CLIENTS
from emulator.protocol import (
    AnyMessage,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    ProduceRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from emulator.storage.log import Log

LOADING_US = 5_000
"""How long reading a partition of __consumer_offsets takes."""


class GroupCoordinator:
    """Answers the requests of groups and watches their clocks."""

    def __init__(
        self,
        context: BrokerContext,
        state: CoordinatorState,
        *,
        append: Callable[[int, int, ProduceRequest], None],
        log_of: Callable[[str], tuple[Log, int]],
    ) -> None:
        """Act in ``context``.

        ``append`` takes a ProduceRequest as a client's would be taken; ``log_of`` gives this
        broker's log of a partition and its high watermark.
        """
        self.context = context
        self.state = state
        self.append = append
        self.log_of = log_of
        self.kernel = context.kernel
        self.members = Members(self)
        self.offsets = Offsets(self)
        self.expiry = Expiry(self)

    # ---- which groups

    def partition_of(self, group: str) -> str:
        """The partition of __consumer_offsets that a group belongs to.

        How many there are a process finds out once (Kafka: when it starts).
        """
        state = self.state
        if not state.partition_count:
            state.partition_count = offsets_topic.partition_count(self.context)
        return offsets_topic.partition_of(group, state.partition_count)

    def refusal(self, group: str) -> str:
        """The error for any request about a group that this broker does not coordinate (yet)."""
        due_us = self.state.partitions.get(self.partition_of(group))
        if due_us is None:
            return "NOT_COORDINATOR"
        return "COORDINATOR_LOAD_IN_PROGRESS" if due_us else NONE

    def group(self, name: str) -> Group | None:
        """A group that is coordinated here."""
        return self.state.groups.get(name)

    def find(self, client: int, request: int, message: FindCoordinatorRequest) -> None:
        """Say who coordinates a group, making __consumer_offsets if there is none."""
        process = self.context.process
        info = process.metadata.get(self.partition_of(message.group))
        if info is None:
            offsets_topic.create(self.context)
        if info is None or info.leader not in process.live_brokers:
            answer = FindCoordinatorResponse(request, message.group, "COORDINATOR_NOT_AVAILABLE")
        else:
            answer = FindCoordinatorResponse(request, message.group, NONE, info.leader)
        self.context.respond(client, request, answer)

    # ---- becoming and ceasing to be the coordinator

    def leads(self, tp: str) -> None:
        """The broker leads a partition: if it is one of __consumer_offsets, load its groups."""
        partitions = self.state.partitions
        if tp.startswith(offsets_topic.PREFIX) and tp not in partitions:
            partitions[tp] = self.kernel.now + LOADING_US
            self.context.later("groups", LOADING_US)
            self.expiry.begin()

    def leads_no_more(self, tp: str) -> None:
        """The broker leads a partition no longer: its groups are another's."""
        state = self.state
        if state.partitions.pop(tp, None) is None:
            return
        for group in [g for g in state.groups.values() if self.partition_of(g.name) == tp]:
            self.members.fail_waiting(group, "NOT_COORDINATOR")
            self.to(group, DEAD)
            del state.groups[group.name]

    def to(self, group: Group, state: str) -> None:
        """Take a group to another state."""
        assert state in NEXT[group.state], f"{group.state} -> {state}"
        group.state = state
        self.kernel.emit(
            events.GroupStateChanged, group.name, self.context.id, state, group.generation
        )

    # ---- requests

    def join(self, _client: int, request: int, message: JoinGroupRequest) -> None:
        """Take a member in, or again; answered when all have joined."""
        error = self.refusal(message.group)
        if error != NONE:
            self.answer(request, JoinGroupResponse(request, message.group, error))
        else:
            self.members.join(request, message)
        self.watch()

    def sync(self, _client: int, request: int, message: SyncGroupRequest) -> None:
        """Tell a member its partitions; answered when the leader's assignment is stored."""
        error = self.refusal(message.group)
        if error != NONE:
            self.answer(request, SyncGroupResponse(request, message.group, error))
        else:
            self.members.sync(request, message)
        self.watch()

    def heartbeat(self, _client: int, request: int, message: HeartbeatRequest) -> None:
        """Keep a member's session alive; a group that is loading says nothing against it."""
        error = self.refusal(message.group)
        if error == "COORDINATOR_LOAD_IN_PROGRESS":
            error = NONE
        elif error == NONE:
            error = self.members.check(message.group, message.member_id, message.generation)
            group = self.group(message.group)
            if error == NONE and group is not None:
                error = HEARTBEAT[group.state]
                self.members.alive(group, message.member_id)
        self.answer(request, HeartbeatResponse(request, message.group, error))

    def leave(self, _client: int, request: int, message: LeaveGroupRequest) -> None:
        """Let a member go."""
        error = self.refusal(message.group)
        if error == NONE:
            group = self.group(message.group)
            if group is None or message.member_id not in group.members:
                error = REFUSED
            else:
                self.members.remove(group, message.member_id, "left")
        self.answer(request, LeaveGroupResponse(request, message.group, error))
        self.watch()

    def commit(self, _client: int, request: int, message: OffsetCommitRequest) -> None:
        """Write positions to the log; answered when they are replicated."""
        error = self.refusal(message.group)
        group = self.group(message.group)
        if error == NONE and message.generation < 0 and (group is None or not group.members):
            group = group or self.members.make(message.group)
        elif error == NONE and group is None:
            error = "ILLEGAL_GENERATION"
        elif error == NONE:
            error = self.members.check(message.group, message.member_id, message.generation)
            if error == NONE and group is not None:
                error = COMMIT[group.state]
                self.members.alive(group, message.member_id)
        if error == NONE and group is not None:
            self.offsets.commit(group, request, message.offsets)
        else:
            self.answer(request, OffsetCommitResponse(request, message.group, error))
        self.watch()

    def committed(self, _client: int, request: int, message: OffsetFetchRequest) -> None:
        """Tell committed positions."""
        error = self.refusal(message.group)
        group = self.group(message.group)
        known = {} if group is None or error != NONE else group.offsets
        offsets = {tp: known.get(tp, -1) for tp in message.partitions}
        self.answer(request, OffsetFetchResponse(request, message.group, error, offsets))

    def answer(self, request: int, message: AnyMessage) -> None:
        """Answer a client's request."""
        self.context.respond(CLIENTS, request, message)

    # ---- time

    def tick(self) -> None:
        """Do what is due: load partitions, end waits for members, sessions and positions."""
        now, state = self.kernel.now, self.state
        for tp in [tp for tp, due_us in state.partitions.items() if 0 < due_us <= now]:
            state.partitions[tp] = 0
            self.offsets.load(tp)
        for group in list(state.groups.values()):
            self.members.expire(group)
        self.expiry.tick()
        self.watch()

    def watch(self) -> None:
        """Be told when the next thing is due."""
        state = self.state
        due = [due_us for due_us in state.partitions.values() if due_us] + self.expiry.due()
        for group in state.groups.values():
            due += self.members.deadlines(group)
        if due:
            self.context.arm("groups", min(due))
