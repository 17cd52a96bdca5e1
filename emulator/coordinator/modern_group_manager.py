"""What the managers of consumer groups and share groups do alike: writing, answering, timing out.

A request's records are applied at once, and appended; the answer is sent when they are replicated.
If they cannot be appended, the group is again as it was before. Source: ``GroupCoordinatorService``
and ``CoordinatorRuntime`` 4.0 to 4.2.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar

from msgspec import Struct

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.common.java_collections import timeline_order
from emulator.common.names import as_sent
from emulator.coordinator.consumer_groups.group import ConsumerGroup
from emulator.coordinator.group_metadata import LATE, GroupMetadataManager
from emulator.coordinator.groups import TASK, Group, GroupAnswer, Store, group_key
from emulator.coordinator.modern_groups.group import MemberT, ModernGroup
from emulator.coordinator.modern_groups.records import (
    CurrentAssignmentRecord,
    EpochRecord,
    TargetEpochRecord,
    TopicMetadata,
)
from emulator.coordinator.modern_groups.requests import FENCED_EPOCH, NO_GROUP, Outcome, Refused
from emulator.coordinator.modern_groups.specification import Partitions
from emulator.coordinator.share_groups.group import ShareGroup
from emulator.protocol import (
    ConsumerGroupDescription,
    ConsumerGroupHeartbeatResponse,
    ConsumerMemberDescription,
    GroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from emulator.simulation.snapshot import copier

US_PER_MS: Final = 1_000

GroupT = TypeVar("GroupT", bound=ModernGroup[Any])
"""The state of a group."""
StateT = TypeVar("StateT", bound=Struct)
RequestT = TypeVar("RequestT", bound=GroupHeartbeatRequest)


class Progress(Struct, frozen=True):
    """How far a member is: its state, what it has to give up, and for whom it waits."""

    state: str
    revoking: Partitions
    awaits: list[str]


class ModernGroupManager(Generic[GroupT, MemberT, RequestT]):
    """The groups of one type that a broker coordinates.

    ``kind`` is the type as messages and configurations name it. There are such groups if the
    cluster has ``feature``, and the release ``profile_feature``.
    """

    kind: ClassVar[str]
    feature: ClassVar[str]
    profile_feature: ClassVar[str]
    response: ClassVar[type[ConsumerGroupHeartbeatResponse] | type[ShareGroupHeartbeatResponse]]

    def __init__(self, context: BrokerContext, metadata: GroupMetadataManager) -> None:
        self.context = context
        self.metadata = metadata
        self.kernel = context.kernel

    @property
    def is_enabled(self) -> bool:
        """Whether the release has such groups, and the cluster their feature."""
        level = self.context.metadata.feature_level(self.feature)
        return level > 0 and self.context.profile.has(self.profile_feature)

    def topic(self, name: str) -> TopicMetadata | None:
        """A topic as this broker knows it."""
        topic = self.context.metadata.topic(name)
        return None if topic is None else TopicMetadata(as_sent(topic.id), topic.partitions)

    # ---- what groups of one type do otherwise

    @property
    def timeouts_us(self) -> tuple[int, int]:
        """How long a member may be silent, and how often it sends heartbeats, by default."""
        raise NotImplementedError

    def state_of(self, group: Group) -> GroupT | None:
        """The state of a group of this type; None: it is of another."""
        raise NotImplementedError

    def _validate(self, message: RequestT) -> None:
        """Check a heartbeat by itself; raise Refused if it is invalid."""
        raise NotImplementedError

    def _new(self, name: str) -> GroupT:
        """The state of a group without members."""
        raise NotImplementedError

    def _decide(self, state: GroupT, message: RequestT) -> Outcome[Any, MemberT]:
        raise NotImplementedError

    def _leave(self, request: int, message: RequestT) -> None:
        raise NotImplementedError

    def _removal(self, state: GroupT, members: Sequence[MemberT]) -> Outcome[Any, MemberT]:
        raise NotImplementedError

    def _assignor(self, state: GroupT) -> str:
        raise NotImplementedError

    def _progress(self, state: GroupT, member: MemberT) -> Progress:
        """How far a member is."""
        raise NotImplementedError

    def names(self, state: GroupT, member: MemberT | None = None) -> dict[str, str]:
        """The names of topics by id, as far as they exist; also those of a new member."""
        raise NotImplementedError

    def _described(self, state: GroupT, member: MemberT) -> ConsumerMemberDescription:
        raise NotImplementedError

    # ---- heartbeats

    def accepts(self, request: int, message: RequestT) -> bool:
        """Whether a heartbeat is valid by itself; if it is not, it is answered."""
        try:
            self._validate(message)
        except Refused as refused:
            self._refuse(request, message, refused)
            return False
        return True

    def heartbeat(self, request: int, message: RequestT) -> None:
        try:
            if message.member_epoch < 0:
                self._leave(request, message)
            else:
                self._stay(request, message)
        except Refused as refused:
            self._refuse(request, message, refused)

    def _refuse(self, request: int, message: RequestT, refused: Refused) -> None:
        if refused.error in (FENCED_EPOCH, "FENCED_INSTANCE_ID"):
            self.kernel.emit(
                events.MemberFenced,
                message.group,
                self.context.id,
                message.client,
                message.member_id,
                refused.error,
                message.member_epoch,
            )
        response = self.response(request, message.group, refused.error, str(refused))
        self.metadata.respond(request, response)

    def _state_for(self, group: Group | None, message: RequestT) -> GroupT:
        """The state of the group that a member joins or stays in, perhaps a new one.

        Raises:
            Refused: there is no such group, or it is of another type.
        """
        if group is None and message.member_epoch:
            text = f"{self.kind.capitalize()} group {message.group} not found."
            raise Refused(NO_GROUP, text)
        state = None if group is None else self.state_of(group)
        if group is not None and state is None:
            raise Refused(NO_GROUP, self._of_other_type(message.group))
        return state or self._new(message.group)

    def _of_other_type(self, name: str) -> str:
        return f"Group {name} is not a {self.kind} group."

    def _stay(self, request: int, message: RequestT) -> None:
        group = self.metadata.group(message.group)
        state = self._state_for(group, message)
        outcome = self._decide(state, message)
        member, assignment = outcome.member, outcome.assignment
        group = group or self.metadata.make(message.group)
        names = self.names(state, member) if assignment else {}
        answer = self.response(
            request,
            group.name,
            NONE,
            "",
            member.id,
            member.epoch,
            self._duration_us(group.name, "heartbeat.interval.ms", self.timeouts_us[1])
            // US_PER_MS,
            assignment,
            {topic: names[topic] for topic in assignment or () if topic in names},
        )
        self._settle(group, state, outcome, answer)

    def _settle(
        self,
        group: Group,
        state: GroupT,
        outcome: Outcome[Any, MemberT],
        answer: GroupAnswer,
    ) -> None:
        """Write what a member's joining or staying has changed, and tell of it."""
        member, before = outcome.member, dict(state.members)
        first, reverts = self._become(group, state, member)
        self._write(group, outcome.records, answer, outcome.begins, first=first, reverts=reverts)
        self._keep_session(state, member, was=before.get(member.id))
        if member.id not in before:
            fields = (group.name, self.context.id, member.client, member.id)
            self.kernel.emit(events.MemberJoined, *fields)
        self._tell(group, outcome, before)
        self._stayed(group, outcome)

    def _stayed(self, group: Group, outcome: Outcome[Any, MemberT]) -> None:
        """Do what follows from a heartbeat."""

    def _become(
        self, group: Group, state: GroupT, member: MemberT
    ) -> tuple[list[Any], Group | None]:
        """Let a group have a state, which may be new, because of a member.

        Return the records that this takes, and what the group was if it was of another type.
        """
        raise NotImplementedError

    def _keep_session(self, state: GroupT, member: MemberT, *, was: MemberT | None) -> None:
        """Note a member's sign of life; ``was`` is the member before it."""
        state.sessions[member.id] = self.kernel.now + self.session_timeout_us(state.name)
        self.watch(state)

    def _remove(
        self,
        group: Group,
        members: Sequence[MemberT],
        reason: str,
        answer: GroupAnswer | None = None,
    ) -> None:
        state = self._state(group)
        before = dict(state.members)
        outcome = self._removal(state, members)
        self._write(group, outcome.records, answer)
        why = self._tell_left(group, members, reason)
        self._tell(group, outcome._replace(reason=why), before)

    def _tell_left(self, group: Group, members: Sequence[MemberT], reason: str) -> str:
        """Emit that members are gone; return that as the reason for what follows."""
        for member in members:
            fields = (group.name, self.context.id, member.client, member.id, reason)
            self.kernel.emit(events.MemberLeft, *fields)
        return f"{', '.join(member.client for member in members)}: {reason}"

    def _state(self, group: Group) -> GroupT:
        state = self.state_of(group)
        assert state is not None
        return state

    # ---- writing

    def _write(
        self,
        group: Group,
        records: list[Any],
        answer: GroupAnswer | None = None,
        begins: Partitions | None = None,
        *,
        first: Sequence[Any] = (),
        reverts: Group | None = None,
        deletes: int = 0,
    ) -> None:
        """Apply records and append them; answer when all that was decided before is replicated."""
        state = self._state(group)
        answers = [] if answer is None else [answer]
        if not (records or first):
            if answer is not None and not self.metadata.await_pending(group.name, answer):
                self.metadata.respond(answer.request, answer)
            return
        before = copied(state)
        assert isinstance(before, ConsumerGroup | ShareGroup)
        for record in records:
            state.replay(record)
        self._note_state(group)
        store = Store(group.name, answers=answers, before=before, reverts=reverts, deletes=deletes)
        store.state_epoch, store.begins = state.epoch, begins or {}
        self.metadata.write(store, [*first, *records])

    def stored(self, store: Store, error: str) -> None:
        """Handle the outcome of a write: answer, or restore the group as it was."""
        group = self.metadata.group(store.group)
        if error in (NONE, LATE) or group is None:
            return
        if store.first:
            del self.metadata.state.groups[group.name]
        elif store.reverts is not None:
            self.metadata.state.groups[group.name] = store.reverts
        elif store.before is not None:
            sessions = group.modern.sessions if group.modern is not None else {}
            group.modern = store.before
            group.modern.sessions.update(sessions)
            self._note_state(group)

    # ---- what is told

    def _note_state(self, group: Group) -> None:
        """Keep the state and the epoch where those of classic groups are."""
        state = self._state(group)
        group.state, group.generation = state.state, state.epoch

    def _tell(
        self, group: Group, outcome: Outcome[Any, MemberT], before: Mapping[str, MemberT]
    ) -> None:
        state, emit, where = self._state(group), self.kernel.emit, (group.name, self.context.id)
        if any(isinstance(record, EpochRecord) for record in outcome.records):
            emit(events.GroupEpochBumped, *where, state.epoch, outcome.reason)
        if any(isinstance(record, TargetEpochRecord) for record in outcome.records):
            names, computed = self.names(state), (state.assignment_epoch, self._assignor(state))
            targets = {name: named(state.target[name], names) for name in sorted(state.target)}
            emit(events.TargetAssignmentComputed, *where, *computed, targets)
        for record in outcome.records:
            if isinstance(record, CurrentAssignmentRecord) and not record.is_tombstone:
                member = state.members[record.member]
                if member != before.get(member.id):
                    self._tell_member(state, member)
        if outcome.records:
            emit(events.GroupStateChanged, *where, state.state, state.epoch)

    def _tell_member(self, state: GroupT, member: MemberT) -> None:
        names, progress = self.names(state), self._progress(state, member)
        self.kernel.emit(
            events.MemberAssignmentChanged,
            state.name,
            self.context.id,
            member.client,
            member.id,
            member.epoch,
            progress.state,
            named(member.assigned, names),
            named(progress.revoking, names),
            progress.awaits,
        )

    def description(self, group: Group | None, name: str) -> ConsumerGroupDescription:
        """A group as its coordinator describes it."""
        if group is None:
            return ConsumerGroupDescription(NO_GROUP, f"Group {name} not found.")
        state = self.state_of(group)
        if state is None:
            return ConsumerGroupDescription(NO_GROUP, self._of_other_type(name))
        return ConsumerGroupDescription(
            NONE,
            "",
            state.state,
            state.epoch,
            state.assignment_epoch,
            self._assignor(state),
            [
                self._described(state, state.members[member])
                for member in timeline_order(state.members)
            ],
            self.names(state),
        )

    # ---- settings

    def session_timeout_us(self, group: str) -> int:
        """How long a member of a group may be silent."""
        return self._duration_us(group, "session.timeout.ms", self.timeouts_us[0])

    def _duration_us(self, group: str, name: str, default_us: int) -> int:
        """A group's own configuration, or the default."""
        return self.context.group_duration_us(group, f"{self.kind}.{name}", default_us)

    # ---- time

    def watch(self, state: GroupT) -> None:
        """Schedule a check of a group at its next deadline."""
        due = state.deadlines
        if due:
            self.context.timers.set_deadline(TASK, group_key(state.name), min(due))

    def expire(self, group: Group) -> None:
        """Remove members that were silent for too long."""
        state, now = self._state(group), self.kernel.now
        for name, due_us in list(state.sessions.items()):
            if due_us <= now and name in state.members and self.state_of(group) is state:
                self._remove(group, [state.members[name]], "session expired")
        if self.state_of(group) is state:
            self.watch(state)

    def loaded(self, group: Group) -> None:
        """Start the sessions of a group that was loaded anew."""
        state, now = self._state(group), self.kernel.now
        for name in state.members:
            state.sessions[name] = now + self.session_timeout_us(group.name)
        self._note_state(group)
        self.watch(state)


def copied(state: StateT) -> StateT:
    """A copy that later records do not change."""
    copy = copier(type(state))
    assert copy is not None
    made: StateT = copy(state)
    return made


def named(partitions: Partitions, names: Mapping[str, str]) -> list[str]:
    """Partitions by name; by their topic's id if it does not exist any more."""
    return [
        f"{names.get(topic, topic)}-{number}"
        for topic, numbers in partitions.items()
        for number in numbers
    ]
