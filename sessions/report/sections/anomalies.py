"""What clients saw and should not have."""

from typing import Final

from sessions.analysis.results.reading import DOWN, UP
from sessions.analysis.results.truth import ANOMALIES, ANOMALY_COUNTS
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, Section, section
from sessions.report.tables import At, TableColumns, table

COUNTS: Final = TableColumns(
    ANOMALY_COUNTS,
    "Anomalies by release, over all sessions",
    {
        "release": "version",
        "mode": "mode",
        "anomaly": "name",
        "sessions": "sessions",
        "sessions with it": "sessions_with",
        "records": "times",
        "first case": At("example_session", "example_seq"),
    },
)
SEEN: Final = TableColumns(
    ANOMALIES,
    "Anomalies one by one",
    {
        "session": "session",
        "partition": "tp",
        "anomaly": At("name", "seq"),
        "record": "record",
        "offset": "offset",
        "other record": "other_record",
        "other offset": "other_offset",
        "client": "client",
    },
)


def anomalies(material: Material) -> Element:
    """Anomalies that clients observed, by Jepsen's names."""
    import pyarrow.compute as pc

    happened = pc.field("times") > 0
    order = (("times", DOWN), ("name", UP), ("version", UP), ("mode", UP))
    counts = material.results.top(ANOMALY_COUNTS, order, ROWS_MAX, happened)
    earliest = (("name", UP), ("session", UP), ("seq", UP))
    rows = material.results.top(ANOMALIES, earliest, ROWS_MAX)
    return section(
        "anomalies",
        "Anomalies",
        "What clients saw and should not have, by Jepsen's names.",
        table(COUNTS, counts, material.results.count(ANOMALY_COUNTS, happened)),
        table(SEEN, rows, material.results.count(ANOMALIES)),
    )


SECTION: Final = Section(anomalies, (ANOMALIES, ANOMALY_COUNTS), place=70)
