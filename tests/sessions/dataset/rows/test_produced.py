"""What became of records, whatever happens to logs and leaders."""

from hypothesis import given

from emulator.events import Event, ProduceSent
from sessions.dataset.rows.produced import RecordFold
from sessions.dataset.tables import PRODUCED
from sessions.dataset.writer import Row as Run
from tests.sessions.dataset.reading import made_of_runs
from tests.sessions.dataset.reference import Row, expected_produced
from tests.sessions.dataset.streams import Story, committed_story, stories

TP = "orders-0"


def folded(events: list[Event]) -> list[Row]:
    """The rows of ``produced``, by record."""
    found: list[Run] = []
    fold = RecordFold(found.append)
    handlers = fold.handlers()
    for event in events:
        if handler := handlers.get(type(event)):
            handler(event)
    fold.finish()
    rows: list[Row] = made_of_runs(PRODUCED, found)
    return sorted(rows, key=lambda row: row["record"])


@given(stories())
def test_it_agrees_with_following_each_record(story: Story) -> None:
    assert folded(story.events) == expected_produced(story.events)


def test_a_record_is_committed_when_its_leaders_high_watermark_passes_it() -> None:
    rows = folded(committed_story().events)
    assert [row["committed_us"] - row["sent_us"] for row in rows] == [300] * 3
    assert [row["answered_us"] - row["sent_us"] for row in rows] == [400] * 3
    assert [row["offset"] for row in rows] == [0, 1, 2]


def test_a_record_that_a_new_leader_has_is_committed_by_it() -> None:
    story = Story()
    batch = story.send(TP, 2, acks=1)
    story.append(batch)
    story.acknowledge(batch)
    for broker in (1, 2):
        story.fetch(TP, broker, 1)
    story.fetch(TP, 1)
    story.elect(TP, 1)
    story.wait(700)
    story.fetch(TP, 0)
    story.fetch(TP, 2)
    rows = folded(story.events)
    assert [row["committed_us"] for row in rows] == [0, 700]


def test_a_record_that_was_truncated_is_never_committed() -> None:
    story = Story()
    lost = story.send(TP, 1, acks=1)
    story.append(lost)
    story.acknowledge(lost)
    story.elect(TP, 1)
    kept = story.send(TP, 1)
    story.append(kept)
    for broker in (0, 2):
        story.fetch(TP, broker)
    rows = folded(story.events)
    assert [row["outcome"] for row in rows] == ["acked", "pending"]
    assert [row["committed_seq"] is None for row in rows] == [True, False]
    assert [row["offset"] for row in rows] == [0, 0]


def test_a_record_handed_to_the_network_has_the_offset_that_a_leader_gave_it() -> None:
    story = committed_story()
    batch = story.send(TP, 2, acks=0)
    story.acknowledge(batch)
    story.append(batch)
    assert [row["offset"] for row in folded(story.events)] == [0, 1, 2, 3, 4]


def test_keys_belong_to_their_records() -> None:
    story = Story()
    story.send(TP, 1)
    story.send(TP, 2, keys=True)
    assert [row["key"] for row in folded(story.events)] == [None, "k2", "k3"]


def test_batches_that_are_done_with_are_forgotten() -> None:
    story = Story()
    for _ in range(50):
        batch = story.send(TP, 3)
        story.append(batch)
        for broker in (1, 2):
            story.fetch(TP, broker)
        story.acknowledge(batch)
        for broker in (1, 2):
            story.respond(TP, broker)
    found: list[Run] = []
    fold = RecordFold(found.append)
    handlers = fold.handlers()
    for event in story.events:
        if handler := handlers.get(type(event)):
            handler(event)
    sent = sum(isinstance(event, ProduceSent) for event in story.events)
    assert len(found) == sent
    assert not fold._open
    assert not any(log.runs or log.passed for log in fold._logs.values())
