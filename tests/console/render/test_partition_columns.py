from console.model.partition_fields import high_watermark, lag, leader_number, spokesman
from console.model.severity import HEALTHY, RANKS
from console.render.columns import place, row_line
from console.render.lines import text_of
from console.render.partition_columns import columns
from console.styles.glyphs import ASCII
from sessions.model.states import PartitionState, ReplicaState

ONLINE = PartitionState(
    "orders",
    1,
    [1, 2],
    state="online",
    leader=1,
    leader_epoch=4,
    isr=[1],
    min_isr=2,
    replica_states={1: ReplicaState(1, "leader", 8_131, 8_100), 2: ReplicaState(2, "follower", 9)},
)
OFFLINE = PartitionState(
    "orders",
    2,
    [1, 2],
    state="offline",
    leader=-1,
    isr=[2],
    replica_states={2: ReplicaState(2, "offline", 50, 40), 1: ReplicaState(1, "offline", 90, 90)},
)


def cells(partition: PartitionState, severity: int, *, wide: bool = False) -> list[str]:
    table = columns(ASCII, {partition.name: severity}, lambda _: "ok")
    return text_of(row_line(place(table, 200, wide=wide), partition)).split()


def test_a_row_reads_like_the_table_in_the_design() -> None:
    row = ["v", "<MIN", "orders-1", "1", "4", "ok", "1,2", "1", "2", "2", "8,100", "8,131", "31"]
    assert cells(ONLINE, RANKS["under_min_isr"]) == row


def test_a_healthy_row_is_quiet() -> None:
    healthy = PartitionState("t", 0, [1], leader=1, leader_epoch=0, isr=[1], min_isr=1)
    assert cells(healthy, HEALTHY) == ["t-0", "1", "0", "ok", "1", "1", "1", "-", "-", "."]


def test_a_dead_leader_has_a_mark() -> None:
    assert cells(ONLINE, RANKS["leaderless"])[:4] == ["X", "DEAD", "orders-1", "X1"]


def test_the_wide_row_adds_isr_versions_and_losses() -> None:
    assert cells(ONLINE, 1, wide=True)[-6:] == ["[]", "-", "-", ".", ".", "."]


def test_an_offline_partition_speaks_through_its_isr() -> None:
    assert leader_number(OFFLINE) is None
    assert spokesman(OFFLINE) is OFFLINE.replica_states[2]
    assert (high_watermark(OFFLINE), lag(OFFLINE)) == (40, 10)


def test_every_column_can_be_sorted_by_for_every_partition() -> None:
    nowhere = PartitionState("t", 0, [1])
    for column in columns(ASCII, {}, lambda _: "ok"):
        if column.value is not None:
            values = [column.value(partition) for partition in (ONLINE, OFFLINE, nowhere)]
            assert len(sorted(values)) == 3
