from console.model.records import offset_of, places_of, record_at
from console.model.workspace import Stage
from console.render.lines import text_of
from console.render.record import concerns, story_rows
from emulator.events import Event, LogTruncated, RecordsAppended, RecordsConsumed
from sessions.model.states import ReplicaState, Run
from tests.console.fakes import ListSource, failover

TP = "orders-0"


def stage() -> Stage:
    made = Stage(ListSource(failover()))
    made.follow()
    return made


def record() -> int:
    partition = stage().view.state.partitions[TP]
    found = record_at(partition.replica_states[2], 4)
    assert found is not None
    return found


def told(events: list[Event], record_id: int) -> list[str]:
    made = stage()
    partition = made.view.state.partitions[TP]
    return [text_of(row.line) for row in story_rows(made, partition, record_id, events)]


def test_a_record_is_found_by_offset_and_an_offset_by_record() -> None:
    replica = ReplicaState(1, log=[Run(0, 3, 0, 100), Run(3, 2, 1, 200)])
    assert record_at(replica, 4) == 201
    assert offset_of(replica, 201) == 4
    assert record_at(replica, 5) is None
    assert offset_of(replica, 103) is None


def test_the_events_about_a_record_are_those_that_carry_move_or_truncate_it() -> None:
    places: set[int] = set()
    append = RecordsAppended(1, 1, 0, "t-0", 1, 10, 5, 0, 100)
    assert concerns(append, 102, places)
    assert places == {12}
    assert not concerns(append, 105, places)
    assert concerns(LogTruncated(2, 2, 0, "t-0", 1, 12, 15, "follow"), 102, places)
    assert not concerns(LogTruncated(2, 2, 0, "t-0", 1, 13, 15, "follow"), 102, places)
    assert concerns(RecordsConsumed(3, 3, 0, "c1", "t-0", 10, [(100, 3)], 13), 102, places)


def test_the_story_says_what_it_is_and_where_its_copies_are() -> None:
    events = [event for event in failover() if getattr(event, "tp", "") == TP]
    mine = [event for event in events if concerns(event, record(), {4})]
    text = "\n".join(told(mine, record()))
    assert "value       m4" in text
    assert "sent by     p1" in text
    assert "acknowledged" in text
    assert text.count("offset 4  epoch 0  below its HW") >= 2
    assert "written 00:00:00.0" in text


def test_a_copy_that_was_cut_off_says_when() -> None:
    made = stage()
    partition = made.view.state.partitions[TP]
    replica = partition.replica_states[3]
    cut = LogTruncated(168, 5_000_000, 0, TP, 3, 2, 10, "epoch")
    wrote = RecordsAppended(80, 4_000, 0, TP, 3, 0, 10, 0, record() - 4)
    replica.log, replica.log_end_offset = [Run(0, 2, 0, record() - 4)], 2
    rows = story_rows(made, partition, record(), [wrote, cut])
    line = next(row for row in rows if "had it until" in text_of(row.line))
    assert "00:00:05.000: truncated" in text_of(line.line)
    assert line.link is not None
    assert line.link.name == "168"


def test_another_record_at_its_offset_is_named() -> None:
    made = stage()
    partition = made.view.state.partitions[TP]
    partition.replica_states[3].log = [Run(0, 10, 1, 1)]
    rows = story_rows(made, partition, record(), [])
    assert any("holds another record at offset 4" in text_of(row.line) for row in rows)
    assert places_of(partition, record()) == {4}


def test_a_record_that_nobody_has_sent_yet_says_so() -> None:
    source = ListSource(failover(), at=5)
    rows = story_rows(Stage(source), None, 72_004, [])
    assert "has not been produced yet" in text_of(rows[0].line)
