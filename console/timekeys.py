"""What the keys of time and of the command line do, on every screen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from console.goto import GotoError, parse
from console.screens.base import ConsoleScreen

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.screen import Screen

    from console.stage import Stage
    from sessions.source import Reply

STATEMENT_HINT = (
    "a statement:  broker crash 1   show partitions   zk ls /     tab completes, up recalls"
)
OUTPUT_TOAST_MAX = 3
"""Output of more lines than this gets a page of its own."""


def complaint(reply: "Reply") -> str:
    """An error's name, and the sentence that explains it."""
    return f"{reply.error}: {reply.message}" if reply.message else reply.error


class TimeKeys:
    """Mixed into the application: moves the source's cursor, sets bookmarks, gives statements."""

    stage: "Stage"

    if TYPE_CHECKING:

        @property
        def screen(self) -> Screen[Any]: ...

        def tell(self, text: str, *, severity: SeverityLevel = "information") -> None: ...

        def open_page(self, title: str, text: str) -> None: ...

    # ---- the pacer

    def do_time_pause(self) -> None:
        """Hold still, or go on."""
        self.stage.pacer.toggle()

    def do_time_forward(self) -> None:
        """One event forward."""
        self.stage.pacer.step(1)

    def do_time_back(self) -> None:
        """One event back."""
        self.stage.pacer.step(-1)

    def do_time_faster(self) -> None:
        """Twice as fast."""
        self.stage.pacer.faster()

    def do_time_slower(self) -> None:
        """Half as fast."""
        self.stage.pacer.slower()

    def do_time_live(self) -> None:
        """To the end, and follow."""
        self.stage.pacer.live()

    def seek(self, seq: int) -> None:
        """Hold still at an event."""
        self.stage.pacer.seek_seq(seq)

    # ---- jumps

    def do_time_next_touch(self) -> None:
        """The next event that touches what is selected."""
        self._touch(1)

    def do_time_previous_touch(self) -> None:
        """The event before that touched what is selected."""
        self._touch(-1)

    def _touch(self, direction: int) -> None:
        screen = self.screen
        objects: Sequence[str] = screen.selection() if isinstance(screen, ConsoleScreen) else ()
        source = self.stage.source
        if not objects:
            self.stage.pacer.step(direction)
            return
        found = source.touching(objects, source.seq, direction)
        if found is None:
            where = "later" if direction > 0 else "earlier"
            self.tell(f"no {where} event touches {' or '.join(objects)}")
            return
        self.seek(found)

    def do_time_next_mark(self) -> None:
        """The next bookmark."""
        self._mark(1)

    def do_time_previous_mark(self) -> None:
        """The bookmark before."""
        self._mark(-1)

    def _mark(self, direction: int) -> None:
        source = self.stage.source
        marks = [mark for mark in source.bookmarks() if (mark.seq - source.seq) * direction > 0]
        if not marks:
            self.tell(f"no bookmark {'after' if direction > 0 else 'before'} this place")
            return
        nearest = min(marks, key=lambda mark: mark.seq * direction)
        self.seek(nearest.seq)
        self.tell(f"bookmark {nearest.name} {nearest.note}".rstrip())

    def do_time_goto(self) -> None:
        """Type a place."""
        if isinstance(self.screen, ConsoleScreen):
            hint = "12:04  a time    -3m  +10s  a distance    #18207  an event    start  end"
            self.screen.prompt.ask("go to", self._goto, hint=hint)

    def _goto(self, text: str) -> str | None:
        source = self.stage.source
        if not text:
            return None
        try:
            target = parse(text, source.time_us, source.last_seq, source.last_time_us)
        except GotoError as error:
            return str(error)
        if target.seq is not None:
            self.seek(target.seq)
        else:
            self.stage.pacer.seek_time(target.time_us)
        return None

    # ---- statements

    def do_act_mark(self) -> None:
        """Type a bookmark's name, and a note if one likes."""
        if isinstance(self.screen, ConsoleScreen):
            number = len(self.stage.view.state.bookmarks) + 1
            self.screen.prompt.ask(
                "bookmark",
                self._bookmark,
                text=f"b{number}",
                hint="a name, then a note if you like",
            )

    def _bookmark(self, text: str) -> str | None:
        name, _, note = text.partition(" ")
        if not name:
            return "a bookmark needs a name"
        quoted = note.replace("\\", "\\\\").replace('"', '\\"')
        return self.submit(f'mark {name} "{quoted}"' if note else f"mark {name}")

    def do_act_command(self) -> None:
        """Type a statement."""
        if isinstance(self.screen, ConsoleScreen):
            self.screen.prompt.ask(
                ":",
                self.submit,
                history=self.stage.statements,
                complete=self.stage.complete,
                hint=STATEMENT_HINT,
            )

    def submit(self, text: str) -> str | None:
        """Give a statement to the cluster; a complaint keeps it in the line, output is shown."""
        if not text:
            return None
        reply = self.stage.source.submit(text)
        if reply.error != "NONE":
            return complaint(reply)
        if reply.pending and self.stage.pacer.paused:
            self.tell(f"{text}: waits for time to go on (space)")
        else:
            self._show_output(text, reply)
        return None

    def show_replies(self) -> None:
        """Show what statements have come to that needed time; a recording has none."""
        replies = getattr(self.stage.source, "replies", list)
        for text, reply in replies():
            if reply.error != "NONE":
                self.tell(f"{text}: {complaint(reply)}", severity="warning")
            else:
                self._show_output(text, reply)

    def _show_output(self, text: str, reply: "Reply") -> None:
        output = reply.output or reply.message
        if output and len(output.splitlines()) > OUTPUT_TOAST_MAX:
            self.open_page(text, output)
        elif output:
            self.tell(output)
