"""The predicted effect of a fault: in words, and as a column for each consequence."""

from collections.abc import Callable
from typing import Final, NamedTuple

from console.model.links import Link
from console.render.lines import Line, Span, fit, line
from console.render.rows import Row
from console.render.state_words import WORD_OF
from sessions.sources.forecast import BRIEF_US, Effect
from sessions.text import clean, number

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
    parts = []
    if under := _more(effect, "under_min_isr"):
        noun = "partition loses" if under == 1 else "partitions lose"
        parts.append(f"{number(under)} {noun} min ISR")
    if offline := _more(effect, "offline"):
        parts.append(f"{number(offline)} {'goes' if offline == 1 else 'go'} offline")
    parts += _further(effect)
    parts += _better(effect)
    return ", ".join(parts) or "no partition is affected"


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


def _unserved(effect: Effect) -> str:
    """For how long partitions that the fault leaves without a leader have none."""
    if not effect.unserved or (effect.unserved_us or BRIEF_US) < BRIEF_US:
        return ""
    return "always" if effect.unserved_us is None else f"{effect.unserved_us / 1e6:.1f} s"


CONSEQUENCES: Final = (
    Consequence("OFFLINE", 7, _change("offline")),
    Consequence("<MIN", 7, _change("under_min_isr")),
    Consequence("LOST", 5, lambda effect: number(effect.lost) if effect.lost else ""),
    Consequence("UNSERVED", 10, _unserved),
    Consequence("MOVED", 7, lambda effect: number(effect.moved) if effect.moved else ""),
    Consequence(
        "CTRL", 4, lambda effect: "" if effect.controller is None else str(effect.controller)
    ),
    Consequence("URP", 7, _change("under_replicated")),
)
"""The possible consequences of a fault; the last ones are dropped if there is no room."""


def columns_that_fit(room: int) -> list[Consequence]:
    """The first consequences that fit into so many columns, each after a blank."""
    shown: list[Consequence] = []
    for each in CONSEQUENCES:
        room -= each.width + 1
        if room < 0:
            break
        shown.append(each)
    return shown


def title_cells(shown: list[Consequence]) -> Line:
    """The titles of the columns."""
    return line(Span("".join(f" {each.title:>{each.width}}" for each in shown), "title"))


def effect_cells(effect: Effect, shown: list[Consequence]) -> Line:
    """A forecast in columns: what gets worse, what gets better (``-2``), and nothing as a dot."""
    spans = []
    for each in shown:
        text = each.shown(effect)
        role = "ok" if text.startswith("-") else "warning" if text else "faint"
        spans.append(Span(f" {text or '.':>{each.width}}", role))
    return line(*spans)


def is_harmful(effect: Effect) -> bool:
    """Whether a partition loses min ISR or its leader, or a record is lost."""
    harm = _more(effect, "under_min_isr") + _more(effect, "offline") + effect.lost
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
    if effect.unserved and (effect.unserved_us is None or effect.unserved_us >= BRIEF_US):
        parts.append(f"{number(effect.unserved)} unserved {_how_long(effect)}")
    if effect.controller is not None:
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
    """A line for each partition that ends otherwise, with a heading; none if none does."""
    if not effect.changes:
        return []
    width = max(len("PARTITION"), *(len(change.tp) for change in effect.changes))
    rows = [Row(line(Span(f"{'PARTITION':{width}}  {'LEADER':>10}  STATE", "title")))]
    for change in effect.changes:
        leader = _arrow(_leader(change.leader_without), _leader(change.leader))
        state = _arrow(WORD_OF[change.without].label, WORD_OF[change.status].label)
        shown = line(f"{fit(clean(change.tp), width)}  {leader:>10}  {state}")
        rows.append(Row(shown, Link("partition", change.tp), change, change.tp))
    return rows


def _leader(broker: int | None) -> str:
    return "none" if broker is None or broker < 0 else str(broker)


def _arrow(before: str, after: str) -> str:
    return after if before == after else f"{before} > {after}"


def _how_long(effect: Effect) -> str:
    if effect.unserved_us is not None:
        return f"for {effect.unserved_us / 1_000_000:.1f} s"
    some = 0 < effect.unserved_left < effect.unserved
    return f"at first, {number(effect.unserved_left)} to the end" if some else "to the end"
