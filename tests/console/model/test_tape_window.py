from console.model.tape_window import foreign_offsets, records_in, window_of
from sessions.model.states import PartitionState, ReplicaState, Run


def replica(broker: int, *log: Run) -> ReplicaState:
    return ReplicaState(broker, log_end_offset=sum(run.count for run in log), log=list(log))


def partition(*replicas: ReplicaState) -> PartitionState:
    return PartitionState("t", 0, [1, 2], replica_states={r.broker: r for r in replicas})


def test_long_logs_show_their_newest_offsets_and_can_be_panned() -> None:
    long = partition(replica(1, Run(0, 1_000, 0, 0)))
    assert (window_of(long, 41).first, window_of(long, 41).end) == (980, 1_000)
    assert (window_of(long, 41, pan=100).first, window_of(long, 41, pan=100).end) == (880, 900)
    assert window_of(long, 41, pan=5_000).first == 0


def test_few_records_get_wider_cells() -> None:
    assert window_of(partition(replica(1, Run(0, 3, 0, 0))), 60).cell == 4
    assert window_of(partition(replica(1, Run(0, 3, 12, 0))), 60).cell == 5
    assert window_of(partition(replica(1, Run(0, 3, 0, 0))), 60, marks=True, text=6).cell == 10


def test_an_empty_partition_has_an_empty_window() -> None:
    assert list(window_of(partition(), 60).offsets) == []


def test_records_are_read_from_the_end_of_the_log() -> None:
    log = replica(1, *(Run(10 * n, 10, n, 1_000 * n) for n in range(100)))
    window = window_of(partition(log), 13)
    assert records_in(log, window) == {n: (99, 99_000 + n - 990) for n in window.offsets}


def test_records_that_another_replica_has_at_an_offset_are_foreign() -> None:
    leader = replica(1, Run(0, 4, 1, 100))
    other = replica(2, Run(0, 2, 1, 100), Run(2, 3, 0, 500))
    both = partition(leader, other)
    window = window_of(both, 60)
    assert foreign_offsets(both, window, records_in(leader, window)) == {1: set(), 2: {2, 3}}
