"""The names of the jobs, available without importing Spark."""

from typing import Final

NAMES: Final = (
    *("availability", "failover", "latency", "isr", "durability", "leaders", "controller"),
    *("quorum", "anomalies", "replay"),
)
"""The names in the order in which the jobs run and are documented."""
