"""The controller's queues to the brokers: in order, one at a time, until answered."""

import pytest

from emulator.controller.channels import Batch, Channels
from emulator.controller.context import Channel, ControllerState
from emulator.events import MessageLost, MessageSent
from emulator.inputs.statements import CrashBroker, CutLink, FreezeBroker, HealLinks, ThawBroker
from emulator.protocol import PartitionInfo
from tests.support.lab import Lab
from tests.support.memberships import zookeeper_membership

INFO = PartitionInfo(1, 9, [1, 2], 9, [1, 2], 1)


def active_controller(lab: Lab) -> ControllerState:
    state = lab.cluster.controller_cache(0)
    assert state is not None
    return state


def channels(lab: Lab) -> Channels:
    return zookeeper_membership(lab.cluster, 0).controller.channels


def requests(lab: Lab, broker: int) -> list[str]:
    """The controller's requests to a broker since the topic was made."""
    sent = lab.seen.of(MessageSent, source=0, destination=broker)
    names = ("LeaderAndIsrRequest", "UpdateMetadataRequest", "StopReplicaRequest")
    return [each.name for each in sent if each.name in names]


def with_a_topic(config: dict[str, str] | None = None) -> Lab:
    """Broker 0 is controller; 1 leads t-0 and 2 follows."""
    lab = Lab("3.9", brokers=3, stepwise=True, config=config or {})
    lab.topic(1, 2)
    return lab


def test_a_batch_tells_leadership_then_metadata_then_what_to_stop() -> None:
    lab = with_a_topic()
    batch = Batch()
    batch.stop_replica(2, "t-0", 9)
    batch.lead([1, 2], "t-0", INFO)
    before = len(requests(lab, 2))
    channels(lab).send(batch)
    lab.wait(10)
    assert requests(lab, 2)[before:] == [
        "LeaderAndIsrRequest",
        "UpdateMetadataRequest",
        "StopReplicaRequest",
    ]


def test_metadata_goes_to_every_live_broker() -> None:
    lab = with_a_topic()
    batch = Batch()
    batch.metadata["t-0"] = INFO
    channels(lab).send(batch)
    lab.wait(10)
    assert [lab.cluster.brokers[b].state.process.metadata["t-0"] for b in (0, 1, 2)] == [INFO] * 3


def test_metadata_may_be_meant_for_some() -> None:
    lab = with_a_topic()
    batch = Batch()
    batch.metadata["t-0"] = INFO
    channels(lab).send(batch, metadata_to=[2])
    lab.wait(10)
    told = [lab.cluster.brokers[b].state.process.metadata["t-0"] == INFO for b in (0, 1, 2)]
    assert told == [False, False, True]


def test_one_request_is_under_way_at_a_time() -> None:
    lab = with_a_topic()
    lab.do(FreezeBroker(broker=2))
    before = len(requests(lab, 2))
    for _ in range(3):
        batch = Batch()
        batch.metadata["t-0"] = INFO
        channels(lab).send(batch)
    lab.wait(100)
    assert len(requests(lab, 2)) == before + 1
    lab.do(ThawBroker(broker=2))
    lab.wait(100)
    assert len(requests(lab, 2)) == before + 3
    assert active_controller(lab).channels[2].queue == []


def test_what_was_lost_with_a_connection_is_sent_again() -> None:
    lab = with_a_topic()
    lab.do(CrashBroker(broker=2))
    batch = Batch()
    batch.metadata["t-0"] = INFO
    before = len(requests(lab, 2))
    channels(lab).send(batch)
    lab.wait(450)
    assert len(requests(lab, 2)) > before + 2
    assert len(active_controller(lab).channels[2].queue) == 1


def test_nothing_is_sent_to_a_broker_that_is_known_to_be_gone() -> None:
    lab = with_a_topic()
    lab.do(CrashBroker(broker=2))
    lab.wait(21_000)
    assert 2 not in active_controller(lab).channels
    batch = Batch()
    batch.lead([1, 2], "t-0", INFO)
    channels(lab).send(batch)
    assert 2 not in active_controller(lab).channels


@pytest.mark.parametrize("timeout_ms", [None, 2_000])
def test_a_request_that_nobody_answers_is_given_up_and_made_again(timeout_ms: int | None) -> None:
    config = {} if timeout_ms is None else {"controller.socket.timeout.ms": str(timeout_ms)}
    lab = with_a_topic(config)
    lab.do(CutLink(source=0, destination=2))
    batch = Batch()
    batch.metadata["t-0"] = INFO
    channels(lab).send(batch)
    [sent] = lab.seen.of(MessageSent, name="UpdateMetadataRequest", destination=2)[-1:]
    lab.wait((timeout_ms or 30_000) - 100)
    assert lab.seen.of(MessageLost, message=sent.seq) == []
    lab.wait(300)
    assert [each.reason for each in lab.seen.of(MessageLost)] == ["connection given up"]
    lab.do(HealLinks())
    lab.wait(200)
    assert active_controller(lab).channels[2].queue == []
    assert lab.cluster.brokers[2].state.process.metadata["t-0"] == INFO


def test_a_response_that_nobody_waits_for_is_nothing() -> None:
    lab = with_a_topic()
    state = active_controller(lab)
    state.channels[1] = Channel(request=12345)
    lab.wait(100)
    assert state.channels[1].request == 12345
