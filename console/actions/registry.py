"""Every action of the console, declared once: its id, its keys, where they work, and its help.

An action's ``verb`` names the method that runs it (``time.pause`` is ``action_time_pause``). The
application looks for that method from the focused pane outwards, so a letter means the same thing
everywhere, and each pane does it in its own way.
Nothing else lists keys; :mod:`console.actions.lookup` reads this list for all who need it.
"""

from typing import Final

from console.actions.action import ANYWHERE, PROMPT, Action, actions
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
    *actions("""\
anywhere | go.overview | 1 | - | Overview: is it healthy, since when?
anywhere | go.partitions | 2 | - | Partitions: which ones, and how bad?
anywhere | go.brokers | 3 | - | Brokers: who is to blame?
anywhere | go.znodes | 4 | - | Znodes: what does ZooKeeper say? In KRaft, the metadata log
    : kraft Metadata: what does the metadata log say, and who has read it?
anywhere | go.events | 5 | - | Events: what happened, and why?
"""),
    *GO,
    *actions("""\
anywhere | go.verdict | ! | headline | Show what the headline is about: partitions, brokers, or the
    lost records
anywhere | go.back | escape | back | Back to the previous screen; clears a filter first
anywhere | go.last | - | - | Toggle between this screen and the last one
"""),
]

_MOVE = actions("""\
anywhere | move.up | up k | - | Up one line
anywhere | move.down | down j | - | Down one line
anywhere | move.left | left h | - | Left; close a branch; older offsets
anywhere | move.right | right l | - | Right; open a branch; newer offsets
anywhere | move.page_up | pageup ctrl+u | - | Up one page
anywhere | move.page_down | pagedown ctrl+d | - | Down one page
anywhere | move.first | g home | - | Go to the first line; in a table, stay there
anywhere | move.last | G end | - | Go to the last line; in a log, follow it
anywhere | pane.next | tab | pane | Focus the next pane
anywhere | pane.previous | shift+tab | - | Focus the previous pane
anywhere | pane.jump | ctrl+o | - | Jump to a pane, a tab or a line by its letter
anywhere | pane.zoom | z | - | Zoom this pane to the whole screen, or back
""")

_TIME = actions("""\
anywhere | time.pause | space | pause | Pause or continue
anywhere | time.back | , | step | One event back
    : shown , .
anywhere | time.forward | . | - | One event forward
anywhere | time.previous_statement | K | - | One statement back
anywhere | time.next_statement | J | - | One statement forward, to the end of its effects
anywhere | time.previous_touch | < | touch | Go to the previous event that touches the selected
    object
    : shown < >
anywhere | time.next_touch | > | - | Go to the next event that touches the selected object
anywhere | time.previous_mark | [ | mark | Go to the previous bookmark
    : shown [ ]
anywhere | time.next_mark | ] | - | Go to the next bookmark
anywhere | time.previous_alert | { | alert | Go to the previous change of the alert
    : shown { }
anywhere | time.next_alert | } | - | Go to the next change of the alert
anywhere | time.slower | ( | speed | Half as fast, down to 1/16x
    : shown ( )
anywhere | time.faster | ) | - | Twice as fast, up to 256x; then as fast as possible
anywhere | time.goto | t | goto | Go to a time (12:04), a distance (-3m), an event (#18207) or a
    condition (when urp>5)
anywhere | time.live | L | live | Go to the end, and follow it
""")

_TRY = actions("""\
anywhere | try.break | f2 | - | Break a broker: its faults, with their effects
    : writes
anywhere | try.lose | f3 | - | Lose a record: statements that do it, to be given
    : writes
anywhere | try.why | f4 | - | Why is the worst partition as it is? Its event, with the causes
""")

_DEEPER = actions("""\
anywhere | lost | X | - | List all lost records, and where they went
anywhere | clients | C | - | List connected clients: their requests, errors and lag
anywhere | groups | O | - | List groups: offsets, members, who waits for whom, and records of share
    groups in flight
anywhere | diagram | D | diagram | Draw the selected event in space and time: what led to it, and
    what it led to
""")

_MARK = actions("""\
anywhere | mark.set | b | - | Set or edit the bookmark here, with an optional note
anywhere | mark.list | B | - | List the bookmarks; enter goes to one
anywhere | mark.a | a | - | Set A here, the start of a comparison
anywhere | mark.difference | d | diff | Show what differs between A and here
    : shown a d
bookmarks | remove | delete | remove | Remove the selected bookmark
""")

_FIND = actions("""\
anywhere | find.next | n | - | Go to the next line that matches what was typed after /
anywhere | find.previous | N | - | Go to the previous line that matches
""")

_ACT = actions("""\
anywhere | act.command | : | command | Enter a statement of the command language
    : writes
anywhere | app.palette | ctrl+p | - | Find anything by name: actions, partitions, znodes, settings,
    events
    : kraft Find anything by name: actions, partitions, controllers, settings, events
anywhere | app.export | e | export | Write this view to a file: CSV, JSON, or a picture
anywhere | app.theme | T | - | Switch to the next colour theme
anywhere | app.help | ? | help | Show this help
anywhere | app.quit | ctrl+q | - | Quit
anywhere | app.suspend | ctrl+z | - | Suspend the console; fg resumes it
anywhere | app.interrupt | ctrl+c | - | Quit, if pressed twice
""")

_PROMPT = actions("""\
prompt | prompt.accept | enter | accept | Accept what was typed
prompt | prompt.cancel | escape | cancel | Cancel
prompt | prompt.older | up | history | The previous statement in the history
prompt | prompt.newer | down | - | The next statement in the history
prompt | prompt.complete | tab | complete | Complete the word
""")

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
