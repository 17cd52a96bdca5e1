"""What stops the work: a broken invariant, a damaged session, something that could not be done."""

from typing import TYPE_CHECKING, Any

from console.screens.notice import Notice, NoticeScreen
from emulator.audit.invariants import INVARIANTS
from sessions.text import clock, number

if TYPE_CHECKING:
    from textual.screen import Screen

    from console.model.workspace import Stage

Violation = tuple[int, str, str, str, bool]
"""An entry of the read model: event, name of the invariant, partition, detail, whether known."""


class Alarms:
    """Mixed into the application: freezes the run where an invariant breaks, and says so.

    A violation that the release is known for freezes the run the first time only. What the source
    cannot do (read damaged events, write to a full disk) is told once.
    """

    stage: "Stage"
    alarmed_seqs: set[int]
    alarmed_names: set[str]
    alarmed_seq: int
    told_troubles: set[str]

    if TYPE_CHECKING:

        def show_screen(self, screen: Screen[Any]) -> None: ...

    def begin_alarms(self) -> None:
        """Nothing has been told yet; what has happened up to now is no news."""
        self.alarmed_seqs, self.alarmed_names = set(), set()
        self.alarmed_seq = self.stage.source.seq
        self.told_troubles = set()

    def pass_alarms(self) -> None:
        """What lies before the time cursor is no news: one has gone past it by hand."""
        self.alarmed_seq = self.stage.source.seq

    def look_for_alarms(self, *, given: bool = False) -> None:
        """Look at what has happened since the last look; ``given``: by a statement just now.

        Who goes somewhere by hand is not stopped on the way.
        """
        source, pacer = self.stage.source, self.stage.pacer
        if source.trouble:
            self.trouble(source.trouble)
        seen, self.alarmed_seq = self.alarmed_seq, source.seq
        if source.seq <= seen or (pacer.paused and not given):
            return
        news = [each for each in self.stage.view.state.invariants if each[0] > seen]
        violation = next((each for each in news if self._is_news(each)), None)
        if violation is not None:
            self._freeze(violation)

    def _is_news(self, violation: Violation) -> bool:
        seq, name, _, _, known = violation
        return seq not in self.alarmed_seqs and not (known and name in self.alarmed_names)

    def _freeze(self, violation: Violation) -> None:
        """The recording first: whatever comes now, it holds the event."""
        seq, name, tp, detail, known = violation
        self.stage.source.flush()
        self.alarmed_seqs.add(seq)
        self.alarmed_names.add(name)
        self.stage.pacer.seek_seq(seq)
        self.alarmed_seq = seq
        release = self.stage.view.state.version
        text = (
            f"The invariant {name} does not hold of {tp or 'the cluster'}: {detail}.",
            f"It says: {INVARIANTS.get(name, 'no more is known of it')}.",
            f"Release {release} is known to break it."
            if known
            else f"Nothing is known of release {release} that would explain it.",
            f"The run is frozen at event #{number(seq)}, {clock(self.stage.source.time_us)}; the "
            "recording holds everything up to it. space lets it go on.",
        )
        command = self.stage.command_line()
        self.show_screen(NoticeScreen(self.stage, Notice("invariant broken", text, seq, command)))

    def failed(self, what: str, cause: str, unchanged: str) -> None:
        """Say why something that was asked for could not be done, and what is as it was."""
        self.show_screen(NoticeScreen(self.stage, Notice(f"{what}: failed", (cause, unchanged))))

    def trouble(self, sentence: str) -> None:
        """Hold still, and say what cannot be done, once; what is there can be looked at."""
        if sentence in self.told_troubles:
            return
        self.told_troubles.add(sentence)
        source, pacer = self.stage.source, self.stage.pacer
        if not source.read_only or not source.at_tail:
            pacer.paused = True
        there = f"Events #1 to #{number(source.last_seq)} are there and can be looked at"
        here = f"the time cursor stands at #{number(source.seq)}"
        kept = f"{there}; {here}" if source.last_seq else "There is no event to look at"
        text = (sentence, f"{kept}. Nothing was changed.")
        self.show_screen(NoticeScreen(self.stage, Notice("something is wrong", text)))
