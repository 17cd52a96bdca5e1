"""The actions of single screens: tables, logs, drill-downs, copying. A part of the registry."""

from typing import Final

from console.actions.action import on

TABLES: Final = ("partitions", "brokers", "broker", "clients", "groups")
"""Screens with a sortable table."""

TABLE: Final = [
    *on(
        TABLES,
        "filter.open",
        "/",
        "Show only rows that match: words, re:pattern, or isr<min and not (lag>10 or leader=1,2)",
        "filter",
    ),
    *on(TABLES, "pin", "p", "Pin the row above the others, or unpin it"),
    *on(TABLES, "sort.menu", "s", "Choose the column to sort by", "sort"),
    *on(TABLES, "sort.previous", "shift+left", "Sort by the column to the left"),
    *on(TABLES, "sort.next", "shift+right", "Sort by the column to the right"),
    *on(TABLES, "sort.reverse", "r", "Reverse the order"),
    *on(TABLES, "faults", "f", "Show only what is not healthy, or all", "faults"),
    *on(TABLES, "wide", "w", "Show all columns, or as many as fit", "wide"),
    *on(TABLES, "copy.cell", "y", "Copy the cell in the sorted column"),
    *on(TABLES, "copy.row", "Y", "Copy the row as JSON"),
]

DRILL: Final = [
    *on(
        ("overview",),
        "drill",
        "enter",
        "Open what the line is about: partitions in that state, a topic, an event",
        "open",
    ),
    *on(
        ("partitions",),
        "drill",
        "enter",
        "Open the partition: its tapes, replicas and events",
        "drill",
    ),
    *on(
        ("partition",),
        "drill",
        "enter",
        "Open the record on the tape, or the selected event",
        "open",
    ),
    *on(
        ("brokers",),
        "drill",
        "enter",
        "Open the broker: its replicas, session, links and events",
        "drill",
    ),
    *on(("broker",), "drill", "enter", "Open the partition, or the selected event", "open"),
    *on(
        ("znodes",),
        "drill",
        "enter",
        "Open the znode: its versions and watchers; in its history, go to that event",
        "open",
    ),
    *on(
        ("metadata",),
        "drill",
        "enter",
        "Open the broker or partition, or the branch; in the history, go to that event",
        "open",
    ),
    *on(("znode",), "drill", "enter", "Move the time cursor to the version", "go there"),
    *on(
        ("events", "event"),
        "drill",
        "enter",
        "Open the event with its causes and effects, or what a field names",
        "open",
    ),
    *on(
        ("lost",), "drill", "enter", "Open the record: its copies, and what happened to it", "open"
    ),
    *on(
        ("clients",),
        "drill",
        "enter",
        "Open the broker that the client is connected to, or the selected event",
        "broker",
    ),
    *on(("groups",), "drill", "enter", "Open the partition, or the selected event", "open"),
    *on(("diagram",), "drill", "enter", "Unfold the line, or open the event", "open"),
    *on(("record",), "drill", "enter", "Open the write of the copy, or the event", "open"),
    *on(("bookmarks",), "drill", "enter", "Move the time cursor to the bookmark", "go there"),
    *on(("difference",), "drill", "enter", "Open the object that differs", "open"),
    *on(("analysis",), "drill", "enter", "Open the recording at the event of the row", "open"),
    *on(("notice",), "drill", "enter", "Open the event that it is about", "event"),
    *on(("menu",), "drill", "enter", "Choose this line", "choose"),
    *on(
        ("partitions",),
        "why",
        "W",
        "Why: open the event behind the cell in the sorted column",
        "why",
    ),
    *on(
        ("partition",),
        "why",
        "W",
        "Why: open the event behind the state, or the record's write",
        "why",
    ),
    *on(
        (
            "overview",
            "brokers",
            "broker",
            "clients",
            "groups",
            "znodes",
            "znode",
            "metadata",
            "events",
            "event",
            "record",
        ),
        "why",
        "W",
        "Why: open the event behind what is selected, with its causes",
        "why",
    ),
]

TAPES: Final = on(
    ("partition",), "wide", "w", "Show the values of records, or their epochs", "values"
)

LOGS: Final = ("overview", "events", "partition")
"""Screens with a log and no table."""

LOG: Final = [
    *on(
        LOGS,
        "filter.open",
        "/",
        "Show only events that match: text, re:.., !not",
        "filter",
    ),
    *on(LOGS, "faults", "f", "Show only changes and faults, or every event", "changes"),
    *on(
        (
            *("znodes", "znode", "metadata", "event", "diagram", "lost", "record", "bookmarks"),
            *("difference", "analysis"),
        ),
        "filter.open",
        "/",
        "Show only lines that match: text, re:.., !not",
        "filter",
    ),
    *on(
        ("difference",),
        "faults",
        "f",
        "Hide values that change all the time, such as LEOs, or show them",
        "changes",
    ),
    *on(("page", "notice"), "filter.open", "/", "Go to a line: text, re:.., !not", "search"),
    *on(
        ("diagram",),
        "faults",
        "f",
        "Show everything that happened, or only what belongs to the event",
        "all",
    ),
    *on(
        ("events", "event", "diagram"),
        "cursor.here",
        "o",
        "Move the time cursor to the selected event",
        "go there",
    ),
]

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

COPY: Final = [
    *on(READ, "copy.cell", "y", "Copy what the line says; for text, all of it"),
    *on(
        READ,
        "copy.row",
        "Y",
        "Copy as JSON; for text, the command line that returns to this moment",
    ),
]
