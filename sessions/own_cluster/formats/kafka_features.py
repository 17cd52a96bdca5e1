"""What ``kafka-features describe`` prints: the finalized features, and what the brokers support.

::

    Feature: metadata.version  SupportedMinVersion: 3.3-IV3  SupportedMaxVersion: 4.1-IV1
        FinalizedVersionLevel: 4.1-IV1  Epoch: 97

each in one line. The newest supported ``metadata.version`` tells the release. Source:
``FeatureCommand`` of 3.3 to 4.1.
"""

import re
from typing import Final

from emulator.cluster_image.image import ClusterImage
from emulator.metadata_log.metadata_version import LEVELS, METADATA_VERSION, level_of
from sessions.own_cluster.content import Content
from sessions.own_cluster.reading import Authority, FormatError, Reading
from sessions.text import clean

NAME: Final = "kafka-features describe"

_LINE: Final = re.compile(
    r"Feature:\s*(\S+)\s+SupportedMinVersion:\s*\S+\s+SupportedMaxVersion:\s*(\S+)"
    r"\s+FinalizedVersionLevel:\s*(\S+)"
)


def recognizes(head: str) -> bool:
    """Whether a text has a line of this tool."""
    return any(_LINE.match(line) for line in head.splitlines())


def read(content: Content) -> Reading:
    """Return the features.

    Raises:
        FormatError: a level is of a release that is not known.
    """
    features: dict[str, int] = {}
    release = None
    for line in content.lines():
        match = _LINE.match(line)
        if match is None:
            continue
        name, highest, level = match.groups()
        if name == METADATA_VERSION:
            release = highest.split("-")[0] if highest in LEVELS else None
            if level not in LEVELS:
                raise FormatError(f"has the unknown metadata.version {clean(level[:40])!r}")
            features[name] = level_of(level)
        elif level.isdecimal() and int(level):
            features[name] = int(level)
    image = ClusterImage(release=release, mode="kraft", features=features)
    return Reading(content.name, NAME, Authority.TOOL, image)
