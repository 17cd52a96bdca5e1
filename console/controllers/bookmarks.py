"""Actions of bookmarks, alert edges, conditions and the A mark, on every screen."""

from console.controllers.open_sources import Controller
from console.model.alerts import edges, nearest
from console.model.conditions import Search
from console.model.conditions import parse as parse_condition
from console.model.workspace import Moment
from console.screens.base import ConsoleScreen
from console.screens.bookmarks import BookmarksScreen
from console.screens.difference import DifferenceScreen
from sessions.format.errors import SessionError
from sessions.grammar.words import BadWord
from sessions.model.states import Bookmark
from sessions.text import clock, number

SEARCH_BUDGET_MS = 30.0
"""How long one frame may search for a condition."""


class Bookmarks(Controller):
    """Sets bookmarks, and goes to bookmarks, alerts and conditions."""

    def seek(self, seq: int) -> None:
        self.stage.pacer.seek_seq(seq)

    # ---- bookmarks

    def action_mark_set(self) -> None:
        """Open the prompt for a bookmark's name and note; one that is here is edited."""
        if not isinstance(self.app.screen, ConsoleScreen):
            return
        source = self.stage.source
        marks = source.bookmarks()
        here = next((mark for mark in marks if mark.seq == source.seq), None)
        text = f"b{len(marks) + 1}" if here is None else f"{here.name} {here.note}".rstrip()
        hint = "a name, then an optional note; the session keeps it"
        self.app.screen.prompt.ask("bookmark", self._bookmark, text=text, hint=hint)

    def _bookmark(self, text: str) -> str | None:
        name, _, note = text.partition(" ")
        try:
            mark = self.stage.source.put_bookmark(name, note)
        except SessionError as error:
            return str(error)
        self.app.notify(f"bookmark {mark.name} at #{number(mark.seq)}")
        return None

    def action_mark_list(self) -> None:
        self.app.push_screen(BookmarksScreen(self.stage))

    def action_time_next_mark(self) -> None:
        self._mark(1)

    def action_time_previous_mark(self) -> None:
        self._mark(-1)

    def _mark(self, direction: int) -> None:
        source = self.stage.source
        marks = [mark for mark in source.bookmarks() if (mark.seq - source.seq) * direction > 0]
        if not marks:
            self.app.notify(
                f"no bookmark {'after' if direction > 0 else 'before'} this place; b sets one"
            )
            return
        mark: Bookmark = min(marks, key=lambda mark: mark.seq * direction)
        self.seek(mark.seq)
        self.app.notify(f"bookmark {mark.name} {mark.note}".rstrip())

    # ---- alert edges

    def action_time_next_alert(self) -> None:
        """Go to the next change of the alert."""
        self._alert(1)

    def action_time_previous_alert(self) -> None:
        """Go to the previous change of the alert."""
        self._alert(-1)

    def _alert(self, direction: int) -> None:
        source = self.stage.source
        edge = nearest(edges(source.samples()), source.seq, direction)
        if edge is None:
            self.app.notify(f"no alert begins or ends {'later' if direction > 0 else 'earlier'}")
            return
        self.seek(edge.seq)
        self.app.notify(f"{clock(edge.time_us)} {edge.now} (before: {edge.before})")

    # ---- conditions

    def look_for(self, text: str) -> str | None:
        """Start searching for the next event at which a condition begins to hold."""
        try:
            condition = parse_condition(text)
        except BadWord as error:
            return str(error)
        self.stage.search = Search(self.stage.source, condition)
        self.search_on()
        return None

    def search_on(self) -> None:
        """Continue the search, if there is one; a live cluster runs until the condition holds."""
        search, source = self.stage.search, self.stage.source
        if search is None:
            return
        seq = search.work(SEARCH_BUDGET_MS)
        text = search.condition.text
        if seq is not None:
            self.stage.search = None
            self.seek(seq)
            self.app.notify(f"#{number(seq)}: {text}")
        elif search.at_end and not source.goes_on:
            self.stage.search = None
            self.app.notify(f"{text} never holds after this point")
        elif search.at_end and not search.waits:
            search.waits = True
            self.stage.pacer.live()
            self.app.notify(f"{text} does not hold yet: running until it does (esc stops)")

    def stop_search(self) -> bool:
        """Stop the search; return False if there is none."""
        search, self.stage.search = self.stage.search, None
        if search is not None:
            self.app.notify(
                f"stopped looking for {search.condition.text} at #{number(search.view.seq)}"
            )
        return search is not None

    # ---- the difference between two moments

    def action_mark_a(self) -> None:
        """Set A here, where differences begin."""
        stage = self.stage
        source = stage.source
        stage.mark_a = Moment(source.seq, source.time_us, source.view.copy())
        self.app.notify(f"A is #{number(source.seq)}; go elsewhere, and d shows what differs")

    def action_mark_difference(self) -> None:
        """Show what differs between A and here."""
        if self.stage.mark_a is None:
            self.app.notify("set A first (a); then d shows what differs between A and here")
        elif not isinstance(self.app.screen, DifferenceScreen):
            self.app.push_screen(DifferenceScreen(self.stage))
