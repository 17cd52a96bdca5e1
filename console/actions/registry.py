"""Every action of the console, declared once: its id, its keys, where they work, and its help.

An action's ``verb`` names the method that runs it (``time.pause`` is ``action_time_pause``). The
application looks for that method from the focused pane outwards, so a letter means the same thing
everywhere, and each pane does it in its own way.
Nothing else lists keys; :mod:`console.actions.lookup` reads this list for all who need it.
"""

from typing import Final

from console.actions.action import ANYWHERE, PROMPT, Action, everywhere, on
from console.actions.lab_actions import GO, LAB
from console.actions.screen_actions import COPY, DRILL, LOG, TABLE, TAPES

__all__ = ["ACTIONS", "ANYWHERE", "FOOTER", "GROUPS", "PROMPT", "SCREENS", "Action"]

SCREENS: Final = (
    "overview",
    "partitions",
    "partition",
    "brokers",
    "broker",
    "znodes",
    "znode",
    "metadata",
    "events",
    "event",
    "diagram",
    "lost",
    "clients",
    "groups",
    "record",
    "bookmarks",
    "difference",
    "analysis",
    "sessions",
    "lab",
    "faults",
    "explore",
    "compare",
    "menu",
    "page",
    "notice",
)
"""Contexts that are screens; ``page`` is a screen of text (help, output)."""

_GO = [
    everywhere("go.overview", "1", "Overview: is it healthy, since when?"),
    everywhere("go.partitions", "2", "Partitions: which ones, and how bad?"),
    everywhere("go.brokers", "3", "Brokers: who is to blame?"),
    everywhere(
        "go.znodes",
        "4",
        "Znodes: what does ZooKeeper say? In KRaft, the metadata log",
        kraft="Metadata: what does the metadata log say, and who has read it?",
    ),
    everywhere("go.events", "5", "Events: what happened, and why?"),
    *GO,
    everywhere(
        "go.verdict",
        "!",
        "Show what the headline is about: partitions, brokers, or the lost records",
        "headline",
    ),
    everywhere("go.back", "escape", "Back to the previous screen; clears a filter first", "back"),
    everywhere("go.last", "-", "Toggle between this screen and the last one"),
]

_MOVE = [
    everywhere("move.up", "up k", "Up one line"),
    everywhere("move.down", "down j", "Down one line"),
    everywhere("move.left", "left h", "Left; close a branch; older offsets"),
    everywhere("move.right", "right l", "Right; open a branch; newer offsets"),
    everywhere("move.page_up", "pageup ctrl+u", "Up one page"),
    everywhere("move.page_down", "pagedown ctrl+d", "Down one page"),
    everywhere("move.first", "g home", "Go to the first line; in a table, stay there"),
    everywhere("move.last", "G end", "Go to the last line; in a log, follow it"),
    everywhere("pane.next", "tab", "Focus the next pane", "pane"),
    everywhere("pane.previous", "shift+tab", "Focus the previous pane"),
    everywhere("pane.jump", "ctrl+o", "Jump to a pane, a tab or a line by its letter"),
    everywhere("pane.zoom", "z", "Zoom this pane to the whole screen, or back"),
]

_TIME = [
    everywhere("time.pause", "space", "Pause or continue", "pause"),
    everywhere("time.back", ",", "One event back", "step", shown=", ."),
    everywhere("time.forward", ".", "One event forward"),
    everywhere("time.previous_statement", "K", "One statement back"),
    everywhere("time.next_statement", "J", "One statement forward, to the end of its effects"),
    everywhere(
        "time.previous_touch",
        "<",
        "Go to the previous event that touches the selected object",
        "touch",
        shown="< >",
    ),
    everywhere("time.next_touch", ">", "Go to the next event that touches the selected object"),
    everywhere("time.previous_mark", "[", "Go to the previous bookmark", "mark", shown="[ ]"),
    everywhere("time.next_mark", "]", "Go to the next bookmark"),
    everywhere(
        "time.previous_alert", "{", "Go to the previous change of the alert", "alert", shown="{ }"
    ),
    everywhere("time.next_alert", "}", "Go to the next change of the alert"),
    everywhere("time.slower", "(", "Half as fast, down to 1/16x", "speed", shown="( )"),
    everywhere("time.faster", ")", "Twice as fast, up to 256x; then as fast as possible"),
    everywhere(
        "time.goto",
        "t",
        "Go to a time (12:04), a distance (-3m), an event (#18207) or a condition (when urp>5)",
        "goto",
    ),
    everywhere("time.live", "L", "Go to the end, and follow it", "live"),
]

_TRY = [
    everywhere("try.break", "f2", "Break a broker: its faults, with their effects", writes=True),
    everywhere("try.lose", "f3", "Lose a record: statements that do it, to be given", writes=True),
    everywhere("try.why", "f4", "Why is the worst partition as it is? Its event, with the causes"),
]

