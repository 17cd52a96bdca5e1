"""The releases by how a follower truncates."""

from emulator.releases.profiles import VERSIONS


def since(first: str, last: str = VERSIONS[-1]) -> list[str]:
    """The releases from one to another, both counted."""
    return list(VERSIONS[VERSIONS.index(first) : VERSIONS.index(last) + 1])


BY_HIGH_WATERMARK = since("0.8.1", "0.10.2")
"""A follower truncates to its HW."""
BY_OFFSET = since("0.11", "1.1")
"""KIP-101: it asks where its latest epoch ends, and is told an offset."""
BY_EPOCH = since("2.0.0")
"""KIP-279: it is told an epoch and an offset."""
WITH_EPOCHS = since("0.11")
ON_FETCH = since("2.8")
"""The fetch itself says where logs diverge."""
READ_FIRST = since("0.8.2")
"""The leader reads before it records a fetch: a response with data carries the old HW."""
ASSIGNED_AT_ELECTION = since("2.0.1")
"""A leader enters its epoch in its cache when it is elected."""
