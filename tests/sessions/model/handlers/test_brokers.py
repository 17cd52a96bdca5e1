"""Brokers and links: sessions that overlap, messages that wait."""

from emulator.events import (
    BrokerRegistered,
    BrokerStateChanged,
    ClusterCreated,
    ControllerElected,
    Event,
    LinkChanged,
    MessageHeld,
    MessageLost,
    MessageReleased,
    MessageSent,
    SessionCreated,
    SessionEnded,
    ZkConnectionChanged,
)
from sessions.model.cluster_view import ClusterView
from sessions.model.handlers import brokers
from sessions.model.states import LinkState
from tests.sessions.examples import folded

CREATED = ClusterCreated(1, 0, 0, "3.9", 43, [1, 2], ["a", "b"], {"k": "v"}, True)


def test_a_new_cluster_has_brokers_with_racks_none_of_which_runs() -> None:
    view = folded([CREATED])
    state = view.state
    assert [(b.id, b.rack, b.state) for b in state.brokers.values()] == [
        (1, "a", "stopped"),
        (2, "b", "stopped"),
    ]
    assert (state.version, state.seed, state.stepwise) == ("3.9", 43, True)
    assert (view.counts().brokers_up, view.counts().brokers) == (0, 2)


def test_a_session_that_ends_late_does_not_take_the_new_one_away() -> None:
    view = folded(
        [
            CREATED,
            SessionCreated(2, 0, 0, 10, 1, 6000, 1),
            SessionCreated(3, 0, 0, 11, 1, 6000, 2),
            SessionEnded(4, 0, 0, 10, 1, "expired", 3),
        ]
    )
    assert view.state.brokers[1].session == 11
    assert view.state.sessions == {11: 1}
    view.apply(SessionEnded(5, 0, 0, 11, 1, "closed", 4))
    assert view.state.brokers[1].session == 0


def test_a_broker_is_what_its_events_say() -> None:
    view = folded(
        [
            CREATED,
            BrokerStateChanged(2, 0, 0, 1, "running"),
            ZkConnectionChanged(3, 0, 0, 1, "connected"),
            BrokerRegistered(4, 0, 0, 1, 25, 10),
            ControllerElected(5, 0, 0, 1, 3, 4),
        ]
    )
    broker, controller = view.state.brokers[1], view.state.controller
    assert (broker.registered, broker.broker_epoch, broker.session) == (True, 25, 10)
    assert (broker.zk_connection, view.counts().brokers_up) == ("connected", 1)
    assert (controller.broker, controller.epoch, controller.epoch_zk_version) == (1, 3, 4)


def held_message() -> ClusterView:
    return folded(
        [
            CREATED,
            LinkChanged(2, 0, 0, 1, 2, True, 0, 0.0, []),
            MessageSent(3, 0, 0, "FetchRequest", 1, 2, 0, []),
            MessageHeld(4, 0, 0, 3),
        ]
    )


def test_messages_that_wait_are_counted_on_their_link() -> None:
    view = held_message()
    assert view.state.links == [LinkState(1, 2, True, 0, 0.0, [], waiting=1)]
    view.apply(MessageReleased(5, 0, 0, 3))
    assert view.state.links[0].waiting == 0
    view.apply(MessageLost(6, 0, 0, 3, "late"))
    assert view.state.links[0].waiting == 0


def test_a_link_is_listed_until_it_is_whole_and_empty() -> None:
    view = held_message()
    view.apply(LinkChanged(5, 0, 0, 1, 2, False, 0, 0.0, []))
    assert view.state.links[0].waiting == 1
    view.apply(MessageReleased(6, 0, 0, 3))
    assert view.state.links == []


def test_a_message_is_known_to_be_held_even_if_a_keyframe_lies_between() -> None:
    view = folded(
        [
            CREATED,
            LinkChanged(2, 0, 0, 1, 2, True, 0, 0.0, []),
            MessageSent(3, 0, 0, "FetchRequest", 1, 2, 0, []),
        ]
    )
    view = ClusterView.decode(view.encode())
    view.apply(MessageHeld(4, 0, 0, 3))
    assert view.state.links[0].waiting == 1


def test_fetch_times_are_kept_for_brokers_and_not_for_consumers() -> None:
    view = folded(
        [
            CREATED,
            MessageSent(2, 70, 0, "FetchRequest", 1, 2, 0, []),
            MessageSent(3, 80, 0, "FetchRequest", -2, 2, 0, []),
            MessageSent(4, 90, 0, "ProduceRequest", 1, 2, 0, []),
        ]
    )
    assert {b.id: b.fetch_sent_us for b in view.state.brokers.values()} == {1: {2: 70}, 2: {}}


def test_every_handler_is_for_a_type_of_event() -> None:
    assert all(issubclass(kind, Event) for kind in brokers.HANDLERS)
