import pytest

from console.model.links import Link
from console.model.workspace import Stage
from console.render.lines import text_of, width_of
from console.render.over_time import Strips
from console.render.rows import Row
from console.render.topics import Topics
from console.styles.glyphs import ASCII
from tests.console.fakes import ListSource, failover

WIDTH = 60


def rows_at(seq: int | None = None, height: int = 0, width: int = WIDTH) -> list[Row]:
    stage = Stage(ListSource(failover(), at=seq), glyphs=ASCII)
    stage.follow()
    stage.timeline.read_on(60_000)
    topics = Topics()
    topics.follow(stage, ())
    strips = Strips(stage, topics.severities, width)
    assert strips.height == len(strips.rows(list(topics.severities), strips.height))
    return strips.rows(list(topics.severities), height or strips.height)


def texts(rows: list[Row]) -> dict[str, str]:
    """Figure and strip by label; the strip as long as it is."""
    lines = [text_of(row.line) for row in rows]
    return {each[:20].strip(): each[20:] for each in lines}


def test_each_second_shows_its_worst_state_and_new_leaders_by_their_number() -> None:
    said = texts(rows_at())
    assert said["broker 1"].split() == ["crashed", "xxxxxxx"]
    assert said["broker 3"].split() == ["up", "-------"]
    assert said["controller"].split() == ["broker", "2", "1-----2"]
    assert said["orders"].endswith("XXXXXXx")
    assert "leader" in said["orders-0"]


def test_strips_are_a_function_of_the_time_cursor() -> None:
    before = texts(rows_at(100))
    assert before["broker 1"].strip().startswith("up")
    assert "x" not in before["orders"]


def test_without_room_partitions_stand_as_signs_beside_their_topic() -> None:
    least = texts(rows_at(height=14))
    assert "orders-0" not in least
    assert "      6" in least["orders"]
    assert "records lost" in least


def test_rows_lead_to_what_they_are_of() -> None:
    links = {row.key: row.link for row in rows_at()}
    assert links["orders-3"] == Link("partition", "orders-3")
    assert links[("broker", 2)] == Link("broker", "2")
    assert links["controller"] == Link("broker", "2")
    assert links["lost"] == Link("lost", "")


@pytest.mark.parametrize("width", [45, 60, 120, 200])
def test_rows_fit_their_pane(width: int) -> None:
    assert all(width_of(row.line) <= width for row in rows_at(width=width))


def test_lines_that_are_left_are_graphs_with_scales() -> None:
    rows = [text_of(row.line) for row in rows_at(height=26, width=80)]
    at = next(i for i, row in enumerate(rows) if row.startswith(" acknowledged/s"))
    assert rows[at].split()[1:3] == ["max", "200"]
    assert rows[at + 1].split()[:2] == ["now", "0"]
    assert rows[at + 3].split()[0] == "0"
    assert rows[at + 4].startswith(" lag, worst")
    assert len(rows) <= 26
