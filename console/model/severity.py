"""How severe each state of a partition is: its place in the read model's table of states."""

from typing import Final

from sessions.model.health import STATUSES

RANKS: Final = {status: rank for rank, status in enumerate(STATUSES)}
"""Severity by status, 0 the worst."""
HEALTHY: Final = len(STATUSES) - 1
"""The rank from which on nothing is wrong."""
