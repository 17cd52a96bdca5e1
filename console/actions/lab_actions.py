"""The actions of the Lab, of recordings, and of runs side by side. A part of the registry."""

from typing import Final

from console.actions.action import everywhere, on

GO: Final = [
    everywhere("go.sessions", "6", "Sessions: what has been recorded?"),
    everywhere("go.lab", "7", "Lab: what if?"),
    everywhere("go.compare", "8", "Side by side, if two releases are open: where do they differ?"),
]

ACT: Final = [
    everywhere(
        "act.fault",
        "x",
        "Break the selected object, or repair it; each fault with its predicted effect",
        "fault",
        writes=True,
    ),
    everywhere("act.save", "S", "Save your actions as a script that repeats them", files=True),
    everywhere("source.brief", "i", "Explain the open scenario, and what to watch"),
    everywhere("source.close", "Q", "Close the recording or scenario opened last, and return"),
]

SCREEN: Final = [
    *on(("sessions",), "drill", "enter", "Open the recording; Q returns", "open"),
    *on(("sessions",), "session.verify", "v", "Run the recording again and compare", "verify"),
    *on(
        ("sessions",),
        "session.export",
        "E",
        "Add the recording to a dataset",
        "dataset",
        files=True,
    ),
    *on(
        ("sessions",),
        "session.analyse",
        "R",
        "Analyse a dataset with Spark",
        "analyse",
        files=True,
    ),
    *on(("sessions",), "session.refresh", "r", "Read the folder again"),
    *on(
        ("lab",),
        "drill",
        "enter",
        "Open the scenario, apply the fault, or edit the statement again",
        "open",
    ),
    *on(("lab",), "lab.compare", "c", "Open the scenario on two releases, side by side", "compare"),
    *on(("lab",), "lab.version", "v", "Choose the release that scenarios open on", "release"),
    *on(
        ("lab",),
        "lab.explore",
        "E",
        "Explore: does any order of events break a guarantee of Kafka?",
        "explore",
    ),
    *on(
        ("explore",),
        "drill",
        "enter",
        "Choose a value for the setting, or open the counterexample",
        "choose",
    ),
    *on(("explore",), "explore.run", "R", "Explore the release in the background", "run"),
    *on(("explore",), "explore.matrix", "M", "Explore all releases, one by one", "releases"),
    *on(("explore",), "explore.cancel", "c", "End the search", "cancel"),
    *on(("lab",), "lab.object", "o", "Choose the object of the faults", "object"),
    *on(
        ("faults",),
        "inflict",
        "enter",
        "Apply it; a harmful fault asks for a name first. Among the partitions: open one",
        "do it",
        writes=True,
    ),
    *on(
        ("faults",),
        "inflict.mark",
        "m",
        "Mark it: marked faults are predicted and applied together, in this order",
        "mark",
    ),
    *on(("compare",), "drill", "enter", "Open the first run's event", "event"),
    *on(
        ("sessions", "lab", "faults", "explore"),
        "filter.open",
        "/",
        "Show only lines that contain all the words",
        "filter",
    ),
]

READ: Final = ("sessions", "lab", "faults", "compare", "explore")
"""Screens from which one can copy."""

COPY: Final = [
    *on(READ, "copy.cell", "y", "Copy the name, path or statement"),
    *on(READ, "copy.row", "Y", "Copy the line's text"),
]

LAB: Final = [*ACT, *SCREEN, *COPY]
"""All but the keys of the screens themselves."""
