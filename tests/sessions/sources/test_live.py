"""A live cluster as a source: it runs at its end, and its past can be walked at once."""

from collections.abc import Iterator, Sequence
from copy import deepcopy

import pytest

from emulator.cluster import Cluster
from emulator.events import InputFinished
from emulator.inputs.statements import CrashBroker, CreateTopic, Mark, Produce, WaitUntil
from emulator.scenario.runner import Runner
from sessions.model.cluster_view import ClusterView
from sessions.playback.cursor import Reply
from sessions.playback.verify import verify
from sessions.recording.recorder import Recorder
from sessions.sources.live import LinePart, LiveSource
from sessions.sources.source import Source
from tests.sessions.examples import (
    SPEC,
    comparable,
    folded,
    origin,
    second,
    small_chunks,
    statement,
)

LINES: dict[str, Sequence[LinePart]] = {
    "topic": [statement(CreateTopic(topic="t", partitions=3, replication_factor=3))],
    "produce": [statement(Produce(topic="t", value="v", count=30, acks=-1))],
    "crash": [statement(CrashBroker(broker=1))],
    "mark": [statement(Mark(name="here"))],
    "wait": [statement(second(1)), statement(Mark(name="after the wait"))],
    "never": [statement(WaitUntil(clauses=[], within_us=1))],
    "show": [lambda view: Reply(output=f"{len(view.partitions)} partitions")],
    "wrong and right": [Reply("INVALID", "the first is wrong"), statement(Mark(name="right"))],
}


def parse(text: str) -> Sequence[LinePart]:
    if text not in LINES:
        raise ValueError(f"there is no statement '{text}'")
    return LINES[text]


@pytest.fixture
def source() -> Iterator[LiveSource]:
    with small_chunks():
        recorder = Recorder(None, origin())
        runner = Runner(Cluster(SPEC, (recorder,)))
        recorder.follow(runner)
        source = LiveSource(runner, recorder, parse)
        yield source
        source.close()
        recorder.close()


def busy(source: LiveSource) -> LiveSource:
    """Some seconds in which records are written and a broker dies."""
    for line in ("topic", "mark", "crash", "produce"):
        source.submit(line)
        for _ in range(20):
            source.advance(0.1, 1.0, 1_000)
    return source


def all_of(source: LiveSource) -> ClusterView:
    return folded(list(source.events(1, source.last_seq)))


def test_a_live_cluster_is_a_source_at_its_end(source: LiveSource) -> None:
    as_source: Source = source
    assert (as_source.kind, as_source.read_only, as_source.at_tail) == ("LIVE", False, True)
    assert source.seq == source.last_seq == source.cluster.sequence
    assert source.time_us == source.last_time_us == source.cluster.now_us


def test_playing_runs_the_cluster_for_the_time_of_the_frame(source: LiveSource) -> None:
    before_us, before = source.time_us, source.seq
    passed = source.advance(0.5, 8.0, 1_000)
    assert source.time_us == before_us + 4_000_000
    assert source.seq == before + passed


def test_the_view_at_the_end_is_the_fold_of_all_events(source: LiveSource) -> None:
    busy(source)
    assert comparable(source.view) == comparable(all_of(source))


def test_events_are_found_when_the_last_chunk_is_just_full(source: LiveSource) -> None:
    busy(source)
    while source.last_seq % 64:
        source.step(1)
    assert len(source.events(1, source.last_seq)) == source.last_seq


def test_a_cluster_held_still_is_walked_backwards_at_once(source: LiveSource) -> None:
    busy(source)
    events = list(source.events(1, source.last_seq))
    for _ in range(5):
        source.step(-1)
    assert source.seq == len(events) - 5
    assert not source.at_tail
    assert comparable(source.view) == comparable(folded(events[:-5]))
    source.seek_seq(40)
    assert comparable(source.view) == comparable(folded(events[:40]))
    source.seek_time(events[200].time_us)
    assert source.time_us == events[200].time_us


