from console.model.motion import Vanishing
from console.model.tape_window import Window
from console.render.lines import Line, text_of, width_of
from console.render.tapes import LABEL_WIDTH, Drawing, epoch_cache_line, legend, tape_lines
from console.styles.glyphs import ASCII
from emulator.events import Event, LogTruncated
from sessions.model.states import PartitionState, ReplicaState, Run


def replica(broker: int, leo: int, hw: int, log: list[Run], role: str = "follower") -> ReplicaState:
    return ReplicaState(broker, role, leo, hw, log=log, epochs=[(0, 0), (1, 3)])


def partition(*replicas: ReplicaState, leader: int = 1) -> PartitionState:
    return PartitionState(
        "t",
        0,
        [replica.broker for replica in replicas],
        state="online",
        leader=leader,
        leader_epoch=1,
        isr=[leader],
        replica_states={replica.broker: replica for replica in replicas},
    )


def rows(lines: list[Line]) -> list[str]:
    return [text_of(line).rstrip() for line in lines]


LEADER = replica(1, 5, 3, [Run(0, 3, 0, 100), Run(3, 2, 1, 200)], "leader")


def narrow(*replicas: ReplicaState, event: Event | None = None) -> list[str]:
    return rows(tape_lines(partition(*replicas), 34, Drawing(ASCII, event)))


def test_a_tape_shows_epochs_and_the_high_watermark() -> None:
    (tape,) = narrow(LEADER)[1:]
    assert tape == "  1 * leader      0  0  0| 1  1"


def test_a_followers_own_high_watermark_lags_the_leaders() -> None:
    follower = replica(2, 5, 1, [Run(0, 3, 0, 100), Run(3, 2, 1, 200)])
    tape = narrow(LEADER, follower)[2]
    assert tape == "  2 * follow OSR  0| 0  0: 1  1"


def test_missing_records_are_dots_up_to_the_longest_log() -> None:
    behind = replica(2, 2, 2, [Run(0, 2, 0, 100)])
    assert narrow(LEADER, behind)[2] == "  2 * follow OSR  0  0| .: .  ."


def test_records_that_the_leader_does_not_have_are_marked() -> None:
    other = replica(2, 4, 3, [Run(0, 3, 0, 100), Run(3, 1, 0, 150)])
    assert narrow(LEADER, other)[2] == "  2 * follow OSR 0  0  0 |0! ."
    other = replica(2, 5, 3, [Run(0, 3, 0, 100), Run(3, 2, 0, 150)])
    assert narrow(LEADER, other)[2] == "  2 * follow OSR 0  0  0 |0! 0!"


def test_what_an_event_truncated_is_shown_for_that_step() -> None:
    cut = LogTruncated(9, 0, 0, "t-0", 2, 2, 4, "truncate to HW")
    short = replica(2, 2, 2, [Run(0, 2, 0, 100)])
    assert narrow(LEADER, short, event=cut)[2] == "  2 * follow OSR  0  0| x: x  ."
    elsewhere = LogTruncated(9, 0, 0, "t-1", 2, 2, 4, "truncate to HW")
    assert "x" not in narrow(LEADER, short, event=elsewhere)[2]


def test_what_was_cut_off_beyond_the_longest_log_has_its_place() -> None:
    cut = LogTruncated(9, 0, 0, "t-0", 2, 5, 7, "truncate to HW")
    short = replica(2, 5, 2, [Run(0, 5, 0, 100)])
    assert narrow(LEADER, short, event=cut)[2].endswith("x  x")


def test_records_vanish_from_the_end_while_the_high_watermark_glides() -> None:
    short = replica(2, 2, 2, [Run(0, 2, 0, 100)])
    vanishing = Vanishing({2: (0, 102), 3: (0, 103)}, until=3, end=4)
    drawing = Drawing(ASCII, gliding={2: 1}, vanishing={2: vanishing})
    assert rows(tape_lines(partition(LEADER, short), 34, drawing))[2].endswith("0| 0  0: x  .")


def test_a_crashed_replica_is_marked_in_words() -> None:
    down = replica(2, 3, 0, [Run(0, 3, 0, 100)], "offline")
    assert narrow(LEADER, down)[2] == "  2 x down   OSR| 0  0  0: .  ."


def test_records_of_old_formats_have_no_epoch() -> None:
    old = replica(1, 2, 2, [Run(0, 2, -1, 100)], "leader")
    assert narrow(old)[1] == "  1 * leader       o   o|"


