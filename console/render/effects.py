"""The predicted effect of a fault, in words."""

from typing import Final

from console.render.state_words import WORD_OF
from sessions.sources.forecast import BRIEF_US, Effect
from sessions.text import clean, number

BETTER: Final = (
    ("offline", "is back online", "are back online"),
    ("under_min_isr", "has min ISR again", "have min ISR again"),
    ("under_replicated", "is fully in sync again", "are fully in sync again"),
    ("non_preferred", "has its preferred leader back", "have their preferred leader back"),
)
"""What partitions recover from, and how that is said of one and of several."""


def effect_words(effect: Effect) -> str:
    """``3 partitions lose min ISR, 1 goes offline, 2 change leader, unserved for 13.4 s``.

    What gets worse comes first, then what gets better. What stays as it is goes without saying.
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
        parts.append(f"{number(effect.moved)} change leader")
    if effect.unserved and (effect.unserved_us is None or effect.unserved_us >= BRIEF_US):
        parts.append(f"{number(effect.unserved)} unserved {_how_long(effect.unserved_us)}")
    if effect.controller is not None:
        parts.append(f"controller moves to {effect.controller}")
    for count, word in (
        (effect.lost, "lost"),
        (effect.duplicated, "twice"),
        (effect.diverged, "diverged"),
    ):
        if count:
            parts.append(f"{number(count)} record{'' if count == 1 else 's'} {word}")
    return parts


def _better(effect: Effect) -> list[str]:
    """What there is less of at the end."""
    parts = []
    for name, one, many in BETTER:
        count = getattr(effect.now, name) - getattr(effect.after, name)
        if count > 0:
            parts.append(f"{number(count)} {one if count == 1 else many}")
    return parts


def change_rows(effect: Effect) -> list[str]:
    """A line for each partition that ends otherwise, with a heading; none if none does."""
    if not effect.changes:
        return []
    width = max(len("PARTITION"), *(len(change.tp) for change in effect.changes))
    rows = [f"{'PARTITION':{width}}  {'LEADER':>10}  STATE"]
    for change in effect.changes:
        leader = _arrow(_leader(change.leader_without), _leader(change.leader))
        state = _arrow(WORD_OF[change.without].label, WORD_OF[change.status].label)
        rows.append(f"{clean(change.tp):{width}}  {leader:>10}  {state}")
    return rows


def _leader(broker: int | None) -> str:
    return "none" if broker is None or broker < 0 else str(broker)


def _arrow(before: str, after: str) -> str:
    return after if before == after else f"{before} > {after}"


def _how_long(duration_us: int | None) -> str:
    return "to the end" if duration_us is None else f"for {duration_us / 1_000_000:.1f} s"
