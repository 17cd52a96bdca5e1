"""What an action is: the registry's entries are made of this."""

from collections.abc import Iterator, Mapping, Sequence
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


def actions(table: str, **screens: Sequence[str]) -> list[Action]:
    """Read actions from a table: ``screens | verb | keys | label | help``; no label is a dash.

    Screens may be names of ``screens``. On several screens an action has one id each, so that each
    can be remapped on its own; an action of all screens, or of the prompt, has its verb as id. The
    first part of a verb is its group. An indented line continues the one before it; with a colon it
    has what else there is to say: ``writes``, ``files``, ``previews``, ``shown KEYS``, ``kraft
    HELP``.
    """
    return [
        action
        for entry in table.replace("\n    ", "\0").splitlines()
        for action in _actions(entry.split("\0"), screens)
    ]


def _actions(lines: list[str], screens: Mapping[str, Sequence[str]]) -> Iterator[Action]:
    more: dict[str, Any] = {}
    for line in lines:
        if line.startswith(": "):
            name, _, value = line[2:].partition(" ")
            more[name] = value or True
    row = " ".join(line for line in lines if not line.startswith(": "))
    places, verb, keys, label, text = row.split(" | ")
    for place in screens.get(places, places.split()):
        yield Action(
            verb if place in (ANYWHERE, PROMPT) else f"{place}.{verb}",
            verb,
            tuple(keys.split()),
            (place,),
            text,
            verb.partition(".")[0],
            "" if label == "-" else label,
            **more,
        )
