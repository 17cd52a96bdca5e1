"""The actions of the Lab, of recordings, and of runs side by side. A part of the registry."""

from typing import Final

from console.actions.action import Action, actions

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

GO: Final = actions("""\
anywhere | go.sessions | 6 | - | Sessions: what did we record?
anywhere | go.lab | 7 | - | Lab: what if?
anywhere | go.compare | 8 | - | Side by side, if two releases are open: where do they differ?
""")

ACT: Final = [
    *actions("""\
anywhere | act.fault | x | fault | Break the selected object, or repair it; each fault with its
    predicted effect
    : writes
    : previews
"""),
    Action(
        "act.rehearse",
        "act.rehearse",
        ("R",),
        WITHOUT_R,
        "Rehearse the loss of each broker and rack on a copy of the cluster that is attached to",
        "act",
    ),
    *actions("""\
anywhere | act.save | S | - | Save the statements given here as a script
    : files
anywhere | source.brief | i | - | Describe the open scenario: what to watch and to predict
anywhere | source.switch | A | - | Switch to another of the clusters that are attached to
anywhere | source.close | Q | - | Close the source opened last, and return to the one below
"""),
]

SCREEN: Final = actions("""\
sessions | drill | enter | open | Open the recording; Q comes back
sessions | session.verify | v | verify | Run the recording again and compare
sessions | session.export | E | dataset | Add the recording to a dataset
    : files
sessions | session.analyse | R | analyse | Analyse a dataset with Spark
    : files
sessions | session.refresh | r | - | Read the folder again
lab | drill | enter | open | Open the scenario, list what the fault would change, or edit the
    statement again
lab | lab.compare | c | compare | Open the scenario on two releases, side by side
lab | lab.version | v | release | Choose the release that scenarios open on
lab | lab.explore | E | explore | Explore: does any order of events break what Kafka promises?
explore | drill | enter | choose | Choose the setting's value, or open the counterexample
explore | explore.run | R | run | Explore the release in the background
explore | explore.matrix | M | releases | Explore all releases, one by one
explore | explore.cancel | c | cancel | Cancel the search
lab | lab.object | o | object | Choose the object of the faults
faults | drill | enter | partitions | List the partitions that the fault would change; among them,
    open one
lab faults | inflict | I | inflict | Inflict the selected fault; a harmful one asks for its object's
    name first
    : writes
faults | inflict.mark | m | mark | Mark the fault: marked faults are predicted and inflicted
    together
faults | inflict.compare | c | compare | Compare the fault: unclean election on and off, min ISR 1
    and 2, acks, another release
compare | drill | enter | event | Open the first run's event
sessions lab faults explore | filter.open | / | filter | Show only lines that have all the words
""")

READ: Final = ("sessions", "lab", "faults", "compare", "explore")
"""Screens with something to copy."""

COPY: Final = actions(
    """\
READ | copy.cell | y | - | Copy the name, path or statement
READ | copy.row | Y | - | Copy the line's text
""",
    READ=READ,
)

LAB: Final = [*ACT, *SCREEN, *COPY]
"""All actions but those that show a screen."""
