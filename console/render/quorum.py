"""The controller quorum, and each host's position in the metadata log as a tape."""

from collections.abc import Sequence

from console.model.tape_window import EPOCH_ROLES
from console.model.workspace import Stage
from console.render.lines import Line, Span, cut, line
from console.styles.glyphs import Glyphs
from sessions.model.metadata_log import end_of
from sessions.model.quorum import GONE, Member, controllers_running, members
from sessions.model.states import CommittedRecord, ViewState
from sessions.text import number, plural

HEAD_WIDTH = 40
"""Columns before a tape: id, role, process, offset, distance."""
AMISS = ("fenced", "candidate", "prospective", "resigned", "unattached", "unregistered")
"""Roles of hosts that do not take part as they should."""
PROCESS_ROLES = {"running": "", "starting": "warning", "frozen": "error"}


def quorum_title(view: ViewState) -> list[str]:
    """The leader, its epoch, the end of the committed log, and what is wrong."""
    quorum = view.quorum
    if quorum is None:
        return []
    running = controllers_running(quorum)
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
    rows += [_member_line(member, newest, glyphs) for member in members(view, metadata)]
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
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].role == span.role:
            merged[-1] = Span(merged[-1].text + span.text, span.role)
        else:
            merged.append(span)
    return merged
