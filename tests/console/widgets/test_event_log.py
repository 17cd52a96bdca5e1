from console.model.workspace import Stage
from console.render.lines import text_of, width_of
from console.styles.glyphs import ASCII
from console.widgets.event_log import EventView, event_line
from tests.console.driving import console
from tests.console.fakes import ListSource, failover


def test_an_event_is_a_line_with_its_cause() -> None:
    stage = Stage(ListSource(failover()), glyphs=ASCII)
    line = text_of(event_line(stage.source.events(128, 128)[0], stage, 80, here=True))
    assert line.startswith(">00:00.128      128 BROKER broker 1 crashed ")
    assert line.endswith("<- 127 ")
    assert len(line) == 80


def test_a_narrow_log_leaves_the_cause_out() -> None:
    stage = Stage(ListSource(failover()), glyphs=ASCII)
    line = event_line(stage.source.events(128, 128)[0], stage, 40)
    assert width_of(line) <= 40
    assert "<-" not in text_of(line)


async def test_a_search_shows_its_first_finds_at_once_and_goes_on() -> None:
    async with console(None, "2") as driven:
        log = driven.screen.query_one("#log", EventView)
        assert log.log_.complete
        assert not driven.screen.is_busy()
        assert log.count() > 5


async def test_what_is_read_stays_in_place_while_older_lines_are_found() -> None:
    async with console(None, "5", "g") as driven:
        log = driven.screen.query_one("#log", EventView)
        top = log.log_.seq_at(log.top)
        log.follow()
        assert log.log_.seq_at(log.top) == top
