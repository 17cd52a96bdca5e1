"""Random keys, mouse, paste and sizes in a real terminal: the console answers afterwards.

Each source is tried in one mode for some seconds; ``make thorough`` tries all in both modes, three
minutes in all. ``TIDEGAUGE_SOAK_SECONDS`` sets how long each takes; ``benchmarks/console_soak.py``
does the same for an hour.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.console.mashing import DONE_MIN, Kind, soak
from tests.support.releases import THOROUGH

SECONDS = float(os.environ.get("TIDEGAUGE_SOAK_SECONDS", "23" if THOROUGH else "3"))
KINDS = [
    Kind("live", "zookeeper"),
    Kind("paused", "kraft"),
    Kind("replay", "kraft"),
    Kind("served", "zookeeper"),
]
OTHERS = [
    Kind("live", "kraft"),
    Kind("paused", "zookeeper"),
    Kind("replay", "zookeeper"),
    Kind("served", "kraft"),
]

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")


@pytest.mark.parametrize("kind", [*KINDS, *(OTHERS if THOROUGH else ())], ids="-".join)
def test_a_console_survives_what_is_done_to_it(tmp_path: Path, kind: Kind) -> None:
    assert soak(tmp_path, kind, seed=11, seconds=SECONDS) >= DONE_MIN
