import pytest

from console.model.reader import EventReader
from console.model.space_time import ON_THE_WAY, fates_of, following, hosts_of, keeper_of, place_of
from emulator import events
from emulator.events import CLIENTS, TYPES, ZOOKEEPER, Event
from sessions.model.cluster_view import ClusterView
from sessions.model.states import BrokerState, QuorumState, ViewState
from tests.console.fakes import ListSource, Script, failover


@pytest.mark.parametrize(
    ("event", "place"),
    [
        (events.MessageSent(1, 0, 0, "FetchRequest", 3, 2, 0, []), 3),
        (events.HighWatermarkChanged(1, 0, 0, "t-0", 2, 4, 3, "fetch"), 2),
        (events.LeaderElected(1, 0, 0, "t-0", 1, 2, 4, [2], "Offline"), 1),
        (events.SessionEnded(1, 0, 0, 7, 1, "expired", 9), ZOOKEEPER),
        (events.TimerFired(1, 0, 0, 2, "isr-expiration"), 2),
        (events.InputReceived(1, 0, 0, "broker crash 1", 1, 1), CLIENTS),
        (events.MessageLost(1, 0, 0, 7, "cut"), None),
    ],
)
def test_an_event_happens_at_one_host_or_on_the_way(event: Event, place: int | None) -> None:
    assert place_of(event) == place


def test_each_type_of_event_has_a_place() -> None:
    history = failover()
    view = ClusterView()
    view.apply_all(history)
    known = set(hosts_of(view.state))
    for event in history:
        place = place_of(event)
        assert place in known if type(event) not in ON_THE_WAY else place is None
    assert set(ON_THE_WAY) <= set(TYPES.values())


def test_what_follows_from_an_event_is_found_through_what_lies_between() -> None:
    script = Script()
    root = script.add(events.InputReceived, "broker crash 1", 1, 1)
    script.add(events.InputReceived, "another", 1, 1)
    sent = script.add(events.MessageSent, "FetchRequest", 3, 1, 0, [], cause=root)
    lost = script.add(events.MessageLost, sent, "host down", cause=sent)
    reader = EventReader(ListSource(script.events))
    found = following(reader, root)
    assert [event.seq for event in found] == [sent, lost]
    assert fates_of(found) == {sent: "host down"}


def test_kraft_has_controllers_in_place_of_zookeeper() -> None:
    quorum = QuorumState(controllers={101: "running", 100: "running"}, leader=101)
    state = ViewState(quorum=quorum, brokers={0: BrokerState(0)})
    assert list(hosts_of(state)) == [CLIENTS, 100, 101, 0]
    assert hosts_of(state)[100] == "ctrl 100"
    assert (keeper_of(state), keeper_of(ViewState())) == (101, ZOOKEEPER)
    assert place_of(events.QuorumRoleChanged(1, 0, 0, 100, "follower", 3, 101)) == 100
    assert place_of(events.MetadataApplied(1, 0, 0, 0, 45)) == 0
