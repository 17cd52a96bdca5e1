"""What people are told when a KRaft controller refuses a request: the error and the reason."""

import pytest

from emulator.cluster import Cluster
from emulator.inputs.statements import (
    AddPartitions,
    AnyInput,
    ConfigureBroker,
    ConfigureTopic,
    CreateCluster,
    CreateTopic,
    Reassign,
    Statement,
)
from emulator.scenario.runner import Runner


@pytest.mark.parametrize(
    ("wanted", "error", "reason"),
    [
        (
            Reassign(tp="t-0", replicas=[0, 7]),
            "INVALID_REPLICA_ASSIGNMENT",
            "broker 7 is not registered",
        ),
        (
            AddPartitions(topic="t", partitions=1),
            "INVALID_PARTITIONS",
            "Topic t has 1 partition(s); the number can only grow.",
        ),
        (
            ConfigureTopic(topic="t", config={"retention.ms": ""}),
            "INVALID_CONFIG",
            "retention.ms",
        ),
        (
            ConfigureBroker(broker=0, config={"message.max.bytes": "-5"}),
            "INVALID_REQUEST",
            "message.max.bytes must be 0 or more, not -5.",
        ),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, AnyInput) else "",
)
def test_the_controllers_reason_is_told(wanted: AnyInput, error: str, reason: str) -> None:
    runner = Runner(Cluster(CreateCluster(brokers=3, version="4.1")))
    topic = CreateTopic(topic="t", partitions=1, replication_factor=1)
    assert runner.execute(Statement(topic, "topic create")).error == "NONE"
    outcome = runner.execute(Statement(wanted, "refused"))
    assert outcome.error == error
    assert reason in outcome.message
    assert outcome.output is not None
    assert outcome.output.endswith(f": {error}")
