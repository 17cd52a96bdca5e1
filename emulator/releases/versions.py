"""The releases of Kafka, and the names by which they can be selected.

Releases up to 3.9 keep their metadata in ZooKeeper, from 3.3 on optionally in a controller quorum
(KRaft); from 4.0 on there is only KRaft. ``documents`` (also ``seed``) precedes them all, and so do
its variants (:mod:`emulator.releases.variants`). A name is
a full release (``2.3.1``, ``0.10.1.1``) or a prefix of one (``2.3``, ``0.10.1``), which selects its
latest patch release. So ``2.0`` is 2.0.1, and ``2.0.0`` is only 2.0.0.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from typing import Final

from emulator.releases.variants import VARIANTS

Numbers = tuple[int, ...]
"""A release as comparable numbers: ``(2, 3, 1)``."""

DOCUMENTS: Final = "documents"
"""The literal rules of the documents that Kafka is taught from: older than every release."""
SEED: Final = "seed"
"""An earlier name for ``documents``."""


def _patches(line: str, latest: int) -> tuple[str, ...]:
    return tuple(f"{line}.{patch}" for patch in range(latest + 1))


RELEASES: Final = (
    *("0.8.1", "0.8.1.1"),
    *_patches("0.8.2", 2),
    *_patches("0.9.0", 1),
    *_patches("0.10.0", 1),
    *_patches("0.10.1", 1),
    *_patches("0.10.2", 2),
    *_patches("0.11.0", 3),
    *_patches("1.0", 2),
    *_patches("1.1", 1),
    *_patches("2.0", 1),
    *_patches("2.1", 1),
    *_patches("2.2", 2),
    *_patches("2.3", 1),
    *_patches("2.4", 1),
    *_patches("2.5", 1),
    *_patches("2.6", 3),
    *_patches("2.7", 2),
    *_patches("2.8", 2),
    *_patches("3.0", 2),
    *_patches("3.1", 2),
    *_patches("3.2", 3),
    *_patches("3.3", 2),
    *_patches("3.4", 1),
    *_patches("3.5", 2),
    *_patches("3.6", 2),
    *_patches("3.7", 2),
    *_patches("3.8", 1),
    *_patches("3.9", 2),
    *_patches("4.0", 2),
    *_patches("4.1", 2),
    *_patches("4.2", 2),
    *_patches("4.3", 1),
    *_patches("4.4", 0),
)
"""Every release from 0.8.1 on, oldest first."""

_SEED_NUMBERS: Final = (0, 0, 0)
_FIRST_WITHOUT_ZOOKEEPER: Final = (4,)
_DOTTED = re.compile(r"[0-9]+(\.[0-9]+)*")


@cache
def numbers_of(version: str) -> Numbers:
    """Return a release, or a prefix of one, as numbers; ``documents`` is the lowest."""
    if version in (SEED, DOCUMENTS, *VARIANTS):
        return _SEED_NUMBERS
    return tuple(int(number) for number in version.split("."))


def is_since(numbers: Numbers, first: str) -> bool:
    """Whether a release is ``first`` or newer: 3.7.0 is since 3.7."""
    return numbers >= numbers_of(first)


def is_until(numbers: Numbers, last: str) -> bool:
    """Whether a release is ``last``, one of its patch releases, or older: 2.8.2 is until 2.8."""
    bound = numbers_of(last)
    return numbers[: len(bound)] <= bound


def is_in_line(numbers: Numbers, first: str) -> bool:
    """Whether a release is ``first`` or a later patch of its line: 3.0.2, not 3.1.0, for 3.0.1."""
    bound = numbers_of(first)
    return numbers >= bound and numbers[: len(bound) - 1] == bound[:-1]


def _named() -> dict[str, str]:
    """Each name with its release: a release of exactly that name wins over those it prefixes."""
    names = {DOCUMENTS: DOCUMENTS, SEED: DOCUMENTS, **{name: name for name in VARIANTS}}
    for release in RELEASES:
        parts = release.split(".")
        for length in range(2, len(parts)):
            names[".".join(parts[:length])] = release
    return names | {release: release for release in RELEASES}


RELEASE_OF: Final = _named()
"""The release that each accepted name resolves to."""


def order(name: str) -> tuple[Numbers, int]:
    """The sort key of a name: the release that it resolves to, then the shorter name first."""
    return numbers_of(RELEASE_OF[name]), len(name)


NAMES: Final = tuple(sorted(RELEASE_OF, key=order))
"""Every accepted name, oldest release first."""


def has_no_zookeeper(numbers: Numbers) -> bool:
    """Whether a release runs in KRaft mode only (KIP-833, KIP-896)."""
    return numbers >= _FIRST_WITHOUT_ZOOKEEPER


def nearest(version: str, words: Sequence[str] = NAMES) -> str:
    """Return the real release nearest to a version that does not exist.

    It is the latest one that is not newer. For a non-numeric name it is the most similar of
    ``words``.
    """
    if not _DOTTED.fullmatch(version):
        return get_close_matches(version, words, n=1, cutoff=0.0)[0]
    numbers = numbers_of(version)
    older = [release for release in RELEASES if numbers_of(release)[: len(numbers)] <= numbers]
    return older[-1] if older else RELEASES[0]
