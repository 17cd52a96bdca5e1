"""The predicted effects of faults, computed on copies of the cluster in small steps.

Copying a large cluster takes seconds, during which the screen must not freeze: its forecasts are
computed in a thread, one after another.
"""

from collections.abc import Sequence
from typing import Final

from console.model.background_job import Job, Tell
from emulator.inputs.statements import Statement
from sessions.sources.forecast import Effect, Forecast, StartingPoint
from sessions.sources.source import Source

SLICE_S: Final = 0.05
"""Time budget per frame for a forecast."""


class Forecasts:
    """The forecasts of one palette, each computed once.

    They are computed in steps at each frame, or ``in_background``: there a forecast is abandoned
    when another one is requested.
    """

    def __init__(self, source: Source, *, in_background: bool = False) -> None:
        """Forecast from the current state of the source's cluster."""
        self.in_background = in_background
        self._source = source
        self._starting_point: StartingPoint | None = None
        self._effects: dict[str, Effect] = {}
        self._failed: dict[str, str] = {}
        self._open: dict[str, Forecast] = {}
        self._job: Job | None = None
        self._running = ""

    @property
    def possible(self) -> bool:
        """Whether there is a cluster to copy."""
        return self._source.can_forecast

    @property
    def time_us(self) -> int:
        """The virtual time from which the forecast starts."""
        here = self._source.last_time_us
        return here if self._starting_point is None else self._starting_point.time_us

    def effect(self, statement: str) -> Effect | None:
        """The effect; None while it is not known."""
        return self._effects.get(statement)

    def failure(self, statement: str) -> str:
        """The reason why there is no forecast; empty as long as there may be one."""
        return self._failed.get(statement, "")

    def is_settled(self, statement: str) -> bool:
        """Whether the forecast is done, or has failed."""
        return statement in self._effects or statement in self._failed

    def share(self, statement: str) -> float | None:
        """The fraction that is done; None if it has not started."""
        forecast = self._open.get(statement)
        if forecast is None:
            return 0.0 if self._job is not None and self._running == statement else None
        return forecast.share

    def go_on(self, statement: str, seconds: float = SLICE_S) -> bool:
        """Work on one forecast for a moment; return whether its effect is known."""
        if self.is_settled(statement):
            return True
        given = self._source.statements_of(statement)
        if self._starting_point is None:
            self._starting_point = self._source.starting_point()
            assert self._starting_point is not None
        if self.in_background:
            self._go_on_behind(statement, given)
            return self.is_settled(statement)
        forecast = self._open.get(statement) or self._begin(statement, given)
        if forecast.go_on(seconds):
            self._end(statement, forecast)
        return self.is_settled(statement)

    def give_up(self) -> None:
        self._running = ""

    def _begin(self, statement: str, given: Sequence[Statement]) -> Forecast:
        assert self._starting_point is not None
        self._open[statement] = forecast = self._starting_point.forecast(given)
        return forecast

    def _end(self, statement: str, forecast: Forecast) -> None:
        assert forecast.effect is not None
        self._effects[statement] = forecast.effect
        self._open.pop(statement, None)

    def _go_on_behind(self, statement: str, given: Sequence[Statement]) -> None:
        """Start the job if there is none; another one ends as soon as it notices."""
        self._running = statement
        if self._job is not None and not self._job.done:
            return

        def work(tell: Tell) -> str:
            try:
                forecast = self._open.get(statement) or self._begin(statement, given)
                while self._running == statement:
                    if forecast.go_on(SLICE_S):
                        self._end(statement, forecast)
                        break
            except Exception as error:  # reported in the palette, which requested it
                self._failed[statement] = str(error) or type(error).__name__
            return ""

        self._job = Job(f"forecast of {statement}", work)
