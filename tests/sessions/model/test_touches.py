"""Which objects an event touches."""

import pytest

from emulator import events as ev
from emulator.events import Event
from sessions.model.touches import object_name, objects_of, objects_of_all, touches
from tests.sessions.examples import story_events


@pytest.mark.parametrize(
    ("event", "names"),
    [
        (ev.RecordsAppended(1, 0, 0, "t-0", 2, 0, 1, 0, 1), {"t-0"}),
        (ev.ZnodeCreated(1, 0, 0, "/a", None, 0, 1), {"/a"}),
        (ev.BrokerStateChanged(1, 0, 0, 2, "crashed"), {"broker.2"}),
        (ev.SessionEnded(1, 0, 0, 9, -2, "closed", 1), set()),
        (ev.LinkChanged(1, 0, 0, 1, -1, True, 0, 0.0, []), {"broker.1"}),
        (ev.TopicCreated(1, 0, 0, "t", [[1], [2]], {}), {"topic.t", "t-0", "t-1"}),
        (ev.PartitionsAdded(1, 0, 0, "t", 3, [[1]]), {"topic.t", "t-3"}),
        (ev.HighWatermarksCheckpointed(1, 0, 0, 2, {"t-0": 1, "t-1": 2}), {"t-0", "t-1"}),
        (ev.MessageSent(1, 0, 0, "FetchRequest", 1, 2, 0, [["t-0", 5], []]), {"t-0"}),
        (ev.ConfigChanged(1, 0, 0, "broker", "2", "k", "v"), {"broker.2"}),
        (ev.ProduceSent(1, 0, 0, "p1", "t-0", 1, [], ["v"], 1), {"t-0", "producer.p1"}),
        (ev.ConsumeFinished(1, 0, 0, "c1", "t-0", 1, "NONE"), {"t-0", "consumer.c1"}),
        (ev.InvariantViolated(1, 0, 0, "name", "", "detail", False), set()),
        (ev.LeaderElected(1, 0, 0, "t-0", 1, -1, 0, [], "New"), {"t-0", "broker.1"}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Event) else "",
)
def test_an_event_touches_what_it_names(event: Event, names: set[str]) -> None:
    assert objects_of(event) == names


def test_a_search_finds_what_an_event_touches_and_nothing_else() -> None:
    story = story_events()
    names = set().union(*map(objects_of, story[-500:]), {"", "broker.-1", "orders-99"})
    for event in story:
        touched = objects_of(event)
        for name in (*touched, *names):
            assert touches(event, {name}) == (name in touched), (event, name)
        assert touches(event, names) == bool(touched & names)


def test_a_group_touches_what_its_events_touch() -> None:
    groups: dict[type[Event], list[Event]] = {}
    for event in story_events():
        groups.setdefault(type(event), []).append(event)
    for kind, group in groups.items():
        assert objects_of_all(kind, group) == set().union(*map(objects_of, group))


def test_a_broker_may_be_selected_by_its_number() -> None:
    assert object_name(2) == object_name("broker.2") == "broker.2"
    assert object_name("orders-0") == "orders-0"
