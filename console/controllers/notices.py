"""Notices: a broken invariant, a damaged session, a failed operation."""

from console.controllers.open_sources import Controller, OpenSources
from console.screens.base import ConsoleScreen
from console.screens.notice import Notice, NoticeScreen
from emulator.audit.invariants import INVARIANTS
from sessions.text import clock, number

Violation = tuple[int, str, str, str, bool]
"""An entry of the read model: event, name of the invariant, partition, detail, whether known."""


class Notices(Controller):
    """Pauses the run where an invariant breaks, and reports it.

    A violation that the release is known for pauses the run only the first time. What the source
    cannot do (read damaged events, write to a full disk) is reported once.
    """

    def __init__(self, sources: OpenSources) -> None:
        super().__init__(sources)
        self._waiting: list[Notice] = []
        self.begin()

    def begin(self) -> None:
        """Start with nothing reported; earlier events are not news."""
        self.alarmed_seqs: set[int] = set()
        self.alarmed_names: set[str] = set()
        self.alarmed_seq = self.stage.source.seq
        self.told_troubles: set[str] = set()

    def pass_over(self) -> None:
        """Skip what lies before the time cursor, which the user has moved by hand."""
        self.alarmed_seq = self.stage.source.seq

    def look(self, *, given: bool = False) -> None:
        """Look for violations since the last look; ``given``: after a statement just now.

        Moving the time cursor by hand is never interrupted.
        """
        source, pacer = self.stage.source, self.stage.pacer
        if source.trouble:
            self.trouble(source.trouble)
        seen, self.alarmed_seq = self.alarmed_seq, source.seq
        if source.seq <= seen or (pacer.paused and not given):
            return
        news = [violation for violation in self.stage.view.state.invariants if violation[0] > seen]
        violation = next((violation for violation in news if self._is_news(violation)), None)
        if violation is not None:
            self._freeze(violation)

    def _is_news(self, violation: Violation) -> bool:
        seq, name, _, _, known = violation
        return seq not in self.alarmed_seqs and not (known and name in self.alarmed_names)

    def _freeze(self, violation: Violation) -> None:
        """Pause at the violation; the recording is flushed first, so that it holds the event."""
        seq, name, tp, detail, known = violation
        self.stage.source.flush()
        self.alarmed_seqs.add(seq)
        self.alarmed_names.add(name)
        self.stage.pacer.seek_seq(seq)
        self.alarmed_seq = seq
        release = self.stage.view.state.version
        text = (
            f"The invariant {name} does not hold for {tp or 'the cluster'}: {detail}.",
            f"Its definition: {INVARIANTS.get(name, 'unknown')}.",
            f"Release {release} is known to break it."
            if known
            else f"Release {release} is not known to break it.",
            f"The run is paused at event #{number(seq)}, {clock(self.stage.source.time_us)}; the "
            "recording holds everything up to it. space continues.",
        )
        command = self.stage.command_line()
        self.show(Notice("invariant broken", text, seq, command))

    def failed(self, what: str, cause: str, unchanged: str) -> None:
        """Say why a request failed, and what it has left unchanged."""
        self.show(Notice(f"{what}: failed", (cause, unchanged)))

    def trouble(self, sentence: str) -> None:
        """Pause, and report once what cannot be done; the rest can still be examined."""
        if sentence in self.told_troubles:
            return
        self.told_troubles.add(sentence)
        source, pacer = self.stage.source, self.stage.pacer
        if source.goes_on or not source.at_tail:
            pacer.paused = True
        there = f"Events #1 to #{number(source.last_seq)} can be examined"
        here = f"the time cursor is at #{number(source.seq)}"
        kept = f"{there}; {here}" if source.last_seq else "There is no event to look at"
        text = (sentence, f"{kept}. Nothing was changed.")
        self.show(Notice("something is wrong", text))

    def show(self, notice: Notice) -> None:
        """Show a notice over the screen, or queue it while something is being typed."""
        self._waiting.append(notice)
        self.show_waiting()

    def show_waiting(self) -> None:
        """Show the next queued notice, unless something is being typed."""
        screen = self.app.screen
        is_typing = isinstance(screen, ConsoleScreen) and screen.prompt.is_open
        if self._waiting and not is_typing:
            self.app.push_screen(NoticeScreen(self.stage, self._waiting.pop(0)))
