"""Emulated brokers answer conversations in single requests as real ones do, fact by fact.

``requests/`` has what single brokers without ZooKeeper answered
:mod:`tests.wire.same_requests`.
"""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.support.wire_client import WireLab
from tests.wire.same_requests import CONFIG, CONVERSATIONS

REQUESTS: Final = Path(__file__).parent / "requests"
RELEASES: Final = sorted(path.stem for path in REQUESTS.glob("*.json"))


@pytest.mark.parametrize("conversation", CONVERSATIONS)
@pytest.mark.parametrize("release", RELEASES)
def test_emulated_brokers_answer_as_real_ones(release: str, conversation: str) -> None:
    real = json.loads((REQUESTS / f"{release}.json").read_text())[conversation]
    lab = WireLab.made(version=release, mode="kraft", brokers=1, config=CONFIG)
    lab.pass_time(5_000_000)
    ours = CONVERSATIONS[conversation](lab)
    assert json.loads(json.dumps(ours)) == real
