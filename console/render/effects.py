"""The predicted effect of a fault, in words."""

from sessions.sources.forecast import BRIEF_US, Effect
from sessions.text import number


def effect_words(effect: Effect) -> str:
    """``3 partitions lose min ISR, 0 offline; 2 change leader, unserved for 13.4 s``."""
    if effect.refused:
        return f"the cluster would refuse it: {effect.refused}"
    now, worst = effect.now, effect.worst
    under = max(0, worst.under_min_isr - now.under_min_isr)
    offline = max(0, worst.offline - now.offline)
    noun = "partition loses" if under == 1 else "partitions lose"
    parts = [f"{number(under)} {noun} min ISR, {number(offline)} offline", *_further(effect)]
    return "; ".join(parts)


def _further(effect: Effect) -> list[str]:
    now, after, worst = effect.now, effect.after, effect.worst
    parts = []
    mended = now.offline + now.under_min_isr - after.offline - after.under_min_isr
    if mended > 0:
        parts.append(f"{number(mended)} mended")
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
