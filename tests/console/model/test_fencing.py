from collections.abc import Sequence

import pytest

from console.model.fencing import led_to
from console.model.workspace import Stage
from emulator import events
from emulator.events import Event
from tests.console.fakes import ListSource, failover
from tests.console.kraft import kraft
from tests.support.kraft_states import FENCED

BEFORE = FENCED[:-2]
LOOKS = 50
"""Each look takes a few milliseconds at most, as each frame does."""
CUTS = [f"network cut 2 {controller}" for controller in (100, 101, 102)]


def why(*statements: str, tp: str = "orders-2") -> Sequence[Event]:
    stage = Stage(kraft(*statements))
    state = stage.view.state
    for _ in range(LOOKS):
        found = stage.explainer.seq(state, state.partitions[tp])
    return led_to(stage.reader, found)


@pytest.mark.parametrize(
    "fault", [["broker crash 2"], ["broker freeze 2"], CUTS], ids=["crash", "freeze", "cut"]
)
def test_a_leader_leads_to_its_record_and_the_missed_heartbeat(fault: list[str]) -> None:
    heartbeat, silenced, timer, *commit, change, fenced, leader = why(*BEFORE, *fault, "wait 14s")
    assert isinstance(heartbeat, events.MessageSent)
    assert (heartbeat.name, heartbeat.source) == ("BrokerHeartbeatRequest", 2)
    assert isinstance(silenced, events.InputReceived)
    assert silenced.text == fault[0]
    assert isinstance(timer, events.TimerFired)
    assert timer.time_us - heartbeat.time_us > 9_000_000
    assert all(isinstance(each, events.MessageSent) for each in commit)
    assert isinstance(change, events.MetadataRecordCommitted)
    assert '"leader":0' in change.data
    assert isinstance(fenced, events.MetadataRecordCommitted)
    assert '"fenced":1' in fenced.data
    assert isinstance(leader, events.PartitionStateChanged)
    assert leader.leader == 0


def test_a_controlled_shutdown_leads_to_its_request() -> None:
    links = why(*BEFORE, "broker stop 2", "wait 2s")
    assert isinstance(links[0], events.InputReceived)
    assert links[0].text == "broker stop 2"
    assert isinstance(links[-2], events.MetadataRecordCommitted)
    assert not any(isinstance(each, events.TimerFired) for each in links)


def test_the_record_itself_leads_to_the_heartbeat_too() -> None:
    stage = Stage(kraft(*FENCED))
    seq = stage.source.touching(["/brokers/2"], stage.source.seq + 1, -1)
    assert seq is not None
    first = led_to(stage.reader, seq)[0]
    assert isinstance(first, events.MessageSent)
    assert first.name == "BrokerHeartbeatRequest"


def test_with_zookeeper_causes_stay_as_they_are() -> None:
    stage = Stage(ListSource(failover()))
    for seq in (10, 60, 120):
        assert led_to(stage.reader, seq) == stage.reader.causes(seq)
