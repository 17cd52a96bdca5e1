"""An incident without and with another configuration, run on the emulator."""

from functools import partial
from pathlib import Path

import pytest

from emulator.releases.config import ConfigError
from emulator.wire.metadata import messages as wire
from sessions.postmortem.incident import examine, read_paths
from sessions.postmortem.what_if import (
    Setting,
    WhatIf,
    image_before,
    sentences,
    setting_of,
    what_if,
)
from tests.sessions.postmortem.logs import TOPIC, broker, cluster, fence, unfence

TOPIC_CONFIG = 2


def change(**changed: object) -> wire.PartitionChangeRecord:
    return wire.PartitionChangeRecord(0, TOPIC, **changed)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Brokers 2 and 3 die, then 1, which alone was in sync; 2 returns first and is elected."""
    log = cluster()
    log.add(wire.ConfigRecord(TOPIC_CONFIG, "t", "unclean.leader.election.enable", "true"))
    log.second += 60
    log.add(change(isr=[1, 3]), fence(2, 4), version=1)
    log.second += 3
    log.add(change(isr=[1]), fence(3, 6), version=1)
    log.second += 10
    log.add(change(leader=-1), fence(1, 2), version=1)
    log.second += 20
    epoch = log.offset
    log.add(broker(2, epoch, "r2"), version=3)
    log.add(unfence(2, epoch), change(isr=[2], leader=2, leader_recovery_state=1), version=1)
    log.second += 30
    epoch = log.offset
    log.add(broker(1, epoch, "r1"), version=3)
    log.add(unfence(1, epoch), version=1)
    return log.write(tmp_path_factory.mktemp("log"))


def run(folder: Path, text: str) -> WhatIf:
    log = read_paths([str(folder)])
    (found,) = what_if(partial(image_before, log), examine(log), setting_of(text))
    return found


def test_what_happened_is_run_without_and_with_the_change(folder: Path) -> None:
    found = run(folder, "min.insync.replicas=2")

    assert [fault.what for fault in found.faults] == [
        *("broker 2 dies", "broker 3 dies", "broker 1 dies"),
        *("broker 2 starts", "broker 1 starts"),
    ]
    assert found.without.unclean == found.changed.unclean == ["t-0"]
    assert found.without.lost > 0
    assert found.changed.lost == 0
    assert found.prevented == [
        f"{found.without.lost} of {found.without.acknowledged} acknowledged records are lost"
    ]
    assert [each.split(" for ")[0] for each in found.caused] == ["t-0 refused writes with acks=all"]


def test_without_unclean_election_the_partition_waits(folder: Path) -> None:
    found = run(folder, "unclean.leader.election.enable=false")

    assert found.changed.unclean == []
    assert found.changed.lost == 0
    assert found.changed.offline["t-0"] > found.without.offline["t-0"] + 20
    assert "unclean elections of t-0" in found.prevented
    (sentence,) = sentences(found)
    assert "prevented: " in sentence
    assert "in exchange: t-0 without a leader for up to " in sentence


def test_a_setting_is_written_with_its_value() -> None:
    assert setting_of("min.insync.replicas=2") == Setting("min.insync.replicas", "2")
    with pytest.raises(ConfigError, match="is not CONFIG=VALUE"):
        setting_of("min.insync.replicas")


def test_a_configuration_that_does_not_exist_is_refused(folder: Path) -> None:
    log = read_paths([str(folder)])
    with pytest.raises(ConfigError, match=r"min\.insync\.replicas"):
        what_if(partial(image_before, log), examine(log), Setting("min.insync.replica", "2"))
