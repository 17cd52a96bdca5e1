"""The limits that inputs, brokers and controllers share."""

from typing import Final

BROKERS_MAX: Final = 1_000
CONTROLLERS_MAX: Final = 9
PARTITIONS_MAX: Final = 200_000
"""Maximum partitions of a topic: as many as Kafka's largest clusters have."""
REQUEST_PARTITIONS_MAX: Final = 10_000
"""Maximum partitions that a client's request creates: KRaft's ``MAX_RECORDS_PER_BATCH``."""
CLUSTER_PARTITIONS_MAX: Final = 250_000
"""Maximum partitions that clients' requests create, with those that exist."""
AUTO_CREATED_MAX: Final = 1_000
"""Maximum topics that one Metadata request creates; a client that asks again gets the others."""
REQUEST_ITEMS_MAX: Final = 100_000
"""Maximum items of all lists in a request of a client, which become an object each."""
REQUEST_BYTES_MAX: Final = 100 << 20
"""Maximum bytes of a client's request: the default of ``socket.request.max.bytes``."""
BATCH_TEXT_MAX: Final = 64 << 20
"""Bytes of the keys and values of one batch as text: twice those of a scripted producer's."""
