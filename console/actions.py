"""The one registry of everything a key can do in the console.

Bindings, footer, help screen, command palette, ``tidegauge keys``, the keys page of the docs and
the read-only gate are all read from :data:`ACTIONS`; nothing else lists keys. An action's ``verb``
names the method that does it (``do_`` and the verb), which is looked for from the focused pane
outwards, so one letter means one thing and each pane does it in its own way.

This module imports nothing heavy: ``tidegauge keys`` reads it without starting the console.
"""

from collections.abc import Iterable, Sequence
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
    for action in (*_GO, *_MOVE, *_TIME, *_ACT, *_TABLE, *_DRILL, *_LOG, *_ZNODES, *_PROMPT)
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


def in_context(context: str) -> list[Action]:
    """The actions that belong to one screen (or :data:`ANYWHERE`, or :data:`PROMPT`) itself."""
    return [action for action in ACTIONS.values() if context in action.contexts]


def available(context: str) -> list[Action]:
    """The actions that keys reach on a screen: its own and those that work anywhere."""
    own = in_context(context)
    return own if context in (ANYWHERE, PROMPT) else own + in_context(ANYWHERE)


def footer_actions(context: str) -> list[Action]:
    """The actions that the footer of a screen shows, the most useful first."""
    shown = [action for action in available(context) if action.label]
    order = FOOTER if any(action.verb == "drill" for action in shown) else ("go.back", *FOOTER)
    places = {verb: place for place, verb in reversed(list(enumerate(order)))}
    return sorted(shown, key=lambda action: places.get(action.verb, len(FOOTER)))


def refusal(action: Action, *, read_only: bool) -> str | None:
    """The read-only gate: a sentence that refuses the action, or None if it may be done."""
    if action.writes and read_only:
        return (
            f"READ-ONLY: a recording cannot be changed, so '{action.keys[0]}' does nothing here. "
            "Open the console on a live cluster to give statements."
        )
    return None


def clashes(actions: Iterable[Action] | None = None) -> list[tuple[str, str, list[str]]]:
    """Keys that two actions share in one context, as (context, key, ids); there must be none."""
    chosen = list(ACTIONS.values() if actions is None else actions)
    found = []
    for context in (*SCREENS, ANYWHERE, PROMPT):
        reach = (context,) if context in (ANYWHERE, PROMPT) else (context, ANYWHERE)
        ids: dict[str, list[str]] = {}
        for action in chosen:
            if not set(reach).isdisjoint(action.contexts):
                for key in action.keys:
                    ids.setdefault(key, []).append(action.id)
        found += [(context, key, owners) for key, owners in ids.items() if len(owners) > 1]
    return found


def headings(actions: Iterable[Action]) -> dict[str, list[Action]]:
    """The actions under the headings of help, in the registry's order."""
    found: dict[str, list[Action]] = {}
    for action in actions:
        found.setdefault(GROUPS[action.group], []).append(action)
    return found


def keys_document() -> list[dict[str, Any]]:
    """What ``tidegauge keys --json`` prints: id, keys, screens and help of every action."""
    return [
        {
            "id": action.id,
            "keys": list(action.keys),
            "screens": list(action.contexts),
            "help": action.help,
        }
        for action in ACTIONS.values()
    ]


def keys_page() -> str:
    """The keys page of the docs, in Markdown."""
    rows = [
        "# Keys",
        "",
        "Every key of the console, as `tidegauge keys` lists them. `?` shows those of one screen,",
        "`ctrl+p` finds any of them by name. Actions marked *live* need a running cluster.",
    ]
    for heading, actions in headings(ACTIONS.values()).items():
        rows += ["", f"## {heading}", "", "| keys | where | what | id |", "|--|--|--|--|"]
        rows += [_page_row(action) for action in actions]
    return "\n".join(rows) + "\n"


def _page_row(action: Action) -> str:
    keys = " ".join(f"`{key}`" for key in action.keys)
    note = " *live*" if action.writes else ""
    return f"| {keys} | {', '.join(action.contexts)} | {action.help}{note} | `{action.id}` |"
