from pathlib import Path

import pytest

from console.render.lines import text_of, width_of
from console.render.sessions import about_lines, empty_lines, pick_of, size_text, titles_line
from console.styles.glyphs import ASCII
from emulator.inputs.statements import CreateCluster
from sessions.format.catalog import Listed
from sessions.format.metadata import Origin, Outcome
from sessions.model.health import Counts

ORIGIN = Origin("s", "tidegauge", "2.8", 7, CreateCluster(), script="kill.tide")
BAD = Counts(3, 3, 9, offline=2)
LISTED = Listed(
    Path("/tmp/s.tide.db"),
    81_920,
    ORIGIN,
    Outcome(384, 7_000_000, 99, "ab" * 32, acked=4, lost=1, passed=5, outcome="ok"),
    384,
    7_000_000,
    2,
    [(1, 0, Counts(3, 3, 9)), (200, 3_500_000, BAD)],
)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (812, "812 B"), (4_300, "4.2 KB"), (325_058_560, "310 MB"), (1 << 41, "2.0 TB")],
)
def test_sizes_are_short(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_recording_fits_under_the_titles(width: int) -> None:
    shown = pick_of(LISTED, width - 2, ASCII.sparks, ASCII.more).shown
    assert width_of(shown) <= width - 2
    titles = text_of(titles_line(width - 2))
    row = "  " + text_of(shown)
    for title, value in (("SIZE", "80.0 KB"), ("TIME", "00:00:07.000")):
        assert titles.index(title) + len(title) == row.index(value) + len(value)
    assert titles.index("ALERTS") == len(row) - 24


def test_a_wide_list_has_release_seed_and_events() -> None:
    row = text_of(pick_of(LISTED, 118, ASCII.sparks, ASCII.more).shown)
    assert "2.8      7        384" in row


def test_the_strip_shows_when_it_hurt() -> None:
    strip = text_of(pick_of(LISTED, 118, ASCII.sparks, ASCII.more).shown)[-24:]
    assert strip[:11] == "_" * 11
    assert strip[-1] == "#"


def test_a_file_that_cannot_be_read_says_why() -> None:
    bad = Listed(Path("/tmp/junk.tide.db"), 5, problem="it is no database.")
    assert "unreadable: it is no database." in text_of(pick_of(bad, 118, "_#", "~").shown)
    assert all(width_of(row) <= 32 for row in about_lines(bad, 32))
    assert [text_of(row) for row in about_lines(bad, 80)] == [
        " file      /tmp/junk.tide.db",
        " ended     unreadable. it is no database.",
    ]


def test_all_that_a_recording_says_of_itself() -> None:
    text = "\n".join(text_of(row) for row in about_lines(LISTED, 100))
    for said in (
        "release   2.8, seed 7",
        "script    kill.tide",
        "events    384 in 00:00:07.000",
        "bookmarks 2",
        "alerts    1 change with partitions offline or below min ISR, at worst 2 offline",
        "expected  5 held, 0 failed",
        "records   4 acknowledged, 1 lost, 0 duplicated, 0 diverged",
    ):
        assert said in text


def test_an_empty_folder_says_why_and_what_to_do() -> None:
    text = " ".join(text_of(row) for row in empty_lines("/tmp/x", "", 60))
    assert "There is no recording in /tmp/x (files named *.tide.db)." in text
    assert "'tidegauge console --record .' makes one; r looks again" in text
    assert "cannot be read" in text_of(empty_lines("/x", "The folder cannot be read.", 60)[1])
