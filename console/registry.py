"""Every action of the console, declared once: its id, its keys, where they work, and its help.

An action's ``verb`` names the method that does it (``do_`` and the verb), which is looked for from
the focused pane outwards, so one letter means one thing and each pane does it in its own way.
Nothing else lists keys; :mod:`console.actions` reads this list for all who need it.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

ANYWHERE: Final = "anywhere"
"""The context of actions that work on every screen."""
TABLES: Final = ("partitions", "brokers")
"""Screens whose main pane is a sortable table."""
SCREENS: Final = (
    "overview",
    "partitions",
    "partition",
    "brokers",
    "broker",
    "znodes",
    "events",
    "event",
    "menu",
    "page",
)
"""Contexts that are screens; ``page`` is a screen of text (help, output)."""
PROMPT: Final = "prompt"
"""The context of the input line while it is open."""


class Action(Struct, frozen=True):
    """One thing that keys, the palette and the footer can ask for.

    ``keys`` are written as people write them (``,``, ``ctrl+p``, ``shift+left``); the first is the
    one that the footer shows. ``contexts`` are screens, :data:`ANYWHERE` or :data:`PROMPT`.
    ``label`` is its word in the footer (empty: not there), and ``shown`` the keys it shows there if
    it speaks for its opposite too. ``writes``: it changes the cluster, so it needs a source that is
    not read-only.
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


def _everywhere(id: str, keys: str, help: str, label: str = "", **more: Any) -> Action:
    group = id.partition(".")[0]
    return Action(id, id, tuple(keys.split()), (ANYWHERE,), help, group, label, **more)


def _on(
    screens: Sequence[str], verb: str, keys: str, help: str, label: str = "", **more: Any
) -> list[Action]:
    """The same action on several screens, one id each, so that each can be remapped on its own."""
    group = verb.partition(".")[0]
    return [
        Action(f"{screen}.{verb}", verb, tuple(keys.split()), (screen,), help, group, label, **more)
        for screen in screens
    ]


_GO = [
    _everywhere("go.overview", "1", "Overview: is it healthy, since when?"),
    _everywhere("go.partitions", "2", "Partitions: which ones, and how bad?"),
    _everywhere("go.brokers", "3", "Brokers: who is to blame?"),
    _everywhere("go.znodes", "4", "Znodes: what does ZooKeeper say?"),
    _everywhere("go.events", "5", "Events: what happened, and why?"),
    _everywhere("go.back", "escape", "Back to the screen before; clears a filter first", "back"),
    _everywhere("go.last", "-", "Toggle between this screen and the last one"),
]

_MOVE = [
    _everywhere("move.up", "up k", "Up one line"),
    _everywhere("move.down", "down j", "Down one line"),
    _everywhere("move.left", "left h", "Left; close a branch; older offsets"),
    _everywhere("move.right", "right l", "Right; open a branch; newer offsets"),
    _everywhere("move.page_up", "pageup ctrl+u", "Up one page"),
    _everywhere("move.page_down", "pagedown ctrl+d", "Down one page"),
    _everywhere("move.first", "g home", "To the first line; in a table, stay with the first"),
    _everywhere("move.last", "G end", "To the last line; in a log, follow it"),
    _everywhere("pane.next", "tab", "To the next pane", "pane"),
    _everywhere("pane.previous", "shift+tab", "To the pane before"),
    _everywhere("pane.zoom", "z", "Give the whole screen to this pane, or take it back"),
]

_TIME = [
    _everywhere("time.pause", "space", "Pause or go on", "pause"),
    _everywhere("time.back", ",", "One event back", "step", shown=", ."),
    _everywhere("time.forward", ".", "One event forward"),
    _everywhere(
        "time.previous_touch",
        "<",
        "To the event before that touches what is selected",
        "touch",
        shown="< >",
    ),
    _everywhere("time.next_touch", ">", "To the next event that touches what is selected"),
    _everywhere("time.previous_mark", "[", "To the bookmark before", "mark", shown="[ ]"),
    _everywhere("time.next_mark", "]", "To the next bookmark"),
    _everywhere("time.slower", "(", "Half as fast, down to 1/16x", "speed", shown="( )"),
    _everywhere("time.faster", ")", "Twice as fast, up to 256x"),
    _everywhere(
        "time.goto",
        "t",
        "Go to a time (12:04), a distance (-3m) or an event (#18207)",
        "goto",
    ),
    _everywhere("time.live", "L", "To the end of what exists, and follow it", "live"),
]

_ACT = [
    _everywhere("act.mark", "b", "Set a bookmark here", writes=True),
    _everywhere(
        "act.command",
        ":",
        "Give a statement of the command language",
        "command",
        writes=True,
    ),
    _everywhere("app.palette", "ctrl+p", "Find any action by name"),
    _everywhere("app.help", "?", "This help", "help"),
    _everywhere("app.quit", "ctrl+q", "Quit"),
    _everywhere("app.interrupt", "ctrl+c", "Say how to quit"),
]

