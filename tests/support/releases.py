"""Which profile a recorded release has, and whether tests run on more than they usually do."""

import os
from typing import Final

from emulator.releases.profiles import PROFILES, Profile

THOROUGH: Final = bool(os.environ.get("TIDEGAUGE_THOROUGH"))
"""Whether tests try everything, however long it takes: ``make thorough``."""


def profile_of(release: str) -> Profile:
    """The very release's: of ``0.11.0.3``, not of ``0.11``."""
    return PROFILES[release]
