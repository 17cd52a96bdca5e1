"""Output of an import: what was read, contradicted and assumed."""

from collections.abc import Iterator
from typing import Any

from emulator.cluster_image.image import ClusterImage
from sessions.own_cluster.importing import Imported
from sessions.own_cluster.reading import Authority
from sessions.text import plural


def lines(imported: Imported, shown_max: int) -> Iterator[str]:
    """Yield lines that say where an image comes from; further contradictions are counted."""
    for reading in imported.readings:
        if reading.authority is Authority.HAND:
            continue  # the user has just typed it
        yield f"read {reading.source} ({reading.format}): {contents(reading.image)}"
        for note in reading.notes:
            yield f"note: {reading.source}: {note}"
    for contradiction in imported.contradictions[:shown_max]:
        yield f"contradiction: {contradiction}"
    more = len(imported.contradictions) - shown_max
    if more > 0:
        yield f"contradiction: {more:,} more, which --json lists"
    for assumption in imported.assumed:
        yield f"assumed: {assumption}"


def contents(image: ClusterImage) -> str:
    """Return what an image has, in words: ``5 brokers, 7 topics, 23 partitions``."""
    counts = (
        (len(image.brokers), "broker"),
        (len(image.quorum.controllers) if image.quorum else 0, "controller"),
        (len(image.topics), "topic"),
        (image.partition_count, "partition"),
        (len(image.groups), "group"),
    )
    return ", ".join(plural(count, noun) for count, noun in counts if count) or "nothing"


def as_plain(imported: Imported) -> dict[str, Any]:
    """Return what an import says as plain data, without the image."""
    image = imported.image
    return {
        "schema": 1,
        "release": image.release,
        "mode": image.mode,
        "brokers": len(image.brokers),
        "topics": len(image.topics),
        "partitions": image.partition_count,
        "groups": len(image.groups),
        "sources": [
            {"source": reading.source, "format": reading.format, "notes": list(reading.notes)}
            for reading in imported.readings
        ],
        "contradictions": [
            {
                "what": contradiction.what,
                "values": [
                    {"source": source, "value": value} for source, value in contradiction.values
                ],
            }
            for contradiction in imported.contradictions
        ],
        "assumed": [str(assumption) for assumption in imported.assumed],
    }
