"""How leading was shared out among the brokers."""

from typing import Final

from sessions.analysis.results.cluster import LEADER_BALANCE
from sessions.analysis.results.reading import DOWN, UP
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, Section, section
from sessions.report.tables import At, TableColumns, table

BALANCE: Final = TableColumns(
    LEADER_BALANCE,
    "Brokers, the furthest from their share first",
    {
        "session": "session",
        "broker": "broker",
        "led, mean": "led_mean",
        "led, at most": At("led_max", "led_max_seq"),
        "led at the end": "led_at_end",
        "preferred leader of": "preferred_at_end",
        "of these led by others": "strayed_at_end",
        "imbalance": "imbalance_percent",
        "gained": "gained",
        "lost": "lost",
    },
)


def leaders(material: Material) -> Element:
    """Brokers with more or less than their share of leading."""
    order = (("imbalance_percent", DOWN), ("led_mean", DOWN), ("session", UP), ("broker", UP))
    rows = material.results.top(LEADER_BALANCE, order, ROWS_MAX)
    return section(
        "leaders",
        "Leader balance",
        "How many partitions each broker led, and how many of those whose preferred leader it is "
        "were led by others at the session's end.",
        table(BALANCE, rows, material.results.count(LEADER_BALANCE)),
    )


SECTION: Final = Section(leaders, (LEADER_BALANCE,), place=80)
