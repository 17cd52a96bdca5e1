"""The files on a broker's disk, as the console shows them."""

from console.render.broker_files import LINES_SHOWN_MAX, file_lines
from console.render.lines import text_of
from sessions.model.states import BrokerState, PartitionState, ReplicaState, ViewState


def text(state: ViewState, broker: int) -> list[str]:
    return [text_of(row).rstrip() for row in file_lines(state, broker)]


def state_of(partitions: int) -> ViewState:
    replica = ReplicaState(1, epochs=[(0, 0), (1, 120)], checkpointed_hw=121, recovery_point=0)
    return ViewState(
        brokers={1: BrokerState(1), 2: BrokerState(2)},
        partitions={
            f"t-{number}": PartitionState("t", number, [1], replica_states={1: replica})
            for number in range(partitions)
        },
    )


def test_each_file_has_its_path_and_its_lines() -> None:
    assert text(state_of(1), 1)[1:] == [
        "FILES as they are on its disk",
        "  replication-offset-checkpoint",
        *("    0", "    1", "    t 0 121"),
        "  recovery-point-offset-checkpoint",
        *("    0", "    1", "    t 0 0"),
        "  t-0/leader-epoch-checkpoint",
        *("    0", "    2", "    0 0", "    1 120"),
    ]


def test_what_has_never_been_written_is_empty_and_a_controller_has_none() -> None:
    assert text(state_of(1), 2)[2:] == [
        *("  replication-offset-checkpoint", "    empty"),
        *("  recovery-point-offset-checkpoint", "    empty"),
    ]
    assert text(state_of(1), 100) == []


def test_long_files_are_cut_and_very_many_are_left_to_the_command() -> None:
    shown = text(state_of(20), 1)
    assert shown[LINES_SHOWN_MAX + 3] == "    and 10 more lines"
    assert text(state_of(501), 1)[2:] == ["  :show files 1 prints them"]