def test_wide_tapes_have_figures() -> None:
    follower = replica(2, 3, 1, [Run(0, 3, 0, 100)])
    lines = rows(tape_lines(partition(LEADER, follower), 100, Drawing(ASCII)))
    assert lines[1].endswith("HW       3 LEO       5")
    assert lines[2].endswith("HW       1 LEO       3     -2")


def test_on_a_large_screen_the_leaders_memory_stands_beside_each_follower() -> None:
    leader = replica(1, 5, 3, [Run(0, 5, 0, 100)], "leader")
    leader.remote_leo = {2: 3, 3: -1}
    followers = [replica(2, 4, 3, [Run(0, 4, 0, 100)]), replica(3, 0, 0, [])]
    drawing = Drawing(ASCII, lag_of=lambda broker: f"{broker}.0s")
    lines = rows(tape_lines(partition(leader, *followers), 120, drawing))
    assert "REM" not in lines[1]
    assert lines[2].endswith("HW       3 LEO       4     -1 REM       3 level 2.0s")
    assert lines[3].endswith("HW       0 LEO       0     -5 REM       ? level 3.0s")


def test_values_can_be_shown_instead_of_epochs() -> None:
    drawing = Drawing(ASCII, value_of=lambda record_id: f"m{record_id}")
    tape = rows(tape_lines(partition(LEADER), 46, drawing))[1]
    assert tape == "  1 * leader     m100 m101 m102|m200 m201"
    hostile = Drawing(ASCII, value_of=lambda record_id: "\x1b[2Jvery long")
    assert rows(tape_lines(partition(LEADER), 80, hostile))[1].isprintable()


def test_the_ruler_names_offsets_above_their_cells() -> None:
    ruler, tape = narrow(LEADER)
    assert ruler[tape.index("0")] == "0"


def test_no_tape_is_wider_than_its_pane() -> None:
    long = replica(1, 5_000, 10, [Run(n, 1, n % 120, n) for n in range(5_000)], "leader")
    for width in (40, 80, 120):
        assert all(
            width_of(row) <= width for row in tape_lines(partition(long), width, Drawing(ASCII))
        )


def test_an_epoch_cache_stands_under_its_tape_each_epoch_where_it_starts() -> None:
    ruler, tape, caches = rows(tape_lines(partition(LEADER), 46, Drawing(ASCII, caches=True)))
    assert caches.split() == ["cache", "e0:0", "e1:3"]
    cell = range(caches.index("e1:3"), caches.index("e1:3") + 3)
    assert tape.index("1", 20) in cell
    assert ruler.rstrip().endswith("0")


def test_of_epochs_left_of_the_window_the_newest_stands_at_its_left_end() -> None:
    cache = replica(1, 50, 50, [Run(0, 50, 0, 100)], "leader")
    cache.epochs = [(0, 0), (3, 10), (7, 1_204), (9, 2_010)]
    window = Window(first=2_000, end=2_020, cell=2)
    shown = text_of(epoch_cache_line(cache, window))
    assert shown.split() == ["cache", "e7:1,204", "e9:2,010"]
    assert shown.index("e9") == LABEL_WIDTH + 21


def test_a_cache_that_is_empty_or_none_says_so() -> None:
    window = Window(first=0, end=9, cell=2)
    for epochs, words in (([], "empty"), (None, "none before 0.11")):
        old = replica(1, 0, 0, [])
        old.epochs = epochs
        assert text_of(epoch_cache_line(old, window)).endswith(words)


def test_the_cursor_is_a_cell_of_its_own_role() -> None:
    drawing = Drawing(ASCII, cursor=(1, 3))
    shown = [
        span for span in tape_lines(partition(LEADER), 46, drawing)[1] if "cursor" in span.role
    ]
    assert [span.text.strip() for span in shown] == ["1"]
    past_the_end = Drawing(ASCII, cursor=(2, 4))
    short = replica(2, 2, 2, [Run(0, 2, 0, 100)])
    roles = [span.role for span in tape_lines(partition(LEADER, short), 60, past_the_end)[2]]
    assert "cursor0" in roles


def test_the_legend_fits_a_small_screen() -> None:
    assert width_of(legend(ASCII, 80)) <= 80


def test_a_former_leader_and_a_frozen_one_are_called_so() -> None:
    zombie, frozen = replica(2, 3, 3, [], "leader"), replica(3, 3, 3, [], "leader")
    drawn = tape_lines(partition(LEADER, zombie, frozen), 34, Drawing(ASCII, frozen=[3]))
    shown = {row.split()[0]: row.split()[1:4] for row in rows(drawn)[1:]}
    assert shown["2"] == ["*", "former", "OSR"]
    assert shown["3"] == ["o", "frozen", "OSR"]
