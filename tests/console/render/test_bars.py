import pytest

from console.model.workspace import Stage
from console.render.bars import (
    footer_line,
    header_line,
    key_name,
    rule_line,
    source_name,
    tabs_line,
)
from console.render.lines import Line, text_of, width_of
from console.styles.glyphs import ASCII
from tests.console.fakes import ListSource, failover


def stage_of(kind: str = "REPLAY", at: int | None = None, *, paused: bool = True) -> Stage:
    stage = Stage(ListSource(failover(), kind, at=at), glyphs=ASCII, paused=paused)
    stage.follow()
    return stage


def role_of(line: Line, text: str) -> str:
    return next(span.role for span in line if text in span.text)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_seed_time_and_number_are_always_in_the_header(width: int) -> None:
    text = text_of(header_line(stage_of(), width))
    assert "seed 43" in text
    assert "00:00:06.169" in text
    assert "#170" in text
    assert "REPLAY ||" in text
    assert "READ-ONLY" in text
    assert len(text) <= width


@pytest.mark.parametrize(
    ("kind", "paused", "at", "word"),
    [
        ("LIVE", False, None, " LIVE > "),
        ("LIVE", True, None, " PAUSED || "),
        ("LIVE", False, 9, " REPLAY > "),
        ("REPLAY", True, 9, " REPLAY || "),
    ],
)
def test_how_time_goes_is_a_word(kind: str, paused: bool, at: int | None, word: str) -> None:
    line = header_line(stage_of(kind, at, paused=paused), 120)
    assert word in text_of(line)
    assert role_of(line, word) == f"mode-{word.split(maxsplit=1)[0].lower()}"


def test_counts_become_terse_where_there_is_little_room() -> None:
    assert "x offl 1" in text_of(header_line(stage_of(), 140))
    assert "brk 2/3  x1 X1 v1 =5 ^5" in text_of(header_line(stage_of(), 80))


def test_the_words_of_the_least_severe_counts_give_way_first() -> None:
    shown = {text_of(header_line(stage_of(), width)) for width in range(80, 141)}
    told = {text.partition("brk 2/3 ")[2].strip() for text in shown}
    assert "x offl 1  X dead 1  v1 =5 ^5" in told
    assert not any("=min" in text and "<min" not in text for text in told)


def test_the_end_of_what_exists_is_shown_while_behind() -> None:
    assert "#9/170" in text_of(header_line(stage_of(at=9), 140))


def test_the_tab_that_is_shown_is_set_off_and_long_trails_shorten_the_others() -> None:
    line = tabs_line(stage_of(), "brokers", "", 120)
    assert role_of(line, "3 Brokers") == "tab-here"
    narrow = text_of(tabs_line(stage_of(), "partitions", "a-rather-long-topic-12", 80))
    assert "2 Partitions" in narrow
    assert "a-rather-long-topic-12" in narrow


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_footer_fits(width: int) -> None:
    assert width_of(footer_line("partitions", width, read_only=False, more="~")) <= width


def test_what_a_recording_refuses_is_faint_in_the_footer() -> None:
    line = footer_line("partitions", 120, read_only=True, more="~")
    assert role_of(line, "command") == "faint"
    assert role_of(line, "pause") == "muted"


def test_a_rule_names_the_pane_and_fills_the_width() -> None:
    line = rule_line(stage_of(), "partitions", ["9/96", "", "faults only"], 60, focused=True)
    assert text_of(line).startswith("-- partitions -- 9/96 -- faults only ---")
    assert width_of(line) == 60
    assert role_of(line, "partitions") == "title-sorted"


def test_keys_are_written_short() -> None:
    assert [key_name(key) for key in ("ctrl+p", "escape", "x")] == ["^p", "esc", "x"]


def test_hostile_names_are_made_safe() -> None:
    stage = stage_of()
    stage.source.name = "evil\x1b[2J"
    assert source_name(stage) == r"evil\x1b[2J"
