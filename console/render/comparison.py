"""Two runs as lines: their states with differences highlighted, and pairs of events."""

from console.model.workspace import Stage
from console.render.event_text import describe
from console.render.lines import Line, Span, cut, data, fit, line
from console.styles.glyphs import Glyphs
from sessions.model.cluster_view import ClusterView
from sessions.model.states import PartitionState
from sessions.sources.live import LiveSource
from sessions.sources.twin import TwinSource
from sessions.text import brackets, clean, short_clock

SIGN_WIDTH = 3
MARK_WIDTH = 2
CLOCK_WIDTH = 10


def state_lines(view: ClusterView, other: ClusterView, glyphs: Glyphs, width: int) -> list[Line]:
    """Controller, brokers that are not running, then each partition with its replicas and records.

    Lines that the other run does not have are highlighted.
    """
    theirs = set(_texts(other))
    rows = []
    for text in _texts(view):
        same = text in theirs
        sign = " " if same else glyphs.different
        rows.append(
            cut(
                line(Span(sign, "diverged"), data(text, "" if same else "strong")),
                width,
                glyphs.more,
            )
        )
    return rows


def _texts(view: ClusterView) -> list[str]:
    state = view.state
    down = [
        f"{broker.id} {broker.state}"
        for broker in state.brokers.values()
        if broker.state != "running"
    ]
    controller = "none" if state.controller.broker is None else str(state.controller.broker)
    keeper = "ZooKeeper" if state.quorum is None else "KRaft"
    rows = [f"controller {controller} ({keeper}), down: {', '.join(down) or 'none'}"]
    for tp in sorted(state.partitions):
        partition = state.partitions[tp]
        rows.append(_partition_text(partition))
        rows += [_replica_text(view, tp, broker) for broker in sorted(partition.replica_states)]
        rows += [_audit_text(partition)] if _audit_text(partition) else []
    return rows


def _partition_text(partition: PartitionState) -> str:
    leader = "none" if partition.leader in (None, -1) else partition.leader
    isr = brackets(partition.isr)
    return f"{partition.name} leader {leader} epoch {partition.leader_epoch} ISR {isr}"


def _replica_text(view: ClusterView, tp: str, broker: int) -> str:
    """Named by partition and broker, so that equal lines mean equal replicas."""
    replica = view.state.partitions[tp].replica_states[broker]
    values = " ".join(view.values(tp, broker))
    numbers = f"LEO {replica.log_end_offset} HW {replica.high_watermark}"
    return f"  {tp}@{broker} {view.role(replica):<8} {numbers}  {values}"


def _audit_text(partition: PartitionState) -> str:
    counts = {name: len(getattr(partition, name)) for name in ("lost", "diverged", "duplicated")}
    counted = [f"{count} {name}" for name, count in counts.items()]
    wrong = [text for text in counted if not text.startswith("0 ")]
    return f"  {partition.name}: {', '.join(wrong)}" if wrong else ""


# ---- pairs


def _half(width: int) -> int:
    return max(10, (width - SIGN_WIDTH - MARK_WIDTH - CLOCK_WIDTH) // 2)


def titles_line(twin: TwinSource, width: int) -> Line:
    """The names of both runs over their events."""
    half = _half(width)
    names = [fit(clean(name), half) for name in (twin.front.name, twin.behind.name)]
    return line(Span(f"{' ' * (MARK_WIDTH + CLOCK_WIDTH)}{names[0]}   {names[1]}", "title"))


def pair_line(stage: Stage, twin: TwinSource, index: int, width: int) -> Line:
    """Both events, and a sign between them if they differ; the first difference says so."""
    pair, glyphs, half = twin.pairing.pairs[index], stage.glyphs, _half(width)
    here = glyphs.here if index == twin.place else " "
    first = twin.pairing.first_difference == index
    sign = " " if pair.same else glyphs.different
    left = _event(twin.front, pair.left, half, glyphs)
    right = _event(twin.behind, pair.right, half, glyphs)
    time_us = _time(twin, pair.left, pair.right)
    mark = f" {sign} " if not first else f"{sign}{sign}{sign}"
    return line(
        Span(f"{here} ", "here"),
        Span(f"{short_clock(time_us):<{CLOCK_WIDTH}}", "muted"),
        *left,
        Span(mark, "offline" if first else "diverged"),
        *right,
    )


def _event(source: LiveSource, seq: int | None, width: int, glyphs: Glyphs) -> Line:
    event = None if seq is None else next(iter(source.events(seq, seq)), None)
    if event is None:
        return (Span(fit("", width)),)
    description = describe(event)
    return (
        Span(fit(description.word, 7), description.role),
        Span(fit(description.text, width - 7, more=glyphs.more)),
    )


def _time(twin: TwinSource, left: int | None, right: int | None) -> int:
    source, seq = (twin.front, left) if left is not None else (twin.behind, right)
    events = source.events(seq or 1, seq or 1)
    return events[0].time_us if events else 0
