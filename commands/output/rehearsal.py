"""Output of a rehearsal: the verdict, a table of the cases, and what is behind it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from commands.output.grids import Grid
from sessions.rehearsal.change import Change
from sessions.rehearsal.report import CaseReport, Report
from sessions.rehearsal.risks import in_order
from sessions.text import plural

COLUMNS: Final = ("CASE", "VERDICT", "RF1 OFF", "UNAVAIL", "ACKS=ALL", "ACKS=1", "RACES", "SECONDS")
MOVES_SHOWN: Final = 40
"""How many moves of a plan are listed; JSON has all."""
STEPS_SHOWN: Final = 60
"""How many steps are listed; JSON has all."""
SHOWN: Final = 6
"""How many partitions a line lists before it breaks off."""
KINDS: Final = (
    ("rf1_offline", "offline, replication factor 1"),
    ("unavailable", "no replica may lead"),
    ("full_acks_produce_unavailable", "writes with acks=all refused"),
)


def verdict(report: Report) -> str:
    """Return the verdict in one line."""
    unsafe = [case for case in report.cases if not case.risks.is_safe]
    if unsafe:
        return (
            f"UNSAFE: {len(unsafe)} of {plural(len(report.cases), 'case')}"
            f" {'makes' if len(unsafe) == 1 else 'make'} partitions unavailable or unwritable that"
            " are healthy now"
        )
    if not report.safe:
        is_by_change = report.change is not None and report.change.unwritable
        operation = "change" if is_by_change else "restart"
        return f"UNSAFE: the {operation} makes partitions unwritable for a while"
    if not report.cases:
        return "SAFE: the restart makes no partition unwritable that is healthy now"
    return f"SAFE: nothing that is healthy now fails in {plural(len(report.cases), 'case')}"


def tables(report: Report) -> list[Grid]:
    """Return the tables of a report; each fits 80 columns unless names are long."""
    grids = []
    if report.cases:
        grids.append(Grid("cases", COLUMNS, [_row(case) for case in report.cases]))
    if report.unsafe_topics:
        rows: list[Any] = [(topic.topic, topic.why) for topic in report.unsafe_topics]
        grids.append(Grid("unsafe topics", ("TOPIC", "WHY"), rows))
    if report.roll is not None:
        grids += list(_roll(report))
    if report.change is not None:
        grids += list(_change(report.change))
    return grids


def _change(change: Change) -> Iterator[Grid]:
    settings: list[Any] = [
        (key, value, "NO, after a restart" if key in change.needs_restart else "yes")
        for key, value in change.settings.items()
    ]
    if settings:
        yield Grid("configurations", ("NAME", "VALUE", "AT ONCE"), settings)
    rows: list[Any] = [
        (
            tp,
            list(replicas),
            change.least_isr.get(tp),
            unwritable_s(change, tp),
            "NO" if tp in change.unfinished else "yes",
        )
        for tp, replicas in change.plan.items()
    ]
    if rows:
        moves = ("PARTITION", "TO", "LEAST ISR", "UNWRITABLE S", "DONE")
        yield Grid("the change on its way", moves, rows[:MOVES_SHOWN])
    others: list[Any] = [
        (tp, change.least_isr.get(tp), unwritable_s(change, tp))
        for tp in in_order(change.unwritable)
        if tp not in change.plan
    ]
    if others:
        lines = ("PARTITION", "LEAST ISR", "UNWRITABLE S")
        yield Grid("unwritable meanwhile", lines, others[:MOVES_SHOWN])
    steps: list[Any] = [
        (
            f"{step.seconds:.1f}",
            step.tp,
            list(step.replicas),
            step.leader,
            list(step.isr),
            "yes" if step.writable else "NO",
        )
        for step in change.steps
    ]
    if steps:
        columns = ("SECONDS", "PARTITION", "REPLICAS", "LEADER", "ISR", "WRITABLE")
        yield Grid("step by step", columns, steps[:STEPS_SHOWN])
    moved: list[Any] = list(change.moved_bytes.items())
    if moved:
        yield Grid("bytes to fetch", ("BROKER", "BYTES"), moved)


def unwritable_s(change: Change, tp: str) -> str | None:
    """Return for how many seconds a partition is not written; ``+``: until the end, and longer."""
    seconds = change.unwritable.get(tp)
    if seconds is None:
        return None
    return f"{seconds:.1f}{'+' if tp in change.still_unwritable else ''}"


def _row(case: CaseReport) -> tuple[str | int, ...]:
    risks = case.risks
    return (
        case.case.name,
        case.verdict,
        len(risks.rf1_offline),
        len(risks.unavailable),
        len(risks.full_acks_produce_unavailable),
        len(risks.acks1_data_loss),
        len(case.races),
        f"{case.seconds:.1f}",
    )


def _roll(report: Report) -> Iterator[Grid]:
    assert report.roll is not None
    rows: list[Any] = [
        (restart.node, f"{restart.seconds:.1f}", "yes" if restart.caught_up else "NO")
        for restart in report.roll.restarts
    ]
    yield Grid("rolling restart", ("NODE", "SECONDS", "BACK IN ALL ISRS"), rows)
    unwritable: list[Any] = [
        (tp, report.roll.least_isr.get(tp), f"{seconds:.1f}")
        for tp, seconds in sorted(report.roll.unwritable.items())
    ]
    yield Grid("unwritable during the restart", ("PARTITION", "LEAST ISR", "SECONDS"), unwritable)


def details(report: Report) -> Iterator[str]:
    """Yield lines with the partitions at risk and the commands that show why."""
    if report.broken.offline:
        yield f"already offline: {listed(report.broken.offline)}"
    if report.broken.under_min_isr:
        yield f"already under min.insync.replicas: {listed(report.broken.under_min_isr)}"
    for case in report.cases:
        for kind, meaning in KINDS:
            tps = getattr(case.risks, kind)
            if tps:
                yield f"{case.case.name}: {meaning}: {listed(tps)}"
        if case.outcome.controller is None:
            yield f"{case.case.name}: nobody controls the cluster, so later failures have no remedy"
        if not case.risks.is_safe:
            yield f"  {case.script}"
    if report.change is not None and len(report.change.steps) > STEPS_SHOWN:
        more = len(report.change.steps) - STEPS_SHOWN
        yield f"the change has {plural(more, 'more step')}: --json has all"
    yield f"restart in this order: {', '.join(map(str, report.restart_order))}"


def differences(word: str, cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each kind of risk that became ``worse`` or ``better`` in a case."""
    when = " (before the change)" if word == "better" else ""
    for case in cases:
        for kind, meaning in KINDS:
            tps: list[str] = case["risks"][kind]
            if tps:
                yield f"{word}: {case['name']}: {meaning}: {listed(tps)}{when}"


def listed(tps: Sequence[str]) -> str:
    """Return some of the partitions, and how many there are."""
    more = len(tps) - SHOWN
    return ", ".join(tps[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
