"""Searches of the explorer that tests look at: each is run once in a process."""

from functools import cache
from typing import Final

import pytest

from emulator.explorer.bounds import Bounds, properties_for
from emulator.explorer.partition_model import partition_model
from emulator.explorer.search import Result, Search

TOGETHER: Final = pytest.mark.xdist_group("explorer")
"""Marks modules that look at the same searches, so that one worker has them."""


@cache
def searched(bounds: Bounds, *properties: str) -> Result:
    """Search for violations of some properties, or of all that Kafka promises."""
    return Search(partition_model(bounds), properties or properties_for(bounds)).run()
