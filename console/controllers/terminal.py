"""How the console behaves as a guest of a terminal: colours, keys, clipboard, files."""

import asyncio
import io
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from console.actions.bindings import keymap
from console.actions.lookup import remap
from console.controllers.clipboard import give_to_tmux, sequence
from console.controllers.open_sources import Controller, OpenSources
from console.model.pacer import FRAMES_PER_SECOND
from console.model.settings import Configuration
from console.render.lines import Span, cut, text_of
from console.screens.base import ConsoleScreen
from console.screens.messages import WorkFailed
from console.screens.page import MenuScreen
from console.styles.themes import FEW, FEW_CLASS, THEMES, themes_for
from console.widgets.export import FORMATS, LINES_MAX, as_csv, as_json, free_name
from console.widgets.virtual_view import VirtualView
from sessions.text import number, plural

COPIED_SHOWN_MAX = 60
"""How many characters of the copied text the toast shows."""
MIME = {"csv": "text/csv", "json": "application/json", "svg": "image/svg+xml"}
SIGNALLED = 128
"""A shell adds a signal's number to this for the exit status of a process that it ended."""
WITHOUT_FILE = "No file was written; nothing else has changed."
PROBLEM_SECONDS = 12.0
"""How long a problem of the configuration is shown."""


class Terminal(Controller):
    """Applies the user's settings (theme, keys, speed), and restores the terminal on exit."""

    def __init__(self, sources: OpenSources) -> None:
        super().__init__(sources)
        self.signalled: Callable[[int], None] = lambda status: None
        """Told the exit status when a signal asks the console to end."""

    def adopt(self, configuration: Configuration) -> None:
        """Take the user's settings before the first screen is drawn."""
        system = self.app.console.color_system
        self.app.set_class(system in FEW, FEW_CLASS)
        for theme in themes_for(system):
            self.app.register_theme(theme)
        self.app.theme = configuration.value("theme")
        remap(configuration.keys)
        self.app.set_keymap(keymap(configuration.keys))
        self.stage.pacer.speed = configuration.value("speed")
        self.configuration = configuration

    @property
    def animates(self) -> bool:
        """Whether things may move on the screen: not where frames are few, as on a slow link."""
        is_slow = self.configuration.value("fps") < FRAMES_PER_SECOND
        return bool(self.configuration.value("animation")) and not is_slow

    def begin(self) -> None:
        """Report errors in the settings; exit gracefully on a termination signal."""
        self.tell_problems()
        if self.app.is_headless or threading.current_thread() is not threading.main_thread():
            return
        loop = asyncio.get_running_loop()

        def ended_by(number: int, frame: FrameType | None) -> None:
            """Ask for the end, also if the event loop gets no turn to notice."""
            self.signalled(SIGNALLED + number)
            loop.call_soon_threadsafe(self.end, number)

        for ending in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, ended_by)

    def end(self, number: int) -> None:
        """Leave the terminal as it was, with the status of a process that a signal has ended."""
        self.app.exit(return_code=SIGNALLED + number)

    def tell_problems(self) -> None:
        """Report the problems of the configuration, now that there is a screen."""
        for problem in self.configuration.problems:
            self.app.notify(problem, severity="warning", timeout=PROBLEM_SECONDS)

    def action_app_theme(self) -> None:
        """Switch to the next of the console's themes."""
        names = list(THEMES)
        place = names.index(self.app.theme) + 1 if self.app.theme in names else 0
        self.app.theme = names[place % len(names)]
        self.app.notify(
            f'theme {self.app.theme}; theme = "{self.app.theme}" in the configuration keeps it'
        )

    # ---- the clipboard

    def copy(self, text: str) -> None:
        """Give text to the clipboard of the user's own terminal."""
        if not text:
            self.app.notify("there is nothing to copy here: the cell is empty")
            return
        self.app._clipboard = text  # what pastes into the input line
        self.app.run_worker(self._give(text), group="clipboard", exclusive=True)
        shown = cut([Span(text)], COPIED_SHOWN_MAX, self.stage.glyphs.more)
        self.app.notify(f"copied {text_of(shown)}")

    async def _give(self, text: str) -> None:
        """Copy in the background: a program such as tmux may be slow."""
        given = await asyncio.to_thread(give_to_tmux, text, os.environ)
        if not given and self.app._driver is not None:
            self.app._driver.write(sequence(text, os.environ))

    def action_app_suspend(self) -> None:
        """Suspend the process; ``fg`` resumes it."""
        self.app.action_suspend_process()

    # ---- files

    def action_app_export(self) -> None:
        """Choose the format for an export of the current view."""
        screen = self.app.screen
        if not isinstance(screen, ConsoleScreen) or (pane := screen.current_pane) is None:
            return
        view, name = pane.view, screen.context

        def write(index: int | None) -> None:
            if index is not None:
                self.app.call_after_refresh(self.export, view, name, FORMATS[index])

        titles = ["CSV: the lines as shown", "JSON: all of each line", "SVG: the whole screen"]
        self.app.push_screen(MenuScreen(self.stage, "export as", titles, 0), write)

    def export(self, view: VirtualView, screen: str, format: str) -> None:
        """Write a view to a new file here (in a browser: as a download)."""
        lines = view.count()
        if lines > LINES_MAX and format != "svg":
            self.app.notify(
                f"{number(lines)} lines are too many for an export of a view (at most "
                f"{number(LINES_MAX)}); filter them, or use 'tidegauge sessions export'",
                severity="warning",
            )
            return
        text = {"csv": as_csv, "json": as_json}.get(format)
        content = self.app.export_screenshot() if text is None else text(view)
        try:
            folder = Path.cwd()
        except OSError as error:
            self.not_written(error)
            return
        name = free_name(folder, screen, self.stage.source.seq, format)
        self.app.deliver_text(
            io.StringIO(content),
            save_directory=folder,
            save_filename=name,
            mime_type=MIME[format],
            name=f"{name}: " + ("the screen" if text is None else plural(lines, "line")),
        )

    def not_written(self, error: BaseException) -> None:
        """Say why there is no file."""
        reason = getattr(error, "strerror", None) or str(error)
        cause = f"The file cannot be written: {reason}."
        self.app.post_message(WorkFailed("export", cause, WITHOUT_FILE))
