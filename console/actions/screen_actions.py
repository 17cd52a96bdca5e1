"""The actions of single screens: tables, logs, drill-downs, copying. A part of the registry."""

from typing import Final

from console.actions.action import actions

TABLES: Final = ("partitions", "brokers", "broker", "clients", "groups")
"""Screens with a sortable table."""

TABLE: Final = actions(
    """\
TABLES | filter.open | / | filter | Show only rows that match: words, re:pattern, or isr<min and not
    (lag>10 or leader=1,2)
TABLES | pin | p | - | Pin the row above the others, or unpin it
TABLES | sort.menu | s | sort | Choose the column to sort by
TABLES | sort.previous | shift+left | - | Sort by the column to the left
TABLES | sort.next | shift+right | - | Sort by the column to the right
TABLES | sort.reverse | r | - | Reverse the order
TABLES | faults | f | faults | Show only what is not healthy, or all
TABLES | wide | w | wide | Show all columns, or as many as fit
TABLES | copy.cell | y | - | Copy the cell in the sorted column
TABLES | copy.row | Y | - | Copy the row as JSON
""",
    TABLES=TABLES,
)

DRILL: Final = actions("""\
overview | drill | enter | open | Open what the line is about: partitions in that state, a topic, an
    event
partitions | drill | enter | drill | Open the partition: its tapes, replicas and events
partition | drill | enter | open | Open the record on the tape, or the selected event
brokers | drill | enter | drill | Open the broker: its replicas, session, links and events
broker | drill | enter | open | Open the partition, or the selected event
znodes | drill | enter | open | Open the znode: its versions and watchers; in its history, go to
    that event
metadata | drill | enter | open | Open the broker or partition, or the branch; in the history, go to
    that event
znode | drill | enter | go there | Move the time cursor to the version
events event | drill | enter | open | Open the event with its causes and effects, or what a field
    names
lost | drill | enter | open | Open the record: its copies, and what happened to it
clients | drill | enter | broker | Open the broker that the client is connected to, or the selected
    event
groups | drill | enter | open | Open the partition, or the selected event
diagram | drill | enter | open | Unfold the line, or open the event
record | drill | enter | open | Open the write of the copy, or the event
bookmarks | drill | enter | go there | Move the time cursor to the bookmark
difference | drill | enter | open | Open the object that differs
analysis | drill | enter | open | Open the recording at the event of the row
notice | drill | enter | event | Open the event that it is about
menu | drill | enter | choose | Choose this line
partitions | why | W | why | Why: open the event behind the cell in the sorted column
partition | why | W | why | Why: open the event behind the state, or the record's write
overview brokers broker clients groups znodes znode metadata events event record | why | W | why |
    Why: open the event behind what is selected, with its causes
""")

TAPES: Final = actions("""\
partition | wide | w | values | Show the values of records, or their epochs
""")

LOGS: Final = ("overview", "events", "partition")
"""Screens with a log and no table."""

LOG: Final = actions(
    """\
LOGS | filter.open | / | filter | Show only events that match: text, re:.., !not
LOGS | faults | f | changes | Show only changes and faults, or every event
znodes znode metadata event diagram lost record bookmarks difference analysis | filter.open | / |
    filter | Show only lines that match: text, re:.., !not
difference | faults | f | changes | Hide values that change all the time, such as LEOs, or show them
page notice | filter.open | / | search | Go to a line: text, re:.., !not
diagram | faults | f | all | Show everything that happened, or only what belongs to the event
events event diagram | cursor.here | o | go there | Move the time cursor to the selected event
""",
    LOGS=LOGS,
)

READ: Final = (
    "overview",
    "partition",
    "znodes",
    "znode",
    "metadata",
    "events",
    "event",
    "diagram",
    "lost",
    "record",
    "bookmarks",
    "difference",
    "analysis",
    "page",
    "notice",
)
"""Screens without a table that have something to copy."""

COPY: Final = actions(
    """\
READ | copy.cell | y | - | Copy what the line says; for text, all of it
READ | copy.row | Y | - | Copy as JSON; for text, the command line that returns to this moment
""",
    READ=READ,
)
