"""The names of the jobs, available without importing Spark."""

from typing import Final

MODULES: Final = {
    "availability": "sessions.analysis.availability",
    "failover": "sessions.analysis.failover",
    "latency": "sessions.analysis.latency",
    "isr": "sessions.analysis.isr_churn",
    "durability": "sessions.analysis.durability",
    "leaders": "sessions.analysis.leader_balance",
    "controller": "sessions.analysis.controller_work",
    "quorum": "sessions.analysis.quorum",
    "anomalies": "sessions.analysis.anomalies",
    "replay": "sessions.analysis.replay",
}
"""The module of each job, in the order in which they run and are documented."""
NAMES: Final = tuple(MODULES)
