"""Jump mode: a letter on everything that can have the focus; typing it goes there."""

from collections.abc import Callable, Iterable
from typing import ClassVar, Final, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.screen import ModalScreen
from textual.widgets import Label

from console.screens.sized import Sized

LETTERS: Final = "asdfghjklqwertyuiopzxcvbnmASDFGHJKLQWERTYUIOPZXCVBNM"
"""The letters, those on the home row first."""


class Target(NamedTuple):
    """Something to jump to: where it is on the screen, and what going there does."""

    place: Offset
    go: Callable[[], object]


class JumpScreen(Sized, ModalScreen[Target], inherit_bindings=False):
    """Letters over the screen below; the result is the target whose letter was typed.

    Any other key, a click or a resize changes nothing.
    """

    AUTO_FOCUS: ClassVar[str] = ""

    def __init__(self, targets: Iterable[Target]) -> None:
        super().__init__()
        self.targets = dict(zip(LETTERS, targets, strict=False))
        self._is_placed = False

    def compose(self) -> ComposeResult:
        for letter, target in self.targets.items():
            label = Label(letter, markup=False)
            label.styles.offset = target.place
            yield label

    def on_mount(self) -> None:
        """Accept keys once the letters are shown."""
        self.call_after_refresh(self.become_ready)

    def on_key(self, event: events.Key) -> None:
        """Return the target of the letter, if there is one."""
        event.stop()
        self._leave(self.targets.get(event.character or ""))

    def on_click(self) -> None:
        self._leave(None)

    def on_resize(self, event: events.Resize) -> None:
        """Return no target: the letters are in the wrong places now."""
        if self._is_placed:
            self._leave(None)
        self._is_placed = True

    def _leave(self, target: Target | None) -> None:
        """Dismiss the screen once: another key or resize may arrive before it is gone."""
        if self.is_current:
            self.dismiss(target)
