"""What the controllers did."""

from typing import Final

from sessions.analysis.results.cluster import CONTROLLER_WORK
from sessions.analysis.results.reading import DOWN, UP
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, Section, section
from sessions.report.tables import At, TableColumns, table

WORK: Final = TableColumns(
    CONTROLLER_WORK,
    "Controllers, the busiest first",
    {
        "session": "session",
        "controller": "broker",
        "epoch": "epoch",
        "elected": At("from_us", "from_seq"),
        "failover": "failover_us",
        "steps": "steps",
        "elections": "elections",
        "failed": "elections_failed",
        "unclean": "unclean",
        "LeaderAndIsr": "leader_and_isr",
        "UpdateMetadata": "update_metadata",
        "StopReplica": "stop_replica",
        "without a response": "unanswered",
    },
    "from_us",
    "to_us",
)


def controllers(material: Material) -> Element:
    """The work of each controller while it was active."""
    order = (("steps", DOWN), ("session", UP), ("epoch", UP))
    rows = material.results.top(CONTROLLER_WORK, order, ROWS_MAX)
    return section(
        "controllers",
        "Controllers",
        "What each controller did while it was active: elections, and the requests that it sent.",
        table(WORK, rows, material.results.count(CONTROLLER_WORK)),
    )


SECTION: Final = Section(controllers, (CONTROLLER_WORK,), place=90)
