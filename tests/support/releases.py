"""Which profile a recorded release has."""

from emulator.releases.profiles import PROFILES, Profile


def profile_of(release: str) -> Profile:
    """The very release's: of ``0.11.0.3``, not of ``0.11``."""
    return PROFILES[release]
