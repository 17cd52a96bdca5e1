"""What clients are told of topics that are deleted, and of partitions that nobody has led."""

from emulator.inputs.statements import CrashBroker, CreateTopic, DeleteTopic, Produce, Settle
from emulator.scenario.conditions import value_of
from tests.support.lab import Lab
from tests.support.running import do, partition, replica, with_topic


def test_clients_of_a_deleted_topic_are_told_that_there_is_none() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, DeleteTopic(topic="t"), Settle())
    assert value_of(cluster, partition("t-0", "state")) == "nonexistent"
    assert value_of(cluster, replica("t-0", 1, "leo")) is None
    outcome = do(cluster, Produce(topic="t", value="a", retries=0))
    assert outcome.error == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_partition_that_nobody_has_led_hides_none_behind_it() -> None:
    lab = Lab("3.9", brokers=4)
    lab.do(CrashBroker(broker=3))
    lab.wait(20_000)
    lab.do(CreateTopic(topic="t", assignment=[[1], [3], [2]]))
    lab.wait(1_000)
    errors = [
        lab.do(Produce(topic="t", partition=number, value="v", acks=-1)).error
        for number in range(4)
    ]
    unknown = "UNKNOWN_TOPIC_OR_PARTITION"
    assert errors == ["NONE", unknown, "NONE", unknown]
