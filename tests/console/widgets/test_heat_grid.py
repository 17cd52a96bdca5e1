import pytest

from console.styles.glyphs import ASCII
from console.widgets.heat_grid import sign
from tests.console.fakes import ListSource, failover


@pytest.mark.parametrize(
    ("tp", "broker", "glyph"),
    [
        ("orders-0", 1, ASCII.offline),
        ("orders-0", 2, ASCII.up),
        ("orders-0", 3, ASCII.in_sync),
        ("orders-5", 2, ASCII.no_record),
    ],
)
def test_a_sign_says_what_a_broker_is_to_a_partition(tp: str, broker: int, glyph: str) -> None:
    partition = ListSource(failover()).view.state.partitions[tp]
    assert sign(partition, broker, ASCII)[0] == glyph


def test_a_replica_out_of_the_isr_is_marked() -> None:
    partition = ListSource(failover()).view.state.partitions["orders-1"]
    partition.isr = [2]
    assert sign(partition, 3, ASCII) == (ASCII.under_replicated, "warning")
