"""Emulated brokers answer conversations in single requests as real ones do, fact by fact.

``requests/`` has what single brokers answered :mod:`tests.wire.same_requests`: without ZooKeeper,
and with it where the file's name ends in ``-zk``.
"""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.support.wire_client import WireLab
from tests.wire.same_requests import CONFIG, CONVERSATIONS

REQUESTS: Final = Path(__file__).parent / "requests"
REAL: Final = {path.stem: json.loads(path.read_text()) for path in REQUESTS.glob("*.json")}
HELD: Final = sorted((release, name) for release, told in REAL.items() for name in told)


@pytest.mark.parametrize(("release", "conversation"), HELD)
def test_emulated_brokers_answer_as_real_ones(release: str, conversation: str) -> None:
    version, _, mode = release.partition("-")
    lab = WireLab.made(version=version, mode=mode or "kraft", brokers=1, config=CONFIG)
    lab.pass_time(5_000_000)
    ours = CONVERSATIONS[conversation](lab)
    assert json.loads(json.dumps(ours)) == REAL[release][conversation]


def test_every_conversation_was_held_with_a_real_broker() -> None:
    assert {name for _, name in HELD} == CONVERSATIONS.keys()
