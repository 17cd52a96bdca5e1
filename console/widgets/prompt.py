"""The prompt at the bottom, where statements, filters, places and bookmarks are typed."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from console.actions.bindings import bindings_for
from console.model.workspace import Stage
from console.render.lines import Span, data, line
from console.widgets.text import LabelView
from sessions.format.errors import SessionError

Submit = Callable[[str], str | None]
"""Takes what was typed; returns a sentence if it is rejected."""


class PromptInput(Input):
    """The text being typed."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("prompt")]

    class Pasted(Message):
        """More than one line was pasted."""

        def __init__(self, lines: Sequence[str]) -> None:
            self.lines = lines
            super().__init__()

    def on_paste(self, event: events.Paste) -> None:
        """Insert one line at the cursor; post several, of which Textual would keep the first."""
        lines = [row for row in event.text.splitlines() if row.strip()]
        if len(lines) > 1:
            event.prevent_default()
            event.stop()
            self.post_message(self.Pasted(lines))


class Prompt(Vertical):
    """A line of input after a sign, with a line above it for completions and errors."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(id="prompt")
        self.stage = stage
        self.sign = LabelView(stage, id="prompt-sign")
        self.input = PromptInput(id="prompt-input", compact=True)
        self.hint = LabelView(stage, id="prompt-hint")
        self._submit: Submit = lambda text: None
        self._live: Submit | None = None
        self._complete: Callable[[str], Sequence[str]] | None = None
        self._history: list[str] | None = None
        self._place = 0
        self._before = ""
        self._hint = ""
        self._opener: Widget | None = None

    def compose(self) -> ComposeResult:
        """The hint above, sign and input below."""
        yield self.hint
        with Horizontal(id="prompt-line"):
            yield self.sign
            yield self.input

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def ask(
        self,
        sign: str,
        submit: Submit,
        *,
        text: str = "",
        hint: str = "",
        live: Submit | None = None,
        history: list[str] | None = None,
        complete: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        """Open the line.

        ``live`` is called with every change, and with the old text if the prompt is cancelled.
        """
        self._submit, self._live, self._before, self._hint = submit, live, text, hint
        self._history, self._complete = history, complete
        self._place = len(history or ())
        self._opener = self.screen.focused
        self.sign.styles.width = len(sign) + 2
        self.sign.show([line(Span(f" {sign} ", "key"))])
        self.say(hint)
        self.add_class("-open")
        self.input.value = text
        self.input.action_end()
        self.screen.set_focus(self.input)

    def say(self, text: str, role: str = "muted") -> None:
        """Show a sentence above the prompt."""
        self.hint.set_class(not text, "-empty")
        self.hint.show([line(data(f" {text}", role))] if text else [])

    def close(self) -> None:
        """Close the prompt, and return the focus."""
        self.remove_class("-open")
        if self._opener is not None and self._opener.is_attached:
            self.screen.set_focus(self._opener, scroll_visible=False)

    def on_input_changed(self, message: Input.Changed) -> None:
        """Apply the text while it is typed, if the prompt is live."""
        message.stop()
        if self.is_open and self._live is not None:
            complaint = self._live(message.value)
            self.say(complaint or self._hint, "warning" if complaint else "muted")

    def action_prompt_accept(self) -> None:
        """Submit the text; if it is rejected, the prompt stays open."""
        if not self.is_open:
            return
        text = self.input.value.strip()
        try:
            complaint = self._submit(text)
        except SessionError as error:
            complaint = str(error)
        if complaint:
            self.say(complaint, "warning")
            return
        if self._history is not None and text and self._history[-1:] != [text]:
            self._history.append(text)
        self.close()

    def action_prompt_cancel(self) -> None:
        """Close the prompt, and undo what a live prompt has applied."""
        if self._live is not None and self.input.value != self._before:
            self._live(self._before)
        self.close()

    def abandon(self) -> None:
        """Cancel the prompt because the focus moved, and leave the focus there."""
        self._opener = None
        self.action_prompt_cancel()

    def on_prompt_input_pasted(self, message: PromptInput.Pasted) -> None:
        """Submit pasted statements one after another; elsewhere, join pasted lines."""
        message.stop()
        if self._history is None:
            self.input.insert_text_at_cursor(" ".join(message.lines))
            return
        first, *rest = message.lines
        self.input.insert_text_at_cursor(first)
        for following in rest:
            before = self.input.value
            self.action_prompt_accept()
            if self.is_open and self.input.value == before and before.strip():
                return  # it was rejected, and what follows may depend on it
            self.reopen(following)

    def reopen(self, text: str) -> None:
        """Continue with another text in the same prompt."""
        self.add_class("-open")
        self.input.value = text
        self.input.action_end()
        self.screen.set_focus(self.input)

    def action_prompt_older(self) -> None:
        self._recall(-1)

    def action_prompt_newer(self) -> None:
        self._recall(1)

    def _recall(self, step: int) -> None:
        history = self._history or []
        self._place = max(0, min(self._place + step, len(history)))
        self.input.value = history[self._place] if self._place < len(history) else ""
        self.input.action_end()

    def action_prompt_complete(self) -> None:
        """Complete the common part of all completions, and list them."""
        completions = list(self._complete(self.input.value)) if self._complete is not None else []
        if not completions:
            self.say("nothing to complete here")
            return
        common = _common_start(completions)
        if len(common) > len(self.input.value):
            self.input.value = common
            self.input.action_end()
        last_words = sorted({entry.split(" ")[-1] or entry for entry in completions})
        self.say("  ".join(last_words) if len(completions) > 1 else "")


def _common_start(texts: Sequence[str]) -> str:
    shortest = min(texts, key=len)
    for position, character in enumerate(shortest):
        if any(text[position] != character for text in texts):
            return shortest[:position]
    return shortest
