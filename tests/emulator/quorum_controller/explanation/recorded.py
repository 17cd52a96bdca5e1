"""Metadata logs of real clusters, 4 brokers and 1 or 3 controllers, through random faults.

A file is named after the release and the seed of its faults, of which there were 20 to 60: brokers
were killed, stopped, frozen and started again, with their disks or with new ones, and unregistered;
controllers were replaced; partitions were reassigned and leaders elected; topics were created,
grown, configured and deleted; features, quotas and credentials were changed.
"""

import gzip
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from emulator.quorum_controller.explanation.trace import Explainer, Explanation
from emulator.wire.metadata.batches import MetadataBatch, read_batches

FOLDER = Path(__file__).parent / "recordings"
NAMES = sorted(path.name.removesuffix(".log.gz") for path in FOLDER.glob("*.log.gz"))


def batches_of(name: str) -> list[MetadataBatch]:
    """The batches of a recording."""
    data = gzip.decompress((FOLDER / f"{name}.log.gz").read_bytes())
    return [batch for batch in read_batches(BytesIO(data).read) if isinstance(batch, MetadataBatch)]


def explained(batches: Iterable[MetadataBatch], release: str | None = None) -> list[Explanation]:
    """The explanations of a log."""
    explainer = Explainer(release)
    found = [explanation for batch in batches for explanation in explainer.feed(batch)]
    return [*found, *explainer.end()]


def unexplained(batches: Iterable[MetadataBatch], release: str | None = None) -> list[Explanation]:
    """What no rule explains."""
    return [each for each in explained(batches, release) if not each.is_explained]
