"""Consumer groups: their states, members and committed positions."""

from typing import Final

from emulator import events
from sessions.model.folding import Handlers, Model
from sessions.model.states import GroupState, MemberAssignment

DEAD: Final = "Dead"
OF_CLASSIC: Final = ("PreparingRebalance", "CompletingRebalance")
"""States that only classic groups have."""


def changing(model: Model, name: str, seq: int) -> GroupState:
    """The group, about to be changed by event ``seq``; made if nobody named it yet."""
    return model.changing(model.state.groups, name, seq, GroupState)


def state_changed(model: Model, event: events.GroupStateChanged) -> None:
    """Update the group's state; a dead group is removed."""
    group = changing(model, event.group, event.seq)
    group.broker, group.state, group.generation = event.broker, event.state, event.generation
    if event.state == DEAD:
        group.members.clear()
    if event.state == DEAD or event.state in OF_CLASSIC:
        group.assignments.clear()
        group.assignor, group.targets = "", {}


def loaded(model: Model, event: events.GroupsLoaded) -> None:
    """Another broker coordinates these groups now."""
    for name in event.groups:
        changing(model, name, event.seq).broker = event.broker


def member_joined(model: Model, event: events.MemberJoined) -> None:
    """One more member."""
    changing(model, event.group, event.seq).members[event.member] = event.consumer


def member_left(model: Model, event: events.MemberLeft) -> None:
    """One member less."""
    group = changing(model, event.group, event.seq)
    group.members.pop(event.member, None)
    group.assignments.pop(event.member, None)


def epoch_bumped(model: Model, event: events.GroupEpochBumped) -> None:
    """A group of the new protocol needs another target assignment."""
    changing(model, event.group, event.seq).generation = event.generation


def target_computed(model: Model, event: events.TargetAssignmentComputed) -> None:
    """The members of a group of the new protocol are to have other partitions."""
    group = changing(model, event.group, event.seq)
    group.assignor, group.assignment_epoch = event.strategy, event.generation
    group.targets = event.targets


def assignment_changed(model: Model, event: events.MemberAssignmentChanged) -> None:
    """A member of the new protocol has moved towards its target assignment."""
    group = changing(model, event.group, event.seq)
    group.members[event.member] = event.consumer
    group.assignments[event.member] = MemberAssignment(
        event.consumer, event.member_epoch, event.partitions, event.revoking, event.awaited
    )


def offset_committed(model: Model, event: events.OffsetCommitted) -> None:
    """A position is committed."""
    changing(model, event.group, event.seq).offsets[event.tp] = event.offset


def offset_expired(model: Model, event: events.OffsetExpired) -> None:
    """A position is forgotten."""
    changing(model, event.group, event.seq).offsets.pop(event.tp, None)


HANDLERS: Final[Handlers] = {
    events.GroupStateChanged: state_changed,
    events.GroupsLoaded: loaded,
    events.MemberJoined: member_joined,
    events.MemberLeft: member_left,
    events.GroupEpochBumped: epoch_bumped,
    events.TargetAssignmentComputed: target_computed,
    events.MemberAssignmentChanged: assignment_changed,
    events.OffsetCommitted: offset_committed,
    events.OffsetExpired: offset_expired,
}
