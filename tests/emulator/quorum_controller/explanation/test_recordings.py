"""What real controllers wrote in the golden recordings is explained by the rules."""

import re
from pathlib import Path

import pytest

from tests.emulator.quorum_controller.explanation.recorded import unexplained
from tests.emulator.quorum_controller.explanation.shown import batches_of_recording
from tests.golden_kraft.recorded import IDS, RECORDINGS, load

NEW_DISK = re.compile(r"^broker start \d+ --clean", re.MULTILINE)


@pytest.mark.parametrize("path", RECORDINGS, ids=IDS)
def test_a_rule_explains_each_recorded_change(path: Path) -> None:
    recording = load(path)
    if NEW_DISK.search(recording["script"]):
        pytest.skip("a recording has no log directories, which decide who may lead here")
    found = unexplained(batches_of_recording(recording), recording["kafka"])

    assert [(each.offset, each.messages[0], each.because) for each in found] == []
