"""Which profile a recorded release stands for."""

from emulator.releases.profiles import PROFILES, VERSIONS, Profile


def profile_of(patch_release: str) -> Profile:
    """``2.0.1`` for ``2.0.1``, ``0.11`` for ``0.11.0.3``: the longest name that it begins with."""
    return PROFILES[max((name for name in VERSIONS if patch_release.startswith(name)), key=len)]
