import re

from msgspec.structs import replace

from console.model.workspace import Moment, Stage
from console.render.lines import text_of, width_of
from console.render.time_bar import Bar, TimeBar, bar_spans, bars_of, worst_of
from console.styles.glyphs import ASCII
from sessions.model.health import Counts
from tests.console.driving import console
from tests.console.fakes import ListSource, failover

UP = Counts(brokers_up=3, brokers=3, partitions=3)


def stage_at(seq: int | None = None) -> Stage:
    return Stage(ListSource(failover(min_isr=1), at=seq), glyphs=ASCII)


def test_the_bar_shows_how_bad_it_was_when() -> None:
    bars, marks = (text_of(line) for line in TimeBar().lines(stage_at(), 64))
    assert len(bars) <= 64
    assert bars == " worst _X" + "#" * 53 + "x"
    assert marks.startswith("       00:00.000")
    assert marks.rstrip().endswith("^")


def test_the_cursor_stands_where_it_is_in_time() -> None:
    source = ListSource(failover())
    source.seek_time(source.last_time_us // 2)
    marks = text_of(TimeBar().lines(Stage(source, glyphs=ASCII), 106)[1])
    assert marks.index("^") == 7 + 49


def test_bookmarks_have_their_names_where_there_is_room() -> None:
    wide, narrow = (text_of(TimeBar().lines(stage_at(), width)[1]) for width in (2_000, 80))
    assert "!b1" in wide
    assert "!b1" not in narrow


def test_a_bookmark_beside_a_clock_leaves_a_blank() -> None:
    stage = stage_at()
    end_us = stage.source.last_time_us
    for column in (9, 10):
        source = ListSource(failover(min_isr=1))
        mark = source.put_bookmark("here", seq=1)
        source.by_hand[1] = replace(mark, time_us=(column * end_us + end_us // 2) // 99)
        marks = text_of(TimeBar().lines(Stage(source, glyphs=ASCII), 107)[1])
        assert "00:00.000 !here " in marks


def test_the_letter_of_a_moment_and_the_cursor_stand_beside_the_times() -> None:
    stage = stage_at(1)
    marks = text_of(TimeBar().lines(stage, 106)[1])
    assert marks.startswith(f"{'':7}^00:00.000 ")
    stage.mark_a = Moment(1, stage.source.last_time_us * 97 // 100, stage.view)
    marks = text_of(TimeBar().lines(stage, 106)[1])
    assert re.search(r" \d\d:\d\d\.\d{3}A", marks)


def test_a_column_takes_the_role_of_its_worst() -> None:
    calm = Counts(partitions=3)
    assert worst_of([]).height is None
    assert worst_of([calm]).role == "faint"
    assert worst_of([calm, Counts(at_min_isr=2, under_replicated=2)]).role == "warning"
    bar = worst_of([Counts(at_min_isr=2, under_replicated=2), Counts(offline=1)])
    assert (bar.role, bar.height) == ("error", 1)
    assert worst_of([replace(UP, trouble=4)]).words == "QUORUM LOST"
    assert worst_of([replace(UP, blocked=2), UP]) == Bar(2, "error", "waiting", "WRITES BLOCKED")


def test_the_sign_of_a_verdict_stands_where_it_begins() -> None:
    bars = [Bar(0, "faint"), *[Bar(2, "error", "offline")] * 3]
    spans = bar_spans(bars, "_#", ASCII)
    assert [(span.text, span.role) for span in spans] == [("_", "faint"), ("x##", "error")]


def test_the_time_bar_says_the_verdict_in_words() -> None:
    marks = text_of(TimeBar().lines(stage_at(), 106)[1])
    assert marks.startswith(f"{'':7}00:00.000 WRITES BLOCKED ")


def test_brokers_that_start_with_their_cluster_are_no_fault() -> None:
    starting, up = replace(UP, brokers_up=1), replace(UP, partitions=2)
    samples = [(1, 0, replace(starting, partitions=0)), (2, 50, up), (3, 90, starting)]
    assert [bar.glyph for bar in bars_of(samples, 10, 100)] == [*[""] * 8, "down", "down"]


def test_every_column_is_filled() -> None:
    stage = stage_at()
    assert len(bars_of(stage.source.samples(), 77, stage.source.last_time_us)) == 77
    assert all(width_of(line) <= 80 for line in TimeBar().lines(stage, 80))


async def test_a_click_on_the_time_bar_goes_there() -> None:
    async with console() as driven:
        await driven.pilot.click("#time-bar", offset=(62, 0))
        await driven.settle()
        assert driven.source.seq == 134
        assert abs(driven.source.time_us - driven.source.last_time_us // 2) < 100_000


async def test_a_low_screen_has_the_bar_and_the_cursor_in_one_line() -> None:
    async with console(size=(80, 24)) as driven:
        assert driven.screen.time_bar.size.height == 1
        assert driven.lines()[-2].startswith(" worst ")
        assert driven.lines()[-2].endswith(driven.app.stage.glyphs.ascending)
