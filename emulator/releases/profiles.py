"""The behaviour of each release: code asks a profile for features by name, never by version."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.releases.features import FEATURES, Feature
from emulator.releases.features.kraft import KRAFT
from emulator.releases.variants import COUNTERFACTUAL, VARIANTS
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

    def with_preview(self, previews: Mapping[str, Mapping[str, bool]]) -> "Profile | None":
        """This release with its preview; None if it has none of the ``previews``.

        Those are by release, such as ``3.9``: the features that it has or lacks then.
        """
        preview = previews.get(".".join(map(str, self.numbers[:2])))
        return None if preview is None else replace(self, features={**self.features, **preview})

    @staticmethod
    def first_with(feature: str) -> str:
        """The first release that has a feature."""
        return next(candidate.since for candidate in FEATURES if candidate.name == feature)


class Profiles(Mapping[str, Profile]):
    """Profiles by name, each made when it is first asked for: there are many, a run needs one."""

    def __init__(self) -> None:
        self._made: dict[str, Profile] = {}

    def __getitem__(self, name: str) -> Profile:
        if name not in self._made:
            release = RELEASE_OF[name]
            numbers = numbers_of(release)
            features = {feature.name: feature.holds_in(numbers) for feature in FEATURES}
            features |= dict.fromkeys(COUNTERFACTUAL, False) | VARIANTS.get(release, {})
            self._made[name] = Profile(name, release, numbers, features)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


PROFILES: Final = Profiles()
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
