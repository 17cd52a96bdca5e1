"""The leaders of KRaft's quorum, and the brokers that its controllers fenced."""

from typing import Final

from sessions.analysis.results.quorum import FENCINGS, QUORUM_TERMS
from sessions.analysis.results.reading import DOWN, UP
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, Section, section
from sessions.report.tables import At, TableColumns, table

TERMS: Final = TableColumns(
    QUORUM_TERMS,
    "Leaders of the quorum, those first before whom there was none for longest",
    {
        "session": "session",
        "controller": "controller",
        "epoch": "epoch",
        "elected": At("from_us", "from_seq"),
        "without a leader before": "without_us",
        "candidacies": "candidacies",
        "records": "records",
        "batches": "batches",
        "fencings": "fencings",
        "registrations": "registrations",
        "elections": "elections",
        "unclean": "unclean",
        "ELR changes": "eligible",
    },
    "from_us",
    "to_us",
)
FENCED: Final = TableColumns(
    FENCINGS,
    "Fenced brokers, those first that were fenced for longest",
    {
        "session": "session",
        "broker": "broker",
        "process": "process",
        "fault": At("fault_us", "fault_seq"),
        "noticed after": "noticed_us",
        "fenced": At("fenced_us", "fenced_seq"),
        "partitions changed": "partitions",
        "fenced for": "fenced_for_us",
    },
    "fenced_us",
    "unfenced_us",
)


def quorum(material: Material) -> Element:
    """Each leader's time, and each fencing."""
    by_time = (("session", UP), ("from_seq", UP))
    terms = material.results.top(QUORUM_TERMS, (("without_us", DOWN), *by_time), ROWS_MAX)
    order = (("fenced_for_us", DOWN), ("session", UP), ("fenced_seq", UP))
    fenced = material.results.top(FENCINGS, order, ROWS_MAX)
    return section(
        "quorum",
        "Quorum",
        "Clusters without ZooKeeper: who led the controllers' quorum, what was written to the "
        "metadata log meanwhile, and which brokers were fenced.",
        table(TERMS, terms, material.results.count(QUORUM_TERMS)),
        table(FENCED, fenced, material.results.count(FENCINGS)),
    )


SECTION: Final = Section(quorum, (QUORUM_TERMS, FENCINGS), place=100)
