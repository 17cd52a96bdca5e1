"""The predicted effect of a fault: in words, and as a column for each consequence."""

from collections.abc import Callable
from typing import Final, NamedTuple

from console.model.links import Link
from console.render.columns import rounded
from console.render.lines import Line, Span, fit, line
from console.render.partition_columns import WRITES_ROLES
from console.render.rows import Row
from console.render.state_words import WORD_OF
from sessions.model.authority import TROUBLES
from sessions.sources.forecast import Change, Effect, longest
from sessions.text import clean, number, plural

FIGURE_WIDTH: Final = 4
TROUBLE_WORDS: Final = {
    "no controller": "nobody controls the cluster",
    "zookeeper unreachable": "ZooKeeper is unreachable",
    "quorum lost": "the quorum of controllers is lost",
}
HELD_UP: Final = (
    ("nobody", ("has no leader", "have no leader")),
    ("refused", ("refuses acks=all", "refuse acks=all")),
    ("waiting", ("keeps acks=all waiting", "keep acks=all waiting")),
)
"""What becomes of writes, the worst first, with wording for one partition and for several."""
BETTER: Final = (
    ("offline", "is back online", "are back online"),
    ("under_min_isr", "has min ISR again", "have min ISR again"),
    ("under_replicated", "is fully in sync again", "are fully in sync again"),
    ("non_preferred", "has its preferred leader back", "have their preferred leader back"),
)
"""The states that partitions recover from, with wording for one and for several."""


def effect_words(effect: Effect) -> str:
    """``3 partitions lose min ISR, 1 goes offline, 2 change leader, unserved for 13.4 s``.

    What gets worse comes first, then what gets better. What does not change is left out.
    """
    if effect.refused:
        return f"it would be refused: {effect.refused}"
    parts = [*_held_up(effect), *_further(effect)]
    parts += _better(effect)
    return ", ".join(parts) or "no partition is affected"


def _held_up(effect: Effect) -> list[str]:
    """What becomes of writes: of how many partitions, for how long, how many of them to the end."""
    parts = []
    for writes, verb in HELD_UP:
        changes = effect.of_writes(writes)
        if not changes:
            continue
        over = [change for change in changes if change.writes_after != writes]
        to_the_end = len(changes) - len(over)
        times = [f"{seconds(longest(over))}"] if over else []
        count = f"{number(to_the_end)} of them " if over else ""
        times += [f"{count}to the end"] if to_the_end else []
        what = f"{plural(len(changes), 'partition')} {verb[len(changes) > 1]}"
        parts.append(f"{what} {', '.join(times)}")
    return parts


def seconds(duration_us: int | None) -> str:
    """``for up to 13.4 s``."""
    return "to the end" if duration_us is None else f"for up to {duration_us / 1e6:.1f} s"


class Consequence(NamedTuple):
    """A column of the table of forecasts; ``shown`` is its cell, empty if nothing changes."""

    title: str
    width: int
    shown: Callable[[Effect], str]


def _change(name: str) -> Callable[[Effect], str]:
    """How many more partitions are in a state at worst; if none, how many fewer in the end."""

    def shown(effect: Effect) -> str:
        change = _more(effect, name) or getattr(effect.after, name) - getattr(effect.now, name)
        return f"{change:+,}" if change else ""

    return shown


def _writes(effect: Effect) -> str:
    """The worst that becomes of writes: ``4 nobody``."""
    for writes, _ in HELD_UP:
        if changes := effect.of_writes(writes):
            return f"{rounded(number(len(changes)), FIGURE_WIDTH)} {writes}"
    return ""


def _held_up_for(effect: Effect) -> str:
    """For how long the worst of that lasts at most."""
    for writes, _ in HELD_UP:
        if changes := effect.of_writes(writes):
            duration_us = longest([change for change in changes if change.writes == writes])
            return "always" if duration_us is None else f"{duration_us / 1e6:.1f} s"
    return ""


def _new_trouble(effect: Effect) -> str:
    """What keeps everybody from controlling the cluster in the end, if nothing does now."""
    trouble = TROUBLES[effect.after.trouble]
    is_new = trouble in TROUBLE_WORDS and effect.after.trouble != effect.now.trouble
    return trouble if is_new else ""


def _controller(effect: Effect) -> str:
    if _new_trouble(effect):
        return "none"
    return "" if effect.controller is None else str(effect.controller)


