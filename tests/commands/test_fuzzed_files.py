"""Attempts at what comes in by files, lines and frames, and those that once failed.

The wire protocol gets 20,000 frames, the control channel 5,000 lines;
``python -m benchmarks.fuzz TARGET`` makes as many attempts as one likes.
"""

from pathlib import Path

import pytest

from tests.support.fuzzing import hold, target_named

ATTEMPTS = {
    "sessions": [
        *(f"0/{number}" for number in range(40)),
        "0/1081",
        "0/1178",
        "0/1520",
        "73/1440",
        "second/1325",
        "second/1944",
    ],
    "control": [f"0/{number}" for number in range(935)],
    "wire": [*(f"0/{number}" for number in range(400)), "a/244", "a/342", "a/1840", "71/12746"],
    "long_requests": [*(f"0/{number}" for number in range(15)), "0/42"],
    "histories": [f"0/{number}" for number in range(60)],
    "scripts": [*(f"0/{number}" for number in range(20)), "0/203"],
}


@pytest.mark.parametrize("target", ATTEMPTS)
def test_nothing_that_comes_in_ends_in_a_traceback(target: str, tmp_path: Path) -> None:
    hold(target_named(target), tmp_path, ATTEMPTS[target])
