"""The predicted effect of a fault in words, and who works it out: on a copy of the cluster."""

from typing import TYPE_CHECKING, Any, Final

from sessions.sources.forecast import BRIEF_US
from sessions.text import number

if TYPE_CHECKING:
    from sessions.sources.forecast import Effect, Forecast, Outlook
    from sessions.sources.source import Source

SLICE_S: Final = 0.05
"""How long one look at the screen may work on a forecast."""


def effect_words(effect: "Effect") -> str:
    """``3 partitions lose min ISR, 0 offline; 2 change leader, unserved for 13.4 s``."""
    if effect.refused:
        return f"the cluster would refuse it: {effect.refused}"
    now, worst = effect.now, effect.worst
    under = max(0, worst.under_min_isr - now.under_min_isr)
    offline = max(0, worst.offline - now.offline)
    noun = "partition loses" if under == 1 else "partitions lose"
    parts = [f"{number(under)} {noun} min ISR, {number(offline)} offline", *_further(effect)]
    return "; ".join(parts)


def _further(effect: "Effect") -> list[str]:
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


class Foresight:
    """The forecasts of one palette, each worked out once, a little at each look."""

    def __init__(self, source: "Source") -> None:
        """Look ahead from what the source runs, as it is now."""
        self._source: Any = source
        self._outlook: Outlook | None = None
        self._found: dict[str, str] = {}
        self._open: dict[str, Forecast] = {}

    @property
    def possible(self) -> bool:
        """Whether there is a cluster to copy."""
        return hasattr(self._source, "outlook")

    @property
    def time_us(self) -> int:
        """The virtual time that is looked ahead from."""
        here: int = self._source.last_time_us
        return here if self._outlook is None else self._outlook.time_us

    def known(self, statement: str) -> str | None:
        """The effect in words; None while it is not known."""
        return self._found.get(statement)

    def share(self, statement: str) -> float | None:
        """How much of the way there is gone; None if it has not begun."""
        forecast = self._open.get(statement)
        return None if forecast is None else forecast.share

    def go_on(self, statement: str, seconds: float = SLICE_S) -> bool:
        """Work on one forecast for a moment; says whether its effect is known."""
        if statement in self._found:
            return True
        if self._outlook is None:
            self._outlook = self._source.outlook()
        if statement not in self._open:
            given = self._source.statements_of(statement)
            self._open[statement] = self._outlook.forecast(given)
        forecast = self._open[statement]
        if not forecast.go_on(seconds):
            return False
        assert forecast.effect is not None
        del self._open[statement]
        self._found[statement] = effect_words(forecast.effect)
        return True
