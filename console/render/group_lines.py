"""A group in detail: members and epochs, who waits for whom, and the records in flight."""

from typing import Final

from console.model.group_why import GroupWhy
from console.model.workspace import Stage
from console.render.lines import BLANK, Line, Span, data, fit, line, wrap
from sessions.model.states import GroupState, MemberAssignment, SharePartitionState, ShareRun
from sessions.text import age, clean, number, plural

KINDS: Final = {
    "classic": "classic group",
    "consumer": "group of the consumer protocol (KIP-848)",
    "share": "share group (KIP-932)",
}
ROLES: Final = {"acquired": "primary", "available": "warning", "archived": "error"}
"""The roles of the states of records; acknowledged ones need no attention."""
RUNS_MAX: Final = 40
"""How many runs of records are listed."""
NAME_MAX: Final = 12


def group_lines(stage: Stage, why: GroupWhy, group: GroupState, tp: str, width: int) -> list[Line]:
    """All about a group, and about ``tp`` (empty: no partition) if it is a share group."""
    rows = [
        line(data(group.name, "strong"), Span(f"  {KINDS[group.protocol]}", "muted")),
        line(
            Span("state ", "muted"),
            data(group.state),
            Span("  coordinator ", "muted"),
            "none" if group.broker < 0 else str(group.broker),
        ),
        *_epochs(group),
        *_because(why.of_rebalance(group), width),
        *_members(group, width),
        *_waits(group, width),
    ]
    share = group.shares.get(tp)
    if share is not None:
        rows += _share(stage, why, group, tp, share, width)
    return rows


def _because(reason: str, width: int) -> list[Line]:
    if not reason:
        return []
    first, *rest = wrap(reason, max(10, width - 4))
    head = line(Span("WHY ", "title"), Span(first))
    return [head, *(line("    ", Span(row)) for row in rest)]


def _epochs(group: GroupState) -> list[Line]:
    if group.protocol == "classic":
        return [line(Span("generation ", "muted"), number(group.generation))]
    is_behind = group.assignment_epoch < group.generation
    return [
        line(
            Span("epoch ", "muted"),
            number(group.generation),
            Span("  target of epoch ", "muted"),
            Span(number(group.assignment_epoch), "warning" if is_behind else ""),
            Span(f"  by {clean(group.assignor)}" if group.assignor else "", "muted"),
        )
    ]


# ---- members


def _members(group: GroupState, width: int) -> list[Line]:
    """Each member with its epoch, and what it has, has to give up and is to have."""
    if not group.members:
        return [BLANK, line(Span("no members", "muted"))]
    rows = [BLANK, line(Span("MEMBERS", "title"))]
    names = max(len(clean(name)) for name in group.members.values())
    names = min(NAME_MAX, names)
    for member, consumer in sorted(group.members.items(), key=lambda item: (item[1], item[0])):
        assignment = group.assignments.get(member)
        head = Span(f"  {fit(clean(consumer), names)}", "strong")
        if assignment is None:
            rows.append(line(head, Span(f"  {clean(member)}", "muted")))
            continue
        word, role = _progress(group, member, assignment)
        rows.append(line(head, f" epoch {assignment.epoch}  ", Span(word, role)))
        target = group.targets.get(member)
        rows += _partitions("has", assignment.partitions, "", names, width)
        rows += _partitions("gives up", assignment.revoking, "warning", names, width)
        if target is not None and set(target) != set(assignment.partitions):
            rows += _partitions("is to have", target, "muted", names, width)
    return rows


def _progress(group: GroupState, member: str, assignment: MemberAssignment) -> tuple[str, str]:
    """How far a member is on the way to its target, and the role of the words."""
    if assignment.revoking:
        return "has to give up partitions first", "warning"
    if assignment.awaited:
        return "waits", "warning"
    if assignment.epoch < group.assignment_epoch:
        return f"learns of epoch {group.assignment_epoch} by its next heartbeat", "warning"
    return "has its target", "muted"


def _partitions(
    label: str, partitions: list[str], role: str, indent: int, width: int
) -> list[Line]:
    if not partitions and label == "gives up":
        return []
    margin = " " * (indent + 3)
    text = " ".join(map(clean, partitions)) or "nothing"
    first, *rest = wrap(text, max(10, width - len(margin) - len(label) - 1))
    below = " " * (len(margin) + len(label) + 1)
    return [
        line(margin, Span(f"{label} ", "muted"), Span(first, role)),
        *(line(below, Span(row, role)) for row in rest),
    ]


def _waits(group: GroupState, width: int) -> list[Line]:
    """Who waits for whom: which member has not yet given up which partitions."""
    sentences = [
        f"{clean(group.members.get(member, member))} waits for "
        f"{clean(group.members.get(owner, owner))}, which has not yet given up "
        f"{' '.join(map(clean, partitions)) or 'its partitions'}"
        for member in group.assignments
        for owner, partitions in group.kept_from(member).items()
    ]
    if not sentences:
        return []
    rows = [BLANK, line(Span("WHO WAITS", "title"))]
    for sentence in sentences:
        rows += [line("  ", Span(row, "warning")) for row in wrap(sentence, width - 2)]
    return rows


# ---- records of a share-partition


def _share(
    stage: Stage, why: GroupWhy, group: GroupState, tp: str, share: SharePartitionState, width: int
) -> list[Line]:
    head = line(Span("SHARED ", "title"), data(tp, "title"), Span(_whose(share), "muted"))
    counts = [
        f"{number(share.count('acquired'))} acquired",
        f"{number(share.count('available'))} to be delivered again",
        f"{number(share.archived)} archived so far",
    ]
    rows = [
        BLANK,
        head,
        line(Span("start offset (SPSO) ", "muted"), number(share.start)),
        *(line(Span(row, "muted")) for row in wrap(", ".join(counts), width)),
    ]
    if not share.runs:
        return [*rows, line(Span("no record is in flight", "muted"))]
    title = f"{'OFFSETS':<13}{'STATE':<13}{'DELIVERED':>9}  MEMBER, LOCK"
    rows.append(line(Span(title, "title")))
    previous = ""
    for run in share.runs[:RUNS_MAX]:
        rows.append(_run(stage, run))
        reason = why.of_run(group.name, tp, run)
        if reason and reason != previous:
            rows += [line("  ", Span(row, "muted")) for row in wrap(reason, width - 2)]
        previous = reason
    if len(share.runs) > RUNS_MAX:
        rows.append(line(Span(f"and {plural(len(share.runs) - RUNS_MAX, 'run')} more", "muted")))
    return rows


def _whose(share: SharePartitionState) -> str:
    return "  by nobody now" if share.broker < 0 else f"  by broker {share.broker}"


def _run(stage: Stage, run: ShareRun) -> Line:
    offsets = number(run.first) if run.count == 1 else f"{number(run.first)}..{number(run.last)}"
    times = "once" if run.deliveries == 1 else f"{run.deliveries} times"
    left_us = run.locked_until_us - stage.source.time_us
    lock = f", ends in {age(left_us)}" if left_us > 0 else ", ends now"
    return line(
        f"{offsets:<13}",
        Span(f"{run.state:<13}", ROLES.get(run.state, "muted")),
        f"{times:>9}",
        *((f"  {clean(run.consumer)}", Span(lock, "muted")) if run.consumer else ()),
    )
