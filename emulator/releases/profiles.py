"""What each release does: rules ask a profile for features by name, never for version numbers."""

from typing import Final

from msgspec import Struct

from emulator.releases.features import FEATURES, Feature

__all__ = ["DEFAULT_VERSION", "FEATURES", "PROFILES", "VERSIONS", "Feature", "Profile"]

VERSIONS: Final = (
    "seed",
    "0.8.1",
    "0.8.2",
    "0.9",
    "0.10.0",
    "0.10.2",
    "0.11",
    "1.1",
    "2.0.0",
    "2.0.1",
    "2.1",
    "2.2",
    "2.4",
    "2.5",
    "2.7",
    "2.8",
    "3.5",
    "3.9",
)
"""Every version profile, oldest first.

``seed`` is the literal wording of the documents that Kafka is taught from.
"""

DEFAULT_VERSION: Final = "3.9"


class Profile(Struct, frozen=True):
    """The features of one release: ``profile.has`` answers by name."""

    version: str
    index: int
    features: dict[str, bool]

    def has(self, feature: str) -> bool:
        """Whether this release has the feature of that name in :data:`FEATURES`."""
        return self.features[feature]

    @staticmethod
    def first_with(feature: str) -> str:
        """The first release that has a feature."""
        return next(each.since for each in FEATURES if each.name == feature)


def _holds(feature: Feature, index: int) -> bool:
    last = len(VERSIONS) - 1 if feature.until is None else VERSIONS.index(feature.until)
    return VERSIONS.index(feature.since) <= index <= last


PROFILES: Final = {
    version: Profile(version, index, {f.name: _holds(f, index) for f in FEATURES})
    for index, version in enumerate(VERSIONS)
}
"""Version name to profile."""
