import pytest

from console.render.lines import text_of
from console.styles.glyphs import ASCII
from console.widgets.heat_grid import CELL_MAX, LABEL_WIDTH, HeatView, sign
from tests.console.driving import console
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


async def test_partitions_take_the_room_there_is_so_that_topics_have_their_names() -> None:
    async with console(ListSource(failover()), "3", size=(80, 24)) as driven:
        grid = driven.screen.query_one(HeatView)
        assert grid.cell == CELL_MAX
        assert "orders" in text_of(grid.draw_fixed()[0])
        signs = text_of(grid.draw(1))[LABEL_WIDTH:]
        assert [signs[place] for place in range(0, len(signs), CELL_MAX)] == signs.split()
        assert len(signs.split()) == 6


async def test_many_partitions_take_a_column_each() -> None:
    async with console(ListSource(failover(partitions=90)), "3", size=(80, 24)) as driven:
        grid = driven.screen.query_one(HeatView)
        assert grid.cell == 1
        assert len(grid.shown()) == grid.room == grid.columns - LABEL_WIDTH


async def test_replicas_of_a_frozen_broker_are_drawn_as_such() -> None:
    async with console(ListSource(failover()), "3", size=(80, 24)) as driven:
        grid = driven.screen.query_one(HeatView)
        grid.stage.view.state.brokers[2].state = "frozen"
        marks = set(text_of(grid.draw(1))[LABEL_WIDTH:].split())
        assert marks == {grid.stage.glyphs.stalled, grid.stage.glyphs.no_record}
        assert f"{grid.stage.glyphs.stalled} frozen" in grid.legend()
