"""The names of the jobs, which are known without Spark."""

from typing import Final

NAMES: Final = (
    *("availability", "failover", "latency", "isr", "durability", "leaders", "controller"),
    *("quorum", "anomalies", "replay"),
)
"""In the order in which the jobs run and are documented."""
