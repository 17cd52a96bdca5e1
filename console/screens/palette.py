"""The command palette as a screen."""

from textual import events, work
from textual.app import ComposeResult
from textual.command import CommandList, CommandPalette
from textual.css.query import NoMatches

from console.screens.sized import Sized


class Commands(CommandList):
    """The options, which are replaced while somebody types."""

    def on_click(self, event: events.Click) -> None:
        """Skip a click on an option that was drawn, and is gone by now."""
        if event.style.meta.get("option", -1) >= self.option_count:
            event.prevent_default()


class Palette(Sized, CommandPalette):
    """Textual's palette, for people who type faster than its list is filled."""

    def on_mount(self, event: events.Mount) -> None:
        """Accept keys once the line of input has the focus.

        If another screen has been opened meanwhile, it searches once it is shown.
        """
        if self.app.screen is not self:
            event.prevent_default()
        self.call_after_refresh(self.become_ready)

    def on_screen_resume(self) -> None:
        """Begin the search if it has not begun yet."""
        if self.app.screen is self and self._calling_screen is None:
            self._on_mount(events.Mount())

    def on_click(self, event: events.Click) -> None:
        """Skip a click where the terminal no longer is: it has become smaller since."""
        if not self.app.size.contains(event.screen_x, event.screen_y):
            event.prevent_default()

    def compose(self) -> ComposeResult:
        """Use a list that skips clicks on what is gone."""
        for widget in super().compose():
            yield Commands() if isinstance(widget, CommandList) else widget

    @work(exclusive=True, group=CommandPalette._GATHER_COMMANDS_GROUP)
    async def _gather_commands(self, search_value: str) -> None:
        """Gather the commands that match, unless the palette has been closed meanwhile."""
        gather = CommandPalette._gather_commands.__wrapped__  # type: ignore[attr-defined]
        try:
            await gather(self, search_value)
        except NoMatches:
            if self.query(CommandList):
                raise

    async def _watch__show_busy(self) -> None:
        """Show that it is still searching, unless the palette has been closed meanwhile."""
        if self.query("LoadingIndicator") and self.query("CommandList"):
            await super()._watch__show_busy()

    def _action_command_list(self, action: str) -> None:
        """Pass an action on to the list, once it knows the lines that its options take.

        It learns them when it is drawn, and its pages are counted in lines.
        """
        commands = self.query_one(CommandList)
        commands._update_lines()
        if commands._lines or not action.startswith("page"):
            super()._action_command_list(action)
