"""The table of features: what changed between releases, and when.

Code asks a profile for features by name, never by version. Sources: the Apache Kafka trees from
0.8.0 to 4.4.0, and recorded runs of real brokers.
"""

from typing import Final

from emulator.releases.features.base import Feature
from emulator.releases.features.clients import CLIENTS
from emulator.releases.features.controller import CONTROLLER
from emulator.releases.features.kraft import KRAFT
from emulator.releases.features.replication import REPLICATION
from emulator.releases.features.znodes import ZNODES

__all__ = ["FEATURES", "Feature"]

FEATURES: Final = (*REPLICATION, *CONTROLLER, *CLIENTS, *ZNODES, *KRAFT)
"""All features that a profile can have."""
