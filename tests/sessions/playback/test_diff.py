"""Two sessions: where they part, and what differs there."""

from pathlib import Path

import msgspec

from emulator.cluster import Cluster
from emulator.events import InputFinished, ProduceSent, ReplicaRoleChanged
from emulator.inputs.statements import AnyInput, CrashBroker, CreateCluster, CreateTopic, Produce
from emulator.scenario.runner import Runner
from sessions.format.file import SessionFile
from sessions.playback.diff import Change, Comparison, compare, state_changes
from sessions.playback.trim import trim
from sessions.recording.recorder import Recorder
from tests.sessions.examples import SPEC, execute, folded, origin, second, statement, story_events

TOPIC = CreateTopic(topic="t", partitions=1, replication_factor=3)
SAME: tuple[AnyInput, ...] = (TOPIC, second(), Produce(topic="t", value="v", count=3, acks=-1))


def recorded(path: Path, story: tuple[AnyInput, ...], spec: CreateCluster = SPEC) -> Path:
    with Recorder(path, origin(path.stem, spec)) as recorder:
        runner = Runner(Cluster(spec, (recorder,)))
        recorder.follow(runner)
        for line, given in enumerate(story, start=2):
            recorder.announce(statement(given, line))
            execute(runner, given, line)
    return path


def compared(one: Path, other: Path) -> Comparison:
    with SessionFile(one) as first, SessionFile(other) as second:
        return compare(first, second)


def test_two_recordings_of_one_story_are_the_same(tmp_path: Path) -> None:
    one, other = (recorded(tmp_path / f"{name}.tide.db", SAME) for name in "ab")
    found = compared(one, other)
    assert found.same
    assert (found.difference, found.asked, found.state) == (None, [], [])
    with SessionFile(one) as session:
        assert found.events == session.last_seq


def test_the_first_event_that_differs_is_found_with_the_state_behind_it(tmp_path: Path) -> None:
    one = recorded(tmp_path / "a.tide.db", (*SAME, CrashBroker(broker=1), second()))
    other = recorded(tmp_path / "b.tide.db", (*SAME, CrashBroker(broker=2), second()))
    found = compared(one, other)
    assert not found.same
    assert found.difference is not None
    for event, broker in ((found.difference.recorded, 1), (found.difference.again, 2)):
        assert isinstance(event, ReplicaRoleChanged)
        assert (event.seq, event.broker) == (found.difference.seq, broker)
    assert Change("t-0@1.role", "offline", "follower") in found.state
    assert Change("t-0@2.role", "follower", "offline") in found.state
    with SessionFile(one) as session:
        events = list(session.all_events())
    assert events[found.difference.seq - 1] == found.difference.recorded


def test_what_was_asked_is_told_apart_and_is_not_the_first_difference(tmp_path: Path) -> None:
    acks = Produce(topic="t", value="v", count=3, acks=1)
    spec = msgspec.structs.replace(SPEC, racks=["a", "b", "a", "c"])
    one = recorded(tmp_path / "a.tide.db", SAME)
    other = recorded(tmp_path / "b.tide.db", (*SAME[:2], acks))
    third = recorded(tmp_path / "c.tide.db", SAME, spec)
    found = compared(one, other)
    assert found.difference is not None
    assert isinstance(found.difference.recorded, ProduceSent)
    assert compared(one, third).asked == [
        Change("racks", ["a", "b", "a", "b"], ["a", "b", "a", "c"])
    ]


def test_releases_are_compared_by_what_they_do_and_not_by_their_names(tmp_path: Path) -> None:
    older = msgspec.structs.replace(SPEC, version="3.5")
    one = recorded(tmp_path / "a.tide.db", SAME)
    other = recorded(tmp_path / "b.tide.db", SAME, older)
    found = compared(one, other)
    assert found.asked[0] == Change("version", "3.9", "3.5")
    assert not isinstance(getattr(found.difference, "recorded", None), InputFinished)
    assert {"version", "seed", "config"}.isdisjoint(change.name for change in found.state)


def test_a_session_that_ends_early_differs_in_the_event_that_it_lacks(tmp_path: Path) -> None:
    one = recorded(tmp_path / "a.tide.db", SAME)
    with SessionFile(one) as session:
        last = session.last_seq
        trim(session, tmp_path / "b.tide.db", 1, last - 10)
    found = compared(one, tmp_path / "b.tide.db")
    assert found.difference is not None
    assert (found.events, found.difference.seq) == (last - 10, last - 9)
    assert found.difference.again is None
    assert compared(tmp_path / "b.tide.db", one).difference == type(found.difference)(
        last - 9, None, found.difference.recorded
    )


def test_pieces_are_compared_where_they_meet(tmp_path: Path) -> None:
    one = recorded(tmp_path / "a.tide.db", SAME)
    with SessionFile(one) as session:
        last = session.last_seq
        trim(session, tmp_path / "b.tide.db", last - 50, last)
    found = compared(one, tmp_path / "b.tide.db")
    assert found.same
    assert found.events == 51


def test_values_that_differ_are_named_as_conditions_name_them() -> None:
    events = story_events()
    before, after = folded(events[:400]).state, folded(events[:900]).state
    names = {change.name for change in state_changes(before, after)}
    assert "orders-0@2.log_end_offset" in names
    assert "orders-0.isr" in names
    assert any(name.startswith("zk./brokers/topics") for name in names)
    assert "producer.p1.acked" in names
    assert state_changes(after, after) == []


def test_an_object_that_only_one_has_is_a_difference_as_a_whole() -> None:
    events = story_events()
    found = state_changes(folded(events[:100]).state, folded(events[:900]).state)
    (orders,) = (change for change in found if change.name == "producer.p1")
    assert orders.first is None
    assert isinstance(orders.second, dict)
    assert orders.second["name"] == "p1"
    assert orders.second["acked"] >= 5
