"""The actions of the Lab, of recordings, and of runs side by side. A part of the registry."""

from typing import Final

from console.actions.action import Action, everywhere, on

WITHOUT_R: Final = (
    "overview",
    "partitions",
    "partition",
    "brokers",
    "broker",
    "znodes",
    "metadata",
    "events",
    "groups",
    "lab",
    "faults",
)
"""Screens from which a cluster is rehearsed; on others R does something else, or the cluster is not
what they show."""

GO: Final = [
    everywhere("go.sessions", "6", "Sessions: what did we record?"),
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
        previews=True,
    ),
    Action(
        "act.rehearse",
        "act.rehearse",
        ("R",),
        WITHOUT_R,
        "Rehearse the loss of each broker and rack on a copy of the cluster that is attached to",
        "act",
    ),
    everywhere("act.save", "S", "Save the statements given here as a script", files=True),
    everywhere("source.brief", "i", "Describe the open scenario: what to watch and to predict"),
    everywhere("source.switch", "A", "Switch to another of the clusters that are attached to"),
    everywhere("source.close", "Q", "Close the source opened last, and return to the one below"),
]

SCREEN: Final = [
    *on(("sessions",), "drill", "enter", "Open the recording; Q comes back", "open"),
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
        "Open the scenario, list what the fault would change, or edit the statement again",
        "open",
    ),
    *on(("lab",), "lab.compare", "c", "Open the scenario on two releases, side by side", "compare"),
    *on(("lab",), "lab.version", "v", "Choose the release that scenarios open on", "release"),
    *on(
        ("lab",),
        "lab.explore",
        "E",
        "Explore: does any order of events break what Kafka promises?",
        "explore",
    ),
    *on(
        ("explore",),
        "drill",
        "enter",
        "Choose the setting's value, or open the counterexample",
        "choose",
    ),
    *on(("explore",), "explore.run", "R", "Explore the release in the background", "run"),
    *on(("explore",), "explore.matrix", "M", "Explore all releases, one by one", "releases"),
    *on(("explore",), "explore.cancel", "c", "Cancel the search", "cancel"),
    *on(("lab",), "lab.object", "o", "Choose the object of the faults", "object"),
    *on(
        ("faults",),
        "drill",
        "enter",
        "List the partitions that the fault would change; among them, open one",
        "partitions",
    ),
    *on(
        ("lab", "faults"),
        "inflict",
        "I",
        "Inflict the selected fault; a harmful one asks for its object's name first",
        "inflict",
        writes=True,
    ),
    *on(
        ("faults",),
        "inflict.mark",
        "m",
        "Mark the fault: marked faults are predicted and inflicted together",
        "mark",
    ),
    *on(
        ("faults",),
        "inflict.compare",
        "c",
        "Compare the fault: unclean election on and off, min ISR 1 and 2, acks, another release",
        "compare",
    ),
    *on(("compare",), "drill", "enter", "Open the first run's event", "event"),
    *on(
        ("sessions", "lab", "faults", "explore"),
        "filter.open",
        "/",
        "Show only lines that have all the words",
        "filter",
    ),
]

READ: Final = ("sessions", "lab", "faults", "compare", "explore")
"""Screens with something to copy."""

COPY: Final = [
    *on(READ, "copy.cell", "y", "Copy the name, path or statement"),
    *on(READ, "copy.row", "Y", "Copy the line's text"),
]

LAB: Final = [*ACT, *SCREEN, *COPY]
"""All actions but those that show a screen."""
