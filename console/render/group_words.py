"""Events of consumer groups, in one clause each (:mod:`console.render.event_words`)."""

from console.render.event_words import records, replica, some
from emulator import events
from sessions.text import number


def group_records_written(event: events.GroupRecordsWritten) -> str:
    """A coordinator's own records."""
    where = replica(event.tp, event.broker)
    return f"group {event.group} writes {records(len(event.values))} to {where}"


def groups_loaded(event: events.GroupsLoaded) -> str:
    """A new coordinator."""
    found = some(event.groups) or "no groups"
    return f"{replica(event.tp, event.broker)} coordinates {found}"


def group_state_changed(event: events.GroupStateChanged) -> str:
    """A step of the group's state machine."""
    return f"group {event.group} {event.state}, generation {event.generation} ({event.broker})"


def member_joined(event: events.MemberJoined) -> str:
    """A new member."""
    return f"{event.consumer} joined group {event.group} as {event.member}"


def member_left(event: events.MemberLeft) -> str:
    """A member gone, and how."""
    return f"{event.consumer} is out of group {event.group}: {event.reason}"


def assignment_changed(event: events.AssignmentChanged) -> str:
    """Who reads what."""
    what = some(event.partitions) or "nothing"
    return f"{event.consumer} reads {what} for group {event.group}, generation {event.generation}"


def offset_committed(event: events.OffsetCommitted) -> str:
    """How far a group is."""
    return f"group {event.group} committed {event.tp} {number(event.offset)}"


def offset_expired(event: events.OffsetExpired) -> str:
    """What is forgotten."""
    return f"group {event.group} forgot {event.tp} {number(event.offset)}: committed too long ago"
