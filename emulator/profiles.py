"""What each release does: rules ask a profile for features by name, never for version numbers."""

from typing import Final

from msgspec import Struct

from emulator.features import FEATURES, VERSIONS, Feature

__all__ = ["DEFAULT_VERSION", "FEATURES", "PROFILES", "VERSIONS", "Feature", "Profile"]

DEFAULT_VERSION: Final = "3.9"


class Profile(Struct, frozen=True):
    """The features of one release: ``profile.has`` answers by name."""

    version: str
    index: int
    features: dict[str, bool]

    def has(self, feature: str) -> bool:
        """Whether this release has the feature of that name in :data:`FEATURES`."""
        return self.features[feature]


def _holds(feature: Feature, index: int) -> bool:
    last = len(VERSIONS) - 1 if feature.until is None else VERSIONS.index(feature.until)
    return VERSIONS.index(feature.since) <= index <= last


PROFILES: Final = {
    version: Profile(version, index, {f.name: _holds(f, index) for f in FEATURES})
    for index, version in enumerate(VERSIONS)
}
"""Version name to profile."""
