"""The behaviour of each release: code asks a profile for features by name, never by version."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.releases.features import FEATURES, Feature
from emulator.releases.features.kraft import KRAFT
from emulator.releases.variants import COUNTERFACTUAL, PREVIEW, VARIANTS
from emulator.releases.versions import (
    DOCUMENTS,
    NAMES,
    RELEASE_OF,
    Numbers,
    has_no_zookeeper,
    numbers_of,
)

__all__ = [
    "DEFAULT_VERSION",
    "FEATURES",
    "KRAFT_VERSIONS",
    "PROFILES",
    "RECOMMENDED",
    "VERSIONS",
    "Feature",
    "Profile",
    "neighbours",
]

VERSIONS: Final = (
    "documents",
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
"""The recommended versions with ZooKeeper, oldest first: most were recorded on real Kafka.

The matrix, the Lab and random tests run these. Any other release can be selected by name
(:mod:`emulator.releases.versions`): its rules follow from the dates of the features.
"""

KRAFT_VERSIONS: Final = ("3.9", "4.0", "4.1")
"""The recommended releases of KRaft mode, oldest first; all were recorded on real Kafka."""

RECOMMENDED: Final = tuple(dict.fromkeys((*VERSIONS, *KRAFT_VERSIONS)))
"""The recommended versions of both modes, oldest first."""

DEFAULT_VERSION: Final = "3.9"


class Profile(Struct, frozen=True):
    """The features of one release, which ``profile.has`` looks up by name.

    ``version`` is the requested name (``2.3``), ``release`` the release that it resolves to
    (``2.3.1``), and ``numbers`` the latter in comparable form.
    """

    version: str
    release: str
    numbers: Numbers
    features: dict[str, bool]

    def has(self, feature: str) -> bool:
        """Whether this release has the feature of that name in :data:`FEATURES`."""
        return self.features[feature]

    @property
    def with_preview(self) -> "Profile":
        """This release with the group coordinator that it previews."""
        return replace(self, features=self.features | PREVIEW)

    @staticmethod
    def first_with(feature: str) -> str:
        """The first release that has a feature."""
        return next(candidate.since for candidate in FEATURES if candidate.name == feature)


def _profiles() -> dict[str, Profile]:
    features: dict[str, dict[str, bool]] = {}
    profiles = {}
    for name in NAMES:
        release = RELEASE_OF[name]
        numbers = numbers_of(release)
        if release not in features:
            holds = {feature.name: feature.holds_in(numbers) for feature in FEATURES}
            none = dict.fromkeys(COUNTERFACTUAL, False)
            features[release] = holds | none | VARIANTS.get(release, {})
        profiles[name] = Profile(name, release, numbers, features[release])
    return profiles


PROFILES: Final = _profiles()
"""The profile of every accepted release name, oldest first."""


def neighbours(version: str) -> tuple[str, ...]:
    """Return the recommended versions that indicate what to expect of a release.

    That is the one with the same features, or else the last before it and the first after it. A
    release that supports ZooKeeper is compared by its behaviour with ZooKeeper.
    """
    if version in VARIANTS:
        return (DOCUMENTS,)
    alike = [other for other in RECOMMENDED if _in_own_mode(other) == _in_own_mode(version)]
    if alike:
        return tuple(alike)
    numbers = PROFILES[version].numbers
    older = [other for other in RECOMMENDED if PROFILES[other].numbers < numbers]
    return (older[-1], *RECOMMENDED[len(older) : len(older) + 1])


def _in_own_mode(version: str) -> dict[str, bool]:
    profile = PROFILES[version]
    others = () if has_no_zookeeper(profile.numbers) else KRAFT
    return profile.features | dict.fromkeys((feature.name for feature in others), False)
