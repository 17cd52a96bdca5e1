from collections import defaultdict

from console.model.severity import RANKS
from console.model.timeline import GONE, Rate, Timeline, Track
from emulator import events
from sessions.model.cluster_view import ClusterView
from sessions.text import US_PER_SECOND
from tests.console.fakes import ListSource, Script, failover

FOREVER_MS = 60_000


def read(source: ListSource) -> Timeline:
    timeline = Timeline(source)
    timeline.read_on(FOREVER_MS)
    assert not timeline.is_behind
    return timeline


def test_a_track_knows_every_value_that_there_was() -> None:
    track = Track()
    for time_us, value in ((10, 1), (20, 1), (30, 2), (30, 3)):
        track.put(time_us, value)
    assert [track.at(time_us) for time_us in (9, 10, 29, 30)] == [None, 1, 1, 3]
    assert track.during(15, 40) == [1, 2, 3]
    assert track.changes(15, 40) == [2, 3]
    assert track.changes(0, 29) == [], "the first value is no change"
    assert track.is_steady(10, 29)
    assert not track.is_steady(5, 29)
    assert not track.is_steady(10, 30)


def test_a_rate_of_the_cursors_second_ends_at_the_cursor() -> None:
    records, longest = Rate(sum), Rate(max)
    for rate in (records, longest):
        for time_us, figure in ((1_100_000, 4), (1_900_000, 2), (2_000_000, 7)):
            rate.add(time_us, figure)
    assert [records.of(second, 9_000_000) for second in (0, 1, 2, 3)] == [0, 6, 7, 0]
    assert records.of(1, 1_500_000) == 4
    assert longest.of(1, 1_950_000) == 4


def test_strips_say_of_every_moment_what_the_read_model_says() -> None:
    history = failover()
    timeline = read(ListSource(history))
    view = ClusterView()
    for event, following in zip(history, [*history[1:], None], strict=True):
        view.apply(event)
        if following is not None and following.time_us == event.time_us:
            continue
        for tp, partition in view.partitions.items():
            status = next((name for name in view.statuses(partition) if name != "hw_stalled"), "")
            assert timeline.partitions[tp].at(event.time_us) == RANKS[status or "healthy"]
            leader = -1 if partition.leader is None else partition.leader
            assert timeline.leaders[tp].at(event.time_us) == leader
        by_topic = defaultdict(list)
        for tp, partition in view.partitions.items():
            by_topic[partition.topic].append(timeline.partitions[tp].at(event.time_us))
        for topic, ranks in by_topic.items():
            assert timeline.topics[topic].at(event.time_us) == min(ranks)
        for broker in view.state.brokers.values():
            known = timeline.brokers[broker.id].at(event.time_us)
            assert known == (broker.state if broker.changed > 1 else None), "until it starts"
        controller = view.state.controller.broker
        assert timeline.controller.at(event.time_us) == (-1 if controller is None else controller)


def test_rates_add_up_to_what_the_events_say() -> None:
    history = failover()
    timeline = read(ListSource(history))
    end_us = history[-1].time_us
    seconds = range(end_us // US_PER_SECOND + 1)

    def total(name: str) -> int:
        return sum(timeline.rates[name].of(second, end_us) for second in seconds)

    acknowledged = [e.count for e in history if isinstance(e, events.ProduceAcknowledged)]
    assert total("acknowledged") == sum(acknowledged) > 0
    assert total("elected") == sum(isinstance(e, events.LeaderElected) for e in history)


def test_a_record_is_lost_once() -> None:
    history = failover()
    at, time_us = len(history), history[-1].time_us

    def audit(n: int, lost: list[tuple[int, int]]) -> events.AuditChanged:
        when = time_us + n * US_PER_SECOND
        return events.AuditChanged(at + n, when, 0, "orders-0", lost, [], [], [])

    grown = [*history, audit(1, [(3, 7)]), audit(2, [(3, 7), (4, 8)]), audit(3, [(4, 8)])]
    timeline = read(ListSource(grown))
    now_us = time_us + 9 * US_PER_SECOND
    first = time_us // US_PER_SECOND + 1
    lost = [timeline.rates["lost"].of(second, now_us) for second in range(first, first + 3)]
    assert lost == [1, 1, 0]


def test_a_deleted_topic_is_gone_from_its_strip() -> None:
    history = failover()
    last = history[-1]
    numbers = range(6)
    gone: list[events.Event] = [events.TopicDeleted(last.seq + 1, last.time_us + 1, 0, "orders")]
    gone += [
        events.LogDeleted(last.seq + 2 + 3 * n + at, last.time_us + 1, 0, f"orders-{n}", broker)
        for n in numbers
        for at, broker in enumerate((1, 2, 3))
    ]
    timeline = read(ListSource([*history, *gone]))
    assert timeline.partitions["orders-0"].at(last.time_us) != GONE
    assert timeline.partitions["orders-0"].at(last.time_us + 1) == GONE
    assert timeline.topics["orders"].at(last.time_us + 1) == GONE


def test_the_past_is_read_within_a_budget() -> None:
    timeline = Timeline(ListSource(failover()))
    timeline.read_on(0)
    assert timeline.is_behind
    assert timeline.share_read == 0
    timeline.read_on(FOREVER_MS)
    assert timeline.share_read == 1


def test_in_kraft_the_leader_of_the_quorum_controls() -> None:
    script = Script()
    script.add(events.ClusterCreated, "3.9", 1, [0], [], {}, False)
    script.add(events.ControllerStateChanged, 100, "running")
    script.add(events.QuorumRoleChanged, 100, "leader", 1, 100)
    script.add(events.ControllerStateChanged, 100, "crashed")
    timeline = read(ListSource(script.events))
    assert [timeline.brokers[100].at(each.time_us) for each in script.events[1:]] == [
        "running",
        "running",
        "crashed",
    ]
    assert timeline.controller.during(0, script.time_us)[-2:] == [100, -1]
