"""Recordings of real clusters: what an operator can get of each, and what was really so.

``RECORDINGS/RELEASE/CASE/`` has what the tools printed, and ``state.json``, which was read from the
cluster's own znodes or metadata log and from the brokers' logs.
"""

import json
from pathlib import Path
from typing import Any

from emulator.cluster_image.image import ClusterImage

RECORDINGS = Path(__file__).parent / "recordings"
CASES = sorted(path for path in RECORDINGS.glob("*/*") if (path / "state.json").exists())
IDS = [f"{path.parent.name}-{path.name}" for path in CASES]


def state_of(case: Path) -> dict[str, Any]:
    """What was so."""
    state: dict[str, Any] = json.loads((case / "state.json").read_text())
    return state


def partitions_of(case: Path, *fields: str) -> dict[tuple[str, int], dict[str, Any]]:
    """Some fields of each partition as it was."""
    return {
        (each["topic"], each["partition"]): {name: each.get(name) for name in fields}
        for each in state_of(case)["partitions"]
    }


def imported(image: ClusterImage, *fields: str) -> dict[tuple[str, int], dict[str, Any]]:
    """The same fields of each partition of an image."""
    return {
        (topic.name, partition.partition): {
            name: list(value) if isinstance(value := getattr(partition, name), tuple) else value
            for name in fields
        }
        for topic in image.topics
        for partition in topic.partitions
    }
