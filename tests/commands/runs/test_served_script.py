"""The cluster that clients are served without a script."""

import pytest

from commands.language.cluster_options import ClusterOptions
from commands.runs.served_script import served_script
from emulator.releases.broker_configs import broker_configs
from emulator.releases.versions import RELEASES, numbers_of

REPLICAS = ("replication.factor", ".min.isr")
"""The ends of names of settings that say how many brokers a topic needs."""


@pytest.mark.parametrize("version", RELEASES)
def test_a_single_broker_can_create_every_topic_of_its_own(version: str) -> None:
    config = served_script(ClusterOptions(version=version, brokers=1)).spec.config
    needed = {
        name: config.get(name, key.default)
        for name, key in broker_configs(numbers_of(version)).items()
        if name.endswith(REPLICAS)
    }
    assert set(needed.values()) <= {"1"}
