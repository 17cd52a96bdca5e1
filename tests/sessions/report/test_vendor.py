"""What others wrote and the page embeds is what they released."""

import re
from hashlib import sha256
from pathlib import Path

import sessions.report

UPLOT = Path(sessions.report.__file__).parent / "vendor" / "uplot"


def test_files_are_those_whose_sums_are_written_beside_them() -> None:
    written = dict(
        re.findall(r"\| `([\w.]+)` \| `([0-9a-f]{64})` \|", (UPLOT / "README.md").read_text())
    )
    assert sorted(written) == ["uPlot.iife.min.js", "uPlot.min.css"]
    assert written == {name: sha256((UPLOT / name).read_bytes()).hexdigest() for name in written}
    assert "MIT License" in (UPLOT / "LICENSE").read_text()
