"""Actions of the time keys and of the command line, on every screen."""

from collections.abc import Sequence

from console.controllers.bookmarks import Bookmarks
from console.controllers.notices import Notices
from console.controllers.open_sources import Controller, OpenSources
from console.model.library import Library, Opened
from console.model.lookback import statement_end
from console.model.questions import answers
from console.model.reader import READ_AT_ONCE
from console.model.workspace import Touching
from console.render.scenario_card import answer_text
from console.screens.base import ConsoleScreen
from console.screens.brief import BriefScreen
from console.screens.messages import ActionRequested, SourceRequested
from console.screens.page import MenuScreen, text_page
from sessions.format.allowance import StillReadingError
from sessions.grammar.places import place
from sessions.grammar.words import BadWord
from sessions.playback.cursor import Reply
from sessions.text import clock, number

STATEMENT_HINT = (
    "a statement:  broker crash 1   show partitions   zk ls /     tab completes, up recalls"
)
OUTPUT_TOAST_MAX = 3
"""Output of more lines than this gets a page of its own."""


def complaint(reply: Reply) -> str:
    """An error's name, and the sentence that explains it."""
    return f"{reply.error}: {reply.message}" if reply.message else reply.error


class TimeTravel(Controller):
    """Moves the source's cursor, and runs statements."""

    def __init__(self, sources: OpenSources, notices: Notices, bookmarks: Bookmarks) -> None:
        super().__init__(sources)
        self.notices = notices
        self.bookmarks = bookmarks
        self._menu: MenuScreen | None = None
        self._held: list[str] = []

    # ---- the pacer

    def action_time_pause(self) -> None:
        self.stage.pacer.toggle()

    def action_time_forward(self) -> None:
        self.stage.pacer.step(1)
        self._tell_answers()

    def action_time_back(self) -> None:
        self.stage.pacer.step(-1)

    def action_time_faster(self) -> None:
        self.stage.pacer.faster()

    def action_time_slower(self) -> None:
        self.stage.pacer.slower()

    def action_time_live(self) -> None:
        """To the end, and follow."""
        self.stage.pacer.live()
        self.notices.pass_over()

    def seek(self, seq: int) -> None:
        self.stage.pacer.seek_seq(seq)

    # ---- jumps

    def action_time_next_statement(self) -> None:
        """To the end of what the next statement did."""
        self._statement(1)

    def action_time_previous_statement(self) -> None:
        """To where the statement before began."""
        self._statement(-1)

    def _statement(self, direction: int) -> None:
        seq = statement_end(self.stage.reader, self.stage.source.seq, direction)
        if seq is None:
            where = "later" if direction > 0 else "earlier"
            self.app.notify(f"no {where} statement near here")
            return
        self.seek(seq)
        self._tell_answers()

    def _tell_answers(self) -> None:
        """Reveal the answers to a scenario's questions that the last step has reached."""
        card, source = self.stage.card, self.stage.source
        if card is None or isinstance(self.app.screen, BriefScreen):
            return
        passed = self.stage.reader.page(self.stage.pacer.came_from + 1, source.seq)
        for number_, answered in answers(card, passed).items():
            question = card.questions[number_ - 1]
            text = "\n".join(answer_text(answer, self.stage.view) for answer in answered)
            self.app.notify(text, title=f"{number_}. {question}")

    def action_time_next_touch(self) -> None:
        """Go to the next event that touches the selection."""
        self._touch(1)

    def action_time_previous_touch(self) -> None:
        """Go to the previous event that touched the selection."""
        self._touch(-1)

    def _touch(self, direction: int) -> None:
        screen = self.app.screen
        if not isinstance(screen, ConsoleScreen) or not (objects := screen.selection()):
            self.stage.pacer.step(direction)
            return
        self.stage.touching = Touching(tuple(objects), self.stage.source.seq, direction)
        self.search_on()

    def search_on(self) -> None:
        """Go on looking for the event that touches the selection, unless that is another by now."""
        stage, screen = self.stage, self.app.screen
        touching, stage.touching = stage.touching, None
        if touching is None or not isinstance(screen, ConsoleScreen):
            return
        if (tuple(screen.selection()), stage.source.seq) != (touching.objects, touching.seq):
            return
        try:
            with stage.reader.painting(READ_AT_ONCE), stage.reader.hurrying():
                seq = screen.next_touch(touching.direction)
        except StillReadingError:
            stage.pacer.hold()  # it is looked for from here
            stage.touching = touching
            return
        if seq is None:
            where = "later" if touching.direction > 0 else "earlier"
            self.app.notify(f"no {where} event touches {' or '.join(touching.objects)}")
            return
        self.seek(seq)

    def stop_search(self) -> bool:
        """Stop looking for such an event; return False if none is looked for."""
        touching, self.stage.touching = self.stage.touching, None
        return touching is not None

    def action_time_goto(self) -> None:
        if isinstance(self.app.screen, ConsoleScreen):
            hint = "12:04   -3m   +10s   #18207   start   end   when urp>5   when orders-0.leader=2"
            self.app.screen.prompt.ask("go to", self._goto, hint=hint)

    def _goto(self, text: str) -> str | None:
        source = self.stage.source
        if not text:
            return None
        word, _, condition = text.partition(" ")
        if word.lower() == "when":
            return self.bookmarks.look_for(condition)
        try:
            meant = place(text)
        except BadWord as error:
            return f"{error}, or a condition (when urp>5)"
        here = (source.time_us, source.last_seq, source.last_time_us)
        if end := meant.beyond_end(*here):
            self.app.notify(end)
        target = meant.seen_from(*here)
        if target.seq is not None:
            self.seek(target.seq)
        else:
            self.stage.pacer.seek_time(target.time_us)
        return None

    # ---- statements

    def action_act_command(self) -> None:
        self.ask_statement()

    def ask_statement(self, text: str = "") -> None:
        """Open the prompt for a statement, perhaps with one to begin with."""
        if isinstance(self.app.screen, ConsoleScreen):
            self.app.screen.prompt.ask(
                ":",
                self.submit,
                text=text,
                history=self.stage.statements,
                complete=self.stage.complete,
                hint=STATEMENT_HINT,
            )

    def submit(self, text: str) -> str | None:
        """Run a statement on the cluster; an error keeps it in the prompt, output is shown."""
        if not text:
            return None
        if text.strip() in ("help", "?"):
            self.app.post_message(ActionRequested("app.help"))
            return None
        if self._is_past():
            self._ask_where(text)
            return None
        return self.give(text)

    def _is_past(self) -> bool:
        """Return whether a live cluster's past is shown, where statements take no effect."""
        source = self.stage.source
        return not self.stage.read_only and not source.at_tail

    def _ask_where(self, text: str) -> None:
        """Confirm a statement typed while the past is shown: it takes effect at the live end.

        For several pasted lines, the question is asked once.
        """
        if self._menu is not None and self.app.screen is self._menu:
            self._held.append(text)
            return
        self._held = held = [text]
        source = self.stage.source
        here = f"#{number(source.seq)} ({clock(source.time_us)})"
        choices = [
            f"Fork from {here}: a second cluster, side by side, runs it there",
            f"Go to the live end ({clock(source.last_time_us)}) and run it there",
            "Neither: stay here",
        ]

        def chosen(index: int | None) -> None:
            if index == 0:
                self._fork(held)
            elif index == 1:
                self.stage.pacer.live()
                self._give_in_order(held)

        self._menu = MenuScreen(self.stage, f"{text}: where?", choices, 0)
        self.app.push_screen(self._menu, chosen)

    def _give_in_order(self, texts: Sequence[str]) -> None:
        """Run statements up to the first that is rejected: later ones may depend on it."""
        for text in texts:
            complaint = self.give(text)
            if complaint:
                self.app.notify(complaint, severity="warning")
                return

    def _fork(self, texts: Sequence[str]) -> None:
        """Fork with the first statement; further pasted lines are discarded."""
        source, text = self.stage.source, texts[0]
        if texts[1:]:
            self.app.notify(f"only '{text}' runs on the fork: enter the other lines there")

        def opener(library: Library) -> Opened:
            return library.fork(source, text)

        self.app.post_message(SourceRequested(opener, "compare"))

    def give(self, text: str) -> str | None:
        """Run a statement at the live end; return why it was rejected, if it was."""
        reply = self.stage.source.submit(text)
        self.notices.look(given=True)
        if reply.error != "NONE":
            return complaint(reply)
        if reply.pending and self.stage.pacer.paused:
            self.app.notify(f"{text}: waits for time to pass (space)")
        else:
            self._show_output(text, reply)
        return None

    def show_replies(self) -> None:
        """Show the results of statements that took time."""
        for text, reply in self.stage.source.replies():
            if reply.error != "NONE":
                self.app.notify(f"{text}: {complaint(reply)}", severity="warning")
            else:
                self._show_output(text, reply)

    def _show_output(self, text: str, reply: Reply) -> None:
        output = reply.output or reply.message
        if output and len(output.splitlines()) > OUTPUT_TOAST_MAX:
            self.app.push_screen(text_page(self.stage, text, output))
        elif output:
            self.app.notify(output)