_DEEPER = [
    everywhere("lost", "X", "List all lost records, and where they went"),
    everywhere("clients", "C", "List connected clients: their requests, errors and lag"),
    everywhere(
        "groups",
        "O",
        "List groups: offsets, members, who waits for whom, and records of share groups in flight",
    ),
    everywhere(
        "diagram",
        "D",
        "Draw the selected event in space and time: what led to it, and what it led to",
        "diagram",
    ),
]

_MARK = [
    everywhere("mark.set", "b", "Set or edit the bookmark here, with an optional note"),
    everywhere("mark.list", "B", "List the bookmarks; enter goes to one"),
    everywhere("mark.a", "a", "Set A here, the start of a comparison"),
    everywhere("mark.difference", "d", "Show what differs between A and here", "diff", shown="a d"),
    *on(("bookmarks",), "remove", "delete", "Remove the selected bookmark", "remove"),
]

_FIND = [
    everywhere("find.next", "n", "Go to the next line that matches what was typed after /"),
    everywhere("find.previous", "N", "Go to the previous line that matches"),
]

_ACT = [
    everywhere(
        "act.command",
        ":",
        "Enter a statement of the command language",
        "command",
        writes=True,
    ),
    everywhere(
        "app.palette",
        "ctrl+p",
        "Find anything by name: actions, partitions, znodes, settings, events",
        kraft="Find anything by name: actions, partitions, controllers, settings, events",
    ),
    everywhere("app.export", "e", "Write this view to a file: CSV, JSON, or a picture", "export"),
    everywhere("app.theme", "T", "Switch to the next colour theme"),
    everywhere("app.help", "?", "Show this help", "help"),
    everywhere("app.quit", "ctrl+q", "Quit"),
    everywhere("app.suspend", "ctrl+z", "Suspend the console; fg resumes it"),
    everywhere("app.interrupt", "ctrl+c", "Quit, if pressed twice"),
]

_PROMPT = [
    Action(
        "prompt.accept",
        "prompt.accept",
        ("enter",),
        (PROMPT,),
        "Accept what was typed",
        "prompt",
        "accept",
    ),
    Action(
        "prompt.cancel",
        "prompt.cancel",
        ("escape",),
        (PROMPT,),
        "Cancel",
        "prompt",
        "cancel",
    ),
    Action(
        "prompt.older",
        "prompt.older",
        ("up",),
        (PROMPT,),
        "The previous statement in the history",
        "prompt",
        "history",
    ),
    Action(
        "prompt.newer",
        "prompt.newer",
        ("down",),
        (PROMPT,),
        "The next statement in the history",
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
        *_MARK,
        *_TRY,
        *_DEEPER,
        *_FIND,
        *_ACT,
        *TABLE,
        *DRILL,
        *TAPES,
        *LOG,
        *COPY,
        *LAB,
        *_PROMPT,
    )
}
"""Every action by its id, in the order of help and docs."""

FOOTER: Final = (
    "drill",
    "inflict",
    "inflict.mark",
    "inflict.compare",
    "session.verify",
    "session.export",
    "session.analyse",
    "lab.compare",
    "lab.version",
    "lab.explore",
    "lab.object",
    "explore.run",
    "explore.matrix",
    "explore.cancel",
    "filter.open",
    "faults",
    "time.pause",
    "time.back",
    "time.previous_touch",
    "act.command",
    "act.fault",
    "go.verdict",
    "time.goto",
    "cursor.here",
    "sort.menu",
    "why",
    "diagram",
    "time.live",
    "pane.next",
    "time.slower",
    "time.previous_alert",
    "time.previous_mark",
    "mark.difference",
    "remove",
    "wide",
    "app.export",
    "go.back",
    "app.help",
)
"""The verbs that the footer shows; the last ones are dropped if there is no room."""

GROUPS: Final = {
    "go": "Screens",
    "move": "Move",
    "pane": "Panes",
    "time": "Time",
    "mark": "Mark",
    "remove": "Mark",
    "act": "Act",
    "inflict": "Act",
    "lab": "Lab",
    "explore": "Lab",
    "session": "Sessions",
    "source": "Screens",
    "filter": "Find",
    "find": "Find",
    "pin": "Find",
    "faults": "Find",
    "wide": "Find",
    "sort": "Sort",
    "drill": "Open",
    "why": "Open",
    "diagram": "Open",
    "try": "First steps",
    "lost": "Open",
    "clients": "Open",
    "groups": "Open",
    "cursor": "Time",
    "copy": "Copy",
    "app": "Program",
    "prompt": "Input line",
}
"""The heading under which help shows each group."""
