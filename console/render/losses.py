"""Every record that was ever lost, as lines: when, and where it went."""

from typing import Final

from console.model.links import Link
from console.model.records import Loss, holders_of
from console.model.workspace import Stage
from console.render.lines import Line, Span, cut, fit, line
from console.render.rows import Row
from sessions.text import clean, clock, number

NAME_WIDTH: Final = 20
OFFSET_WIDTH: Final = 9
VALUE_WIDTH: Final = 14


def loss_rows(stage: Stage, losses: list[Loss], width: int) -> list[Row]:
    """A line for each loss below a heading, the last one first."""
    if not losses:
        return []
    titles = f"{'PARTITION':{NAME_WIDTH}}{'OFFSET':>{OFFSET_WIDTH}}  {'VALUE':{VALUE_WIDTH}}"
    heading = line(Span(f"{titles}{'LOST SINCE':14}WHERE IT WENT", "title"))
    rows = [Row(cut(heading, width, stage.glyphs.more))]
    for loss in reversed(losses):
        rows.append(
            Row(_line(stage, loss, width), Link("record", str(loss.record)), key=loss.record)
        )
    return rows


def _line(stage: Stage, loss: Loss, width: int) -> Line:
    more = stage.glyphs.more
    is_back = loss.back_seq is not None and loss.back_seq <= stage.source.seq
    shown = line(
        Span(fit(clean(loss.tp), NAME_WIDTH, more=more), "" if is_back else "strong"),
        f"{number(loss.offset):>{OFFSET_WIDTH}}  ",
        Span(fit(clean(stage.view.value(loss.record)), VALUE_WIDTH, more=more)),
        Span(f"{clock(loss.time_us)}  ", "muted"),
        Span(where_it_went(stage, loss), "ok" if is_back else "error"),
    )
    return cut(shown, width, more)


def where_it_went(stage: Stage, loss: Loss) -> str:
    """``truncated on 2 (to HW) and 3 (..); still on 1``, or that the leader has it again."""
    seq = stage.source.seq
    partition = stage.view.state.partitions.get(loss.tp)
    parts = []
    if loss.back_seq is not None and loss.back_seq <= seq:
        parts.append(f"back in the leader's log since #{number(loss.back_seq)}")
    cuts = stage.timeline.losses.truncations_of(loss, seq)
    if cuts:
        brokers = ", ".join(
            f"{cut.broker} (#{number(cut.seq)}, {clean(cut.reason)})" for cut in cuts
        )
        parts.append(f"truncated on {brokers}")
    holders = [] if partition is None else holders_of(partition, loss.record)
    if holders:
        parts.append(f"still on {', '.join(map(str, holders))}")
    elif not cuts:
        parts.append("no copy is left")
    return "; ".join(parts)
