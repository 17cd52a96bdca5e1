"""Narrate a run: one line per statement, and progress on a terminal."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from commands.language.parser import Step
from commands.output import streams
from emulator.scenario.outcome import Outcome
from sessions.text import clean, clock

PROGRESS_SECONDS: Final = 0.5
"""How long a statement runs before progress is shown, and the interval between updates."""


class Narrator:
    """Narrates one run. ``now`` gives virtual time in microseconds and the number of events."""

    def __init__(self, now: Callable[[], tuple[int, int]]) -> None:
        self._now = now
        self._shown_at = monotonic()
        self._watched = streams.watched()
        self._standing = False

    def finished(self, step: Step, outcome: Outcome) -> None:
        self._clear()
        time_us, _ = self._now()
        text = " ".join(step.text.split())
        streams.narrate(f"{clock(time_us)}  {clean(text)}  {outcome_text(outcome)}")
        self._shown_at = monotonic()

    def look(self) -> None:
        """Show the progress of a long statement."""
        if self._watched and monotonic() - self._shown_at >= PROGRESS_SECONDS:
            self._shown_at = monotonic()
            self._standing = True
            time_us, events = self._now()
            streams.progress(f"{clock(time_us)}  .. {events:,} events")

    def _clear(self) -> None:
        if self._standing:
            streams.progress("")
            self._standing = False


def outcome_text(outcome: Outcome) -> str:
    """Describe how a statement ended, in a few words."""
    message = f": {clean(outcome.message)}" if outcome.message else ""
    if outcome.refused:
        name = "" if outcome.error == "NONE" else f" {outcome.error}"
        return f"REFUSED{name}{message}"
    if outcome.passed is False:
        return f"FAILED{message}"
    if outcome.passed:
        return "holds"
    return f"ok{message}" if outcome.error == "NONE" else f"{outcome.error}{message}"
