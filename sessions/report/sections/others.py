"""The other questions: anomalies, leaders, controllers, and whether the replay agrees."""

from typing import Final

from sessions.analysis.results.cluster import CONTROLLER_WORK, LEADER_BALANCE
from sessions.analysis.results.reading import DOWN, UP
from sessions.analysis.results.truth import ANOMALIES, ANOMALY_COUNTS, REPLAY
from sessions.report.markup import Element, element
from sessions.report.parts import ROWS_MAX, Material, section
from sessions.report.tables import Shown, table

COUNTS: Final = Shown(
    ANOMALY_COUNTS,
    {
        "version": "version",
        "anomaly": "name",
        "sessions": "sessions",
        "with it": "sessions_with",
        "records": "times",
        "first in": "example_session",
        "at": "example_seq",
    },
)
SEEN: Final = Shown(
    ANOMALIES,
    {
        "session": "session",
        "partition": "tp",
        "anomaly": "name",
        "record": "record",
        "offset": "offset",
        "other record": "other_record",
        "other offset": "other_offset",
        "client": "client",
        "seen at": "seq",
    },
)
BALANCE: Final = Shown(
    LEADER_BALANCE,
    {
        "session": "session",
        "broker": "broker",
        "led, mean": "led_mean",
        "at most": "led_max",
        "from": "led_max_seq",
        "at the end": "led_at_end",
        "preferred": "preferred_at_end",
        "strayed": "strayed_at_end",
        "imbalance": "imbalance_percent",
        "gained": "gained",
        "lost": "lost",
    },
)
WORK: Final = Shown(
    CONTROLLER_WORK,
    {
        "session": "session",
        "controller": "broker",
        "epoch": "epoch",
        "elected at": "from_seq",
        "failover": "failover_us",
        "steps": "steps",
        "elections": "elections",
        "failed": "elections_failed",
        "unclean": "unclean",
        "LeaderAndIsr": "leader_and_isr",
        "UpdateMetadata": "update_metadata",
        "StopReplica": "stop_replica",
        "unanswered": "unanswered",
    },
)
REPLAYED: Final = Shown(
    REPLAY,
    {
        "session": "session",
        "equal": "equal",
        "differences": "differences",
        "events": "events",
        "partitions": "partitions",
        "replicas": "replicas",
        "znodes": "znodes",
    },
)


def anomalies(of: Material) -> Element:
    """What clients saw and should not have, by Jepsen's names."""
    import pyarrow.compute as pc

    happened = pc.field("times") > 0
    order = (("times", DOWN), ("name", UP), ("version", UP))
    counts = of.results.top(ANOMALY_COUNTS, order, ROWS_MAX, happened)
    order = (("name", UP), ("session", UP), ("seq", UP))
    seen = of.results.top(ANOMALIES, order, ROWS_MAX)
    return section(
        "anomalies",
        "Anomalies",
        "What clients saw and should not have, by Jepsen's names; then each, first by name.",
        table(COUNTS, counts, of.origins, of.results.count(ANOMALY_COUNTS, happened)),
        table(SEEN, seen, of.origins, of.results.count(ANOMALIES)),
    )


def leaders(of: Material) -> Element:
    """Brokers with more or less than their share of leading, and controllers' work."""
    order = (("imbalance_percent", DOWN), ("led_mean", DOWN), ("session", UP), ("broker", UP))
    balance = of.results.top(LEADER_BALANCE, order, ROWS_MAX)
    busiest = (("steps", DOWN), ("session", UP), ("epoch", UP))
    work = of.results.top(CONTROLLER_WORK, busiest, ROWS_MAX)
    return section(
        "leaders",
        "Leaders and controllers",
        "Brokers by how far they strayed from what they should lead; controllers by their work.",
        table(BALANCE, balance, of.origins, of.results.count(LEADER_BALANCE)),
        element("h3", "Controllers"),
        table(WORK, work, of.origins, of.results.count(CONTROLLER_WORK)),
    )


def replay(of: Material) -> Element:
    """Whether the state that Spark builds from events alone is the recorded one."""
    import pyarrow.compute as pc

    order = (("differences", DOWN), ("session", UP))
    rows = of.results.top(REPLAY, order, ROWS_MAX)
    equal = of.results.count(REPLAY, pc.field("equal"))
    count = of.results.count(REPLAY)
    return section(
        "replay",
        "Replay",
        f"The final state was built again from the events alone, and is the recorded one in "
        f"{equal:,} of {count:,} sessions.",
        table(REPLAYED, rows, of.origins, count),
    )
