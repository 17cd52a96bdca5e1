"""The predicted effect of a fault, in words."""

from sessions.sources.forecast import BRIEF_US, Effect
from sessions.text import number


def effect_words(effect: Effect) -> str:
    """``3 partitions lose min ISR, 1 goes offline, 2 change leader, unserved for 13.4 s``.

    What stays as it is goes without saying.
    """
    if effect.refused:
        return f"the cluster would refuse it: {effect.refused}"
    parts = []
    if under := _more(effect, "under_min_isr"):
        noun = "partition loses" if under == 1 else "partitions lose"
        parts.append(f"{number(under)} {noun} min ISR")
    if offline := _more(effect, "offline"):
        parts.append(f"{number(offline)} {'goes' if offline == 1 else 'go'} offline")
    parts += _further(effect)
    return ", ".join(parts) or "no partition is affected"


def is_harmful(effect: Effect) -> bool:
    """Whether a partition loses min ISR or its leader, or a record is lost."""
    harm = _more(effect, "under_min_isr") + _more(effect, "offline") + effect.lost
    return bool(harm or effect.duplicated or effect.diverged)


def _more(effect: Effect, name: str) -> int:
    more: int = getattr(effect.worst, name) - getattr(effect.now, name)
    return max(0, more)


def _further(effect: Effect) -> list[str]:
    now, after, worst = effect.now, effect.after, effect.worst
    parts = []
    recovered = now.offline + now.under_min_isr - after.offline - after.under_min_isr
    if recovered > 0:
        parts.append(f"{number(recovered)} recover")
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


def _how_long(duration_us: int | None) -> str:
    return "to the end" if duration_us is None else f"for {duration_us / 1_000_000:.1f} s"
