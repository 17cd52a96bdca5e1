from console.model.workspace import Stage
from console.widgets.tapes import TapeView
from tests.console.fakes import ListSource, failover

TP = "orders-1"


def tapes(at: int | None = None, tp: str = TP) -> TapeView:
    stage = Stage(ListSource(failover(), at=at))
    stage.follow()
    return TapeView(stage, tp)


def test_the_cursor_begins_at_the_end_of_the_leaders_tape() -> None:
    view = tapes()
    assert view.partition is not None
    leader = view.partition.leader_replica
    assert leader is not None
    assert view.place() == (leader.broker, leader.log_end_offset - 1)


def test_it_goes_no_further_than_there_are_records() -> None:
    view = tapes()
    view.action_move_first()
    view.action_move_left()
    assert view.place() == (view.tapes()[0], 0)
    for _ in range(9):
        view.action_move_page_down()
    place = view.place()
    assert place is not None
    assert view.partition is not None
    longest = max(r.log_end_offset for r in view.partition.replica_states.values())
    assert place[1] == longest - 1


def test_the_end_is_followed_until_one_goes_sideways() -> None:
    view = tapes(at=60)
    view.stage.source.seek_seq(170)
    assert view.place() == tapes().place()
    view.action_move_left()
    stayed = view.place()
    view.action_move_last()
    assert view.place() != stayed


def test_the_record_under_the_cursor_is_the_replicas_else_the_leaders() -> None:
    view = tapes()
    assert view.partition is not None
    short = min(view.partition.replica_states.values(), key=lambda r: r.log_end_offset)
    record = view.record_id()
    assert record is not None
    assert view.cell_text() == view.stage.view.value(record)
    view.broker = short.broker
    assert view.record_id() is not None
    assert '"topic":"orders"' in view.row_text()


def test_of_a_partition_that_does_not_exist_there_is_no_cursor() -> None:
    view = tapes(at=3)
    assert view.place() is None
    assert view.record_id() is None
    assert view.replica() is None
    assert view.cell_text() == view.row_text() == ""
    for move in (
        view.action_move_left,
        view.action_move_first,
        view.action_move_up,
        view.action_move_last,
    ):
        move()