CONSEQUENCES: Final = (
    Consequence("WRITES", 12, _writes),
    Consequence("FOR", 7, _held_up_for),
    Consequence("LOST", 5, lambda effect: number(effect.lost) if effect.lost else ""),
    Consequence("OFFLINE", 7, _change("offline")),
    Consequence("<MIN", 6, _change("under_min_isr")),
    Consequence("MOVED", 6, lambda effect: number(effect.moved) if effect.moved else ""),
    Consequence("CTRL", 4, _controller),
    Consequence("URP", 6, _change("under_replicated")),
)
"""The possible consequences of a fault; the last ones are dropped if there is no room."""


def columns_that_fit(room: int) -> list[Consequence]:
    """The first consequences that fit into so many columns, each after a blank."""
    shown: list[Consequence] = []
    for column in CONSEQUENCES:
        room -= column.width + 1
        if room < 0:
            break
        shown.append(column)
    return shown


def title_cells(shown: list[Consequence]) -> Line:
    """The titles of the columns."""
    return line(Span("".join(f" {column.title:>{column.width}}" for column in shown), "title"))


def effect_cells(effect: Effect, shown: list[Consequence]) -> Line:
    """A forecast in columns: what gets worse, what gets better (``-2``), and nothing as a dot."""
    spans = []
    for column in shown:
        text = column.shown(effect)
        role = "ok" if text.startswith("-") else "warning" if text else "faint"
        spans.append(Span(f" {text or '.':>{column.width}}", role))
    return line(*spans)


def is_harmful(effect: Effect) -> bool:
    """Whether writes are held up, or a record is lost."""
    harm = any(change.writes != "ok" for change in effect.changes) or effect.lost
    return bool(harm or effect.duplicated or effect.diverged)


def _more(effect: Effect, name: str) -> int:
    more: int = getattr(effect.worst, name) - getattr(effect.now, name)
    return max(0, more)


def _further(effect: Effect) -> list[str]:
    now, worst = effect.now, effect.worst
    parts = []
    shrunk = worst.under_replicated - now.under_replicated
    if shrunk > 0:
        parts.append(f"{number(shrunk)} under-replicated")
    if effect.moved:
        parts.append(f"{number(effect.moved)} change{'s' if effect.moved == 1 else ''} leader")
    if trouble := _new_trouble(effect):
        parts.append(TROUBLE_WORDS[trouble])
    elif effect.controller is not None:
        parts.append(f"controller moves to {effect.controller}")
    for count, word in (
        (effect.lost, "lost"),
        (effect.duplicated, "duplicated"),
        (effect.diverged, "diverged"),
    ):
        if count:
            parts.append(f"{number(count)} record{'' if count == 1 else 's'} {word}")
    return parts


def _better(effect: Effect) -> list[str]:
    """Return what decreases by the end."""
    parts = []
    for name, one, many in BETTER:
        count = getattr(effect.now, name) - getattr(effect.after, name)
        if count > 0:
            parts.append(f"{number(count)} {one if count == 1 else many}")
    return parts


def change_rows(effect: Effect) -> list[Row]:
    """A line for each partition that the fault makes a difference to; none if there is none.

    The states and leaders are those in the end, without the fault and with it.
    """
    if not effect.changes:
        return []
    width = max(len("PARTITION"), *(len(change.tp) for change in effect.changes))
    wide = max(len("WRITES"), *(len(_writes_of(change)) for change in effect.changes))
    title = f"{'PARTITION':{width}}  {'LEADER':>10}  {'WRITES':<{wide}}  {'LOST':>4}  STATE"
    rows = [Row(line(Span(title, "title")))]
    for change in effect.changes:
        leader = _arrow(_leader(change.leader_without), _leader(change.leader))
        state = _arrow(WORD_OF[change.without].label, WORD_OF[change.status].label)
        shown = line(
            f"{fit(clean(change.tp), width)}  {leader:>10}  ",
            Span(fit(_writes_of(change), wide), WRITES_ROLES[change.writes]),
            Span(f"  {number(change.lost) if change.lost else '':>4}  ", "error"),
            state,
        )
        rows.append(Row(shown, Link("partition", change.tp), change, change.tp))
    return rows


def _writes_of(change: Change) -> str:
    """``nobody 13.4 s, then refused``, ``refused always``, ``waiting 45.0 s from a write``."""
    if change.writes == "ok":
        return "ok"
    lasts = "always" if change.writes_us is None else f"{change.writes_us / 1e6:.1f} s"
    then = "" if change.writes_after in ("ok", change.writes) else f", then {change.writes_after}"
    return f"{change.writes} {lasts}{' from a write' if change.from_a_write else then}"


def _leader(broker: int | None) -> str:
    return "none" if broker is None or broker < 0 else str(broker)


def _arrow(before: str, after: str) -> str:
    return after if before == after else f"{before} > {after}"
