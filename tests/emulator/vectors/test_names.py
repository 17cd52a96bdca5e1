"""Each worked example of replication is a test by name: ``pytest tests/emulator -k v31``."""

import re
from pathlib import Path

import pytest

EXAMPLES = (
    *("v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v14"),
    *("v16", "v17", "v19", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28"),
    *("v30", "v31", "v32", "v33", "v34", "v36", "v37", "v38", "v39"),
)
"""The numbers that scenarios and the matrix use too."""
NAMES = {
    name
    for path in Path(__file__).parents[1].rglob("test_*.py")
    for name in re.findall(r"^def test_(v\d+)_", path.read_text("utf-8"), flags=re.MULTILINE)
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_worked_example_has_tests_of_its_name(example: str) -> None:
    assert example in NAMES


def test_no_test_names_an_example_that_is_none() -> None:
    assert set(EXAMPLES) >= NAMES
