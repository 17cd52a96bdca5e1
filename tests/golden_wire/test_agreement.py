"""What emulated brokers say in the conversations that were held with real ones, step by step."""

import json
from pathlib import Path

import pytest

from tests.golden_wire.conversations import CONVERSATIONS, held

RECORDINGS = sorted(
    path for path in Path(__file__).parent.glob("recordings/*/*.json") if path.stem in CONVERSATIONS
)

CHANCE = {
    ("kraft-4.1.2", "statics"): {"group"},  # asked once, while the next coordinator still loaded
    # asked so late that the younger commit had expired, too
    ("kraft-3.9.2", "late_tombstones"): {"end"},
    ("kraft-4.1.2", "late_tombstones"): {"end"},
    ("zk-2.8.2", "deletes"): {"list at 1", "list"},  # a frozen broker's session had nearly ended
}
"""The steps in which one recording shows what may as well go otherwise."""


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_brokers_say_what_real_ones_said(path: Path) -> None:
    mode, _, release = path.parent.name.partition("-")
    recorded = json.loads(path.read_text("utf-8"))["said"]
    said = held(path.stem, mode, release)
    assert [step for step, _ in said] == [step for step, _ in recorded]
    chance = CHANCE.get((path.parent.name, path.stem), set())
    pairs = [pair for pair in zip(said, recorded, strict=True) if pair[0] != pair[1]]
    assert [pair for pair in pairs if pair[0][0] not in chance] == []
    assert {said for (said, _), _ in pairs} == chance
