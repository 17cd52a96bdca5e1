"""Random keys, mouse, paste and sizes in a real terminal: the console answers afterwards.

``benchmarks/console_soak.py`` does the same for an hour; ``TIDEGAUGE_SOAK_SECONDS`` sets how long
each of the consoles here is tried.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.console.mashing import DONE_MIN, Kind, soak

SECONDS = float(os.environ.get("TIDEGAUGE_SOAK_SECONDS", "3"))

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")


@pytest.mark.parametrize(
    "kind",
    [
        Kind("live", "zookeeper"),
        Kind("paused", "kraft"),
        Kind("replay", "kraft"),
        Kind("served", "zookeeper"),
    ],
    ids="-".join,
)
def test_a_console_survives_what_is_done_to_it(tmp_path: Path, kind: Kind) -> None:
    assert soak(tmp_path, kind, seed=11, seconds=SECONDS) >= DONE_MIN
