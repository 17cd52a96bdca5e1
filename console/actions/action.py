"""What an action is: the registry's entries are made of this."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

ANYWHERE: Final = "anywhere"
"""The context of actions that work on every screen."""
PROMPT: Final = "prompt"
"""The context of the input line while it is open."""


class Action(Struct, frozen=True):
    """Something that a key, the palette or the footer can request.

    ``keys`` are written as users write them (``,``, ``ctrl+p``, ``shift+left``); the first is the
    one that the footer shows. ``contexts`` are screens, :data:`ANYWHERE` or :data:`PROMPT`.
    ``label`` is its word in the footer (empty: not there), and ``shown`` the keys it shows there if
    it speaks for its opposite too. ``writes``: it changes the cluster, so it needs a source that is
    not read-only. ``files``: it writes files where the console was started, so it needs a console
    that may do more than look. ``previews``: it shows what would happen first, and does that also
    where nothing can be changed. ``kraft`` is its help in KRaft mode, where that differs.
    """

    id: str
    verb: str
    keys: tuple[str, ...]
    contexts: tuple[str, ...]
    help: str
    group: str
    label: str = ""
    shown: str = ""
    writes: bool = False
    files: bool = False
    previews: bool = False
    kraft: str = ""

    def help_in(self, *, kraft: bool) -> str:
        """What it does on a cluster without ZooKeeper, or on one with it."""
        return self.kraft if kraft and self.kraft else self.help

    @property
    def name(self) -> str:
        """Return Textual's name of the action: ``action_`` and this is the method that runs it."""
        return self.verb.replace(".", "_")


def everywhere(id: str, keys: str, help: str, label: str = "", **more: Any) -> Action:
    """An action of all screens; its id is its verb, whose first part is its group."""
    group = id.partition(".")[0]
    return Action(id, id, tuple(keys.split()), (ANYWHERE,), help, group, label, **more)


def on(
    screens: Sequence[str], verb: str, keys: str, help: str, label: str = "", **more: Any
) -> list[Action]:
    """The same action on several screens, one id each, so that each can be remapped on its own."""
    group = verb.partition(".")[0]
    return [
        Action(f"{screen}.{verb}", verb, tuple(keys.split()), (screen,), help, group, label, **more)
        for screen in screens
    ]
