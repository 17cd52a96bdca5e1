"""Folders of deleted replicas."""

from collections import Counter

import pytest

from emulator.broker.kraft_membership.metadata_publisher import FOLDERS_TASK
from emulator.inputs.statements import CreateTopic, DeleteTopic
from emulator.simulation.timers import Timers
from tests.support.lab import Lab


def test_deleting_a_topic_looks_through_the_folders_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # For each of 10,000 partitions it once took a minute, while nobody was answered.
    armed: Counter[str] = Counter()
    arm = Timers.arm

    def count(timers: Timers, task: str, at_us: int) -> None:
        armed[task] += 1
        arm(timers, task, at_us)

    monkeypatch.setattr(Timers, "arm", count)
    lab = Lab("4.1", brokers=1, mode="kraft")
    lab.do(CreateTopic(topic="t", partitions=200))
    lab.do(DeleteTopic(topic="t"))
    lab.wait(1_000)
    assert armed[FOLDERS_TASK] == 1
