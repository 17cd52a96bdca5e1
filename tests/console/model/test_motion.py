"""What moves on tapes, and for how long."""

from console.model.motion import GLIDE_S, VANISH_S, Motion
from sessions.model.states import PartitionState, ReplicaState, Run


def partition(hw: int, end: int) -> PartitionState:
    replica = ReplicaState(1, "leader", end, hw, log=[Run(0, end, 3, 100)])
    return PartitionState("t", 0, [1], leader=1, replica_states={1: replica})


def stepped(*places: tuple[int, int], is_step: bool = True, now_s: float | None = 10.0) -> Motion:
    """The motion after an HW and an end were drawn, one event after another."""
    motion = Motion()
    for seq, (hw, end) in enumerate(places, 1):
        motion.follow(partition(hw, end), seq, now_s, is_step=is_step)
    return motion


def test_a_high_watermark_glides_over_the_offsets_between() -> None:
    motion = stepped((2, 8), (8, 8))
    places = [motion.high_watermarks(10.0 + GLIDE_S * part / 4)[1] for part in range(5)]
    assert places == [2, 4, 5, 6, 8]
    motion.follow(partition(8, 8), 2, 10.0 + GLIDE_S, is_step=True)
    assert not motion.is_moving
    assert motion.high_watermarks(11.0) == {}


def test_a_high_watermark_glides_back_too() -> None:
    assert stepped((8, 8), (2, 8)).high_watermarks(10.0 + GLIDE_S / 2) == {1: 5}


def test_a_running_cursor_moves_high_watermarks_at_once() -> None:
    assert not stepped((2, 8), (8, 8), is_step=False).is_moving


def test_the_next_offset_needs_no_way() -> None:
    assert not stepped((2, 8), (3, 8)).is_moving


def test_truncated_records_vanish_from_the_end_of_the_log_also_while_time_runs() -> None:
    motion = stepped((2, 8), (2, 4), is_step=False)
    begun = motion.vanishing(10.0)[1]
    assert (begun.until, begun.end) == (8, 8)
    assert begun.records == {offset: (3, 100 + offset) for offset in range(4, 8)}
    assert motion.vanishing(10.0 + VANISH_S / 2)[1].until == 6
    motion.follow(partition(2, 4), 2, 10.0 + VANISH_S, is_step=False)
    assert not motion.is_moving


def test_a_step_back_before_records_were_written_truncates_nothing() -> None:
    motion = Motion()
    motion.follow(partition(2, 8), 2, 10.0, is_step=True)
    motion.follow(partition(2, 4), 1, 10.1, is_step=True)
    assert not motion.is_moving


def test_nothing_moves_where_nothing_is_to_move() -> None:
    motion = stepped((2, 8), (8, 4), now_s=None)
    assert not motion.is_moving
    assert not motion.high_watermarks(None)
    assert not motion.vanishing(None)


def test_what_begins_again_goes_on_from_what_was_drawn() -> None:
    motion = stepped((0, 8), (4, 8))
    motion.follow(partition(8, 8), 3, 10.0 + GLIDE_S / 2, is_step=True)
    assert motion.high_watermarks(10.0 + GLIDE_S / 2) == {1: 4}
