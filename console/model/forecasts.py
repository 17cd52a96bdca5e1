"""The predicted effects of faults, worked out on copies of the cluster, a little at a time."""

from typing import Any, Final

from sessions.sources.forecast import Effect, Forecast, Outlook
from sessions.sources.source import Source

SLICE_S: Final = 0.05
"""How long one look at the screen may work on a forecast."""


class Foresight:
    """The forecasts of one palette, each worked out once, a little at each look."""

    def __init__(self, source: Source) -> None:
        """Look ahead from what the source runs, as it is now."""
        self._source: Any = source
        self._outlook: Outlook | None = None
        self._found: dict[str, Effect] = {}
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

    def known(self, statement: str) -> Effect | None:
        """The effect; None while it is not known."""
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
        self._found[statement] = forecast.effect
        return True
