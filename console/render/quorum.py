"""The controller quorum, and each host's position in the metadata log as a tape."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from msgspec import Struct

from console.model.metadata_image import Metadata
from console.model.tape_window import EPOCH_ROLES
from console.model.workspace import Stage
from console.render.lines import Line, Span, cut, line
from console.styles.glyphs import Glyphs
from sessions.model.metadata_log import end_of
from sessions.model.states import CommittedRecord, QuorumState, ViewState
from sessions.text import number, plural

HEAD_WIDTH = 40
"""Columns before a tape: id, role, process, offset, distance."""
GONE = ("stopped", "crashed")
AMISS = ("fenced", "candidate", "prospective", "resigned", "unattached", "unregistered")
"""Roles of hosts that do not take part as they should."""
PROCESS_ROLES = {"running": "", "starting": "warning", "frozen": "error"}


class Member(Struct, frozen=True):
    """A host that reads the metadata log.

    ``role`` is a controller's in the quorum, or what a broker is to the controller. ``end`` is the
    offset up to which it has the log, ``behind`` the number of committed records after it;
    both are -1 if nothing is known.
    """

    id: int
    role: str
    state: str
    end: int
    behind: int
    is_leader: bool = False


def members(view: ViewState, metadata: Metadata) -> list[Member]:
    """Controllers first, then brokers, by id."""
    controllers = () if view.quorum is None else view.quorum.controllers
    hosts = [*sorted(controllers), *sorted(view.brokers)]
    return [member_of(view, metadata, host) for host in hosts]


def member_of(view: ViewState, metadata: Metadata, host: int) -> Member:
    """Return one host: the leader's view of it, and its own."""
    quorum = view.quorum
    assert quorum is not None
    if host in quorum.controllers:
        is_leader = host == quorum.leader
        end = end_of(quorum) if is_leader else controller_end(quorum, host)
        role, state = controller_role(quorum, host), quorum.controllers[host]
    else:
        is_leader = False
        end = quorum.applied.get(host, -1)
        role, state = broker_role(metadata, host), view.brokers[host].state
    return Member(host, role, state, end, _behind(quorum.log, end), is_leader)


def controller_role(quorum: QuorumState, controller: int) -> str:
    """A controller's role in the quorum, as it knows it itself; a dash if its process is down."""
    is_gone = quorum.controllers.get(controller) in GONE
    return "-" if is_gone else quorum.roles.get(controller, "unattached")


def broker_role(metadata: Metadata, broker: int) -> str:
    """Return a broker's fields in the metadata."""
    known = metadata.image.brokers.get(broker)
    if known is None:
        return "unregistered"
    if known["fenced"]:
        return "fenced"
    return "shutting down" if known["in_controlled_shutdown"] else "active"


def controller_end(quorum: QuorumState, member: int) -> int:
    """How far a controller has the log at least; -1 if nothing is known.

    The leader knows it from fetches, and the controller itself from what it has applied. One that
    led has all records of its epochs, since only a leader appends records.
    """
    known = max(quorum.fetched.get(member, -1), quorum.applied.get(member, -1))
    if known >= 0 and quorum.roles.get(member) == "follower":
        return known
    return max(known, _end_as_leader(quorum.log, member))


def _end_as_leader(log: Sequence[CommittedRecord], member: int) -> int:
    """The end of the newest epoch that a controller led; -1 if it led none."""
    for record in reversed(log):
        if record.kind == "LeaderChange" and json.loads(record.data)["leaderId"] == member:
            last = bisect_right(log, record.epoch, key=lambda each: each.epoch) - 1
            return log[last].offset + 1
    return -1


def _behind(log: Sequence[CommittedRecord], end: int) -> int:
    if end < 0:
        return -1
    return len(log) - bisect_left(log, end, key=lambda record: record.offset)


def quorum_title(view: ViewState) -> list[str]:
    """The leader, its epoch, the end of the committed log, and what is wrong."""
    quorum = view.quorum
    if quorum is None:
        return []
    running = sum(state == "running" for state in quorum.controllers.values())
    total = len(quorum.controllers)
    lacking = f"no majority: {running} of {total} run" if running * 2 <= total else ""
    leader = "no leader" if quorum.leader is None else f"leader {quorum.leader}"
    epoch = "" if quorum.epoch is None else f"epoch {quorum.epoch}"
    return [leader, epoch, f"committed {number(end_of(quorum))}", lacking]


def quorum_lines(stage: Stage, width: int) -> list[Line]:
    """One line a host: who it is, and which of the newest records it has."""
    view, metadata = stage.view.state, stage.metadata
    if view.quorum is None or metadata is None:
        return []
    glyphs = stage.glyphs
    room = max(0, width - HEAD_WIDTH)
    newest = view.quorum.log[-room:] if room else []
    title = f"{'HOST':>6}  {'ROLE':<14}{'PROCESS':<9}{'END':>8}"
    rows = [line(Span(title, "title"), Span(_window(newest), "muted"))]
    rows += [_member_line(each, newest, glyphs) for each in members(view, metadata)]
    return [cut(row, width, glyphs.more) for row in rows]


def _window(newest: Sequence[CommittedRecord]) -> str:
    if not newest:
        return ""
    return f"  records {number(newest[0].offset)} to {number(newest[-1].offset)}, by epoch"


def _member_line(member: Member, newest: Sequence[CommittedRecord], glyphs: Glyphs) -> Line:
    is_up = member.state not in GONE
    mark = glyphs.here if member.is_leader else glyphs.up if is_up else glyphs.offline
    is_wrong = member.role in AMISS
    tape = [
        Span(glyphs.record, f"epoch{record.epoch % EPOCH_ROLES}")
        if record.offset < member.end
        else Span(glyphs.no_record, "faint")
        for record in newest
    ]
    behind = f"  {plural(member.behind, 'record')} behind" if member.behind > 0 else ""
    return line(
        Span(f"{mark} {member.id:>4}  ", "" if is_up else "error"),
        Span(f"{member.role:<14}", "warning" if is_wrong else "strong" if member.is_leader else ""),
        Span(f"{member.state[:8]:<9}", PROCESS_ROLES.get(member.state, "error")),
        f"{'?' if member.end < 0 else number(member.end):>8}  ",
        *_joined(tape),
        Span(behind if not newest else "", "warning"),
    )


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Merge neighbouring spans of the same role."""
    found: list[Span] = []
    for span in spans:
        if found and found[-1].role == span.role:
            found[-1] = Span(found[-1].text + span.text, span.role)
        else:
            found.append(span)
    return found
