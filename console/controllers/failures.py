"""Exceptions in a screen: it is closed, and the cluster and the other screens go on."""

import traceback
from collections import deque
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import monotonic
from typing import Any, Final

from textual.screen import Screen

from console.controllers.open_sources import Controller, OpenSources
from console.screens.base import ConsoleScreen

STORM: Final = 5
"""So many failures within :data:`STORM_SECONDS` end the console: closing does not help."""
STORM_SECONDS: Final = 10.0
TOLD_SECONDS: Final = 15.0
"""How long the user is told what happened."""
REFUGES: Final = ("overview", "events")
"""Where to go when a number key's screen has failed: the first that is another one."""


class Failures(Controller):
    """Closes screens that failed."""

    def __init__(self, sources: OpenSources) -> None:
        super().__init__(sources)
        self.are_survived = False
        """Whether the console goes on; in tests an exception ends it."""
        self._times: deque[float] = deque(maxlen=STORM)
        self._failed: set[Screen[Any]] = set()

    def survives(self, error: Exception, screen: Screen[Any] | None) -> bool:
        """Close the screen in which an exception was raised; False if that cannot help."""
        if not self.are_survived or screen is None:
            return False
        if screen in self._failed:
            return True
        now = monotonic()
        if len(self._times) == STORM and now - self._times[0] < STORM_SECONDS:
            return False
        self._times.append(now)
        self._failed.add(screen)
        self.app.call_next(self._close, screen, self.described(error))
        return True

    def described(self, error: Exception) -> str:
        """Write where an exception was raised to a file, and say what it was and which file."""
        return f"{type(error).__name__}: {error}. The details are in {_report(error)}"

    async def _close(self, screen: Screen[Any], described: str) -> None:
        name = screen.context if isinstance(screen, ConsoleScreen) else type(screen).__name__
        stacks = self.app._screen_stacks
        mode = next((mode for mode, stack in stacks.items() if screen in stack), None)
        if mode is not None and (mode != self.app.current_mode or stacks[mode][0] is screen):
            await self._renew(mode)
        elif mode is not None:
            while screen in stacks[mode]:
                await self.app.pop_screen()
        self._failed.discard(screen)
        self.app.notify(
            f"the screen '{name}' was closed because of an error in it, and the cluster goes on. "
            f"{described}",
            severity="error",
            timeout=TOLD_SECONDS,
        )

    async def _renew(self, mode: str) -> None:
        """Build a number key's screen again when it is shown next."""
        if mode == self.app.current_mode:
            refuge = next(name for name in REFUGES if self.sources.mode_of(name) != mode)
            self.app.switch_mode(self.sources.mode_of(refuge))
        maker = self.app._modes[mode]
        await self.app.remove_mode(mode)
        self.app._modes[mode] = maker


def _report(error: Exception) -> Path:
    """Write where an exception was raised, with its causes, to a file."""
    text = "".join(traceback.format_exception(error))
    with NamedTemporaryFile(
        "w", prefix="tidegauge-error-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.write(text)
    return Path(file.name)