def test_the_watches_of_any_moment_are_those_that_there_were(source: LiveSource) -> None:
    source.submit("topic")
    source.advance(1.0, 1.0, 1_000)
    seq, watches = source.last_seq, deepcopy(source.watches(source.last_seq, print))
    source.submit("crash")
    source.advance(20.0, 1.0, 10_000)
    source.flush()
    seen: list[int] = []
    assert source.watches(seq, lambda event: seen.append(event.seq)) == watches
    assert (seen[0], seq in seen) == (1, True)
    assert source.watches(source.last_seq, print) != watches


def test_while_the_past_is_played_the_cluster_stands_still(source: LiveSource) -> None:
    busy(source)
    last = source.last_seq
    source.seek_seq(last - 50)
    source.advance(0.000_001, 1.0, 100)
    assert source.last_seq == last
    for _ in range(100):
        source.advance(1.0, 1.0, 1_000)
        if source.at_tail:
            break
    assert (source.at_tail, source.last_seq) == (True, last)


def test_a_step_at_the_end_is_one_event_further(source: LiveSource) -> None:
    for _ in range(12):
        before = source.seq
        source.step(1)
        assert source.seq == before + 1
    assert comparable(source.view) == comparable(folded(list(source.events(1, source.seq))))


def test_a_statement_brings_the_cursor_to_the_end(source: LiveSource) -> None:
    source.seek_seq(10)
    reply = source.submit("mark")
    assert (reply.error, source.at_tail) == ("NONE", True)
    assert [mark.name for mark in source.bookmarks()] == ["here"]


def test_a_statement_that_takes_time_answers_later(source: LiveSource) -> None:
    source.submit("topic")
    assert source.submit("wait").pending
    assert source.replies() == []
    source.advance(0.5, 1.0, 1_000)
    assert source.replies() == []
    source.advance(0.6, 1.0, 1_000)
    assert source.replies() == [("wait", Reply())]
    assert source.replies() == []


def test_the_statements_of_a_line_follow_each_other_without_delay(source: LiveSource) -> None:
    source.submit("wait")
    begun_us = source.time_us
    source.advance(3.0, 1.0, 1_000)
    mark = source.bookmarks()[0]
    assert (mark.name, mark.time_us) == ("after the wait", begun_us + 1_000_000)
    assert source.time_us == begun_us + 3_000_000


def test_lines_that_are_wrong_do_nothing(source: LiveSource) -> None:
    before = source.seq
    assert source.submit("nonsense") == Reply("INVALID", "there is no statement 'nonsense'")
    assert source.seq == before


def test_a_line_answers_with_its_first_error_and_goes_on(source: LiveSource) -> None:
    assert source.submit("wrong and right") == Reply("INVALID", "the first is wrong")
    assert [mark.name for mark in source.bookmarks()] == ["right"]


def test_a_look_at_the_view_answers_at_once(source: LiveSource) -> None:
    source.submit("topic")
    assert source.submit("show") == Reply(output="3 partitions")


def test_counts_are_known_from_the_first_to_the_last(source: LiveSource) -> None:
    busy(source)
    samples = source.samples()
    assert [seq for seq, *_ in samples] == sorted({seq for seq, *_ in samples})
    assert samples[-1][2] == source.view.counts()
    assert max(counts.under_replicated for _, _, counts in samples) > 0


def test_what_was_driven_live_is_verified_like_a_script(source: LiveSource) -> None:
    busy(source)
    source.submit("wait")
    for _ in range(7):
        source.advance(0.037, 3.0, 1_000)
    source.recorder.flush()
    found = verify(source.recorder.path)
    assert found.same, str(found)
    assert found.events == source.last_seq


def test_a_touching_event_is_found_in_the_past_and_in_what_is_not_written_yet(
    source: LiveSource,
) -> None:
    busy(source)
    source.submit("mark")
    finished = [e.seq for e in source.events(1, source.last_seq) if isinstance(e, InputFinished)]
    crashed = source.touching(["broker.1"], source.last_seq + 1, -1)
    assert crashed is not None
    assert source.touching([1], 0, 1) is not None
    assert crashed <= finished[-1]