_TABLE = [
    *_on(
        TABLES,
        "filter.open",
        "/",
        "Show only rows that match: text, re:.., !not, or a query such as isr<min",
        "filter",
    ),
    *_on(TABLES, "sort.menu", "s", "Choose the column to sort by", "sort"),
    *_on(TABLES, "sort.previous", "shift+left", "Sort by the column to the left"),
    *_on(TABLES, "sort.next", "shift+right", "Sort by the column to the right"),
    *_on(TABLES, "sort.reverse", "r", "Reverse the order"),
    *_on(TABLES, "faults", "f", "Show only what is not healthy, or all", "faults"),
    *_on(TABLES, "wide", "w", "Show all columns, or as many as fit", "wide"),
    *_on(TABLES, "copy.cell", "y", "Copy the cell in the sorted column"),
    *_on(TABLES, "copy.row", "Y", "Copy the row as JSON"),
]

_DRILL = [
    *_on(
        ("partitions",),
        "drill",
        "enter",
        "Open the partition: its tapes, replicas and events",
        "drill",
    ),
    *_on(
        ("brokers",),
        "drill",
        "enter",
        "Open the broker: its session, links and events",
        "drill",
    ),
    *_on(
        ("znodes",),
        "drill",
        "enter",
        "Open or close the branch; on a leaf, its last event",
        "open",
    ),
    *_on(
        ("overview", "events", "event", "partition", "broker"),
        "drill",
        "enter",
        "Open the selected event, with its causes and effects",
        "event",
    ),
    *_on(("menu",), "drill", "enter", "Choose this line", "choose"),
    *_on(
        ("partitions", "partition"),
        "why",
        "W",
        "Why is it so: open the event behind the partition's state",
        "why",
    ),
]

_TAPES = _on(("partition",), "wide", "w", "Show the values of records, or their epochs", "values")

_LOG = [
    *_on(
        ("events", "partition", "broker"),
        "filter.open",
        "/",
        "Show only events that match: text, re:.., !not",
        "filter",
    ),
    *_on(
        ("events", "partition", "broker"),
        "faults",
        "f",
        "Show only changes and faults, or every event",
        "changes",
    ),
    *_on(("events", "event", "partition", "broker"), "copy.row", "Y", "Copy the event as JSON"),
    *_on(("events", "event"), "copy.cell", "y", "Copy the event's line"),
    *_on(
        ("events", "event"),
        "cursor.here",
        "o",
        "Bring the time cursor to the selected event",
        "go there",
    ),
]

_ZNODES = [
    *_on(("znodes",), "filter.open", "/", "Show only paths that match", "filter"),
    *_on(("znodes",), "copy.cell", "y", "Copy the path"),
    *_on(("znodes",), "copy.row", "Y", "Copy the data and the Stat as JSON"),
]

_PROMPT = [
    Action(
        "prompt.accept",
        "prompt.accept",
        ("enter",),
        (PROMPT,),
        "Take what was typed",
        "prompt",
        "accept",
    ),
    Action(
        "prompt.cancel",
        "prompt.cancel",
        ("escape",),
        (PROMPT,),
        "Close the line",
        "prompt",
        "cancel",
    ),
    Action(
        "prompt.older",
        "prompt.older",
        ("up",),
        (PROMPT,),
        "The line before in the history",
        "prompt",
        "history",
    ),
    Action(
        "prompt.newer",
        "prompt.newer",
        ("down",),
        (PROMPT,),
        "The next line in the history",
        "prompt",
    ),
    Action(
        "prompt.complete",
        "prompt.complete",
        ("tab",),
        (PROMPT,),
        "Complete the word",
        "prompt",
        "complete",
    ),
]

ACTIONS: Final[dict[str, Action]] = {
    action.id: action
    for action in (
        *_GO,
        *_MOVE,
        *_TIME,
        *_ACT,
        *_TABLE,
        *_DRILL,
        *_TAPES,
        *_LOG,
        *_ZNODES,
        *_PROMPT,
    )
}
"""Every action by its id, in the order of help and docs."""

FOOTER: Final = (
    "drill",
    "filter.open",
    "faults",
    "time.pause",
    "time.back",
    "time.previous_touch",
    "act.command",
    "time.goto",
    "cursor.here",
    "sort.menu",
    "why",
    "time.live",
    "pane.next",
    "time.slower",
    "time.previous_mark",
    "wide",
    "go.back",
    "app.help",
)
"""The verbs that the footer shows, the most useful first: the others give way."""

GROUPS: Final = {
    "go": "Screens",
    "move": "Move",
    "pane": "Panes",
    "time": "Time",
    "act": "Act",
    "filter": "Find",
    "faults": "Find",
    "wide": "Find",
    "sort": "Sort",
    "drill": "Open",
    "why": "Open",
    "cursor": "Time",
    "copy": "Copy",
    "app": "Program",
    "prompt": "Input line",
}
"""The heading under which help shows each group."""
