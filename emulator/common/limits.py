"""The limits that inputs, brokers and controllers share."""

from typing import Final

BROKERS_MAX: Final = 1_000
CONTROLLERS_MAX: Final = 9
PARTITIONS_MAX: Final = 200_000
"""Maximum partitions of a topic, and of a request: as many as Kafka's largest clusters have."""
