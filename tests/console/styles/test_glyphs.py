import locale

import pytest
from msgspec import structs

from console.render.lines import cells
from console.styles.glyphs import ASCII, BLOCKS, UNICODE, Glyphs, choose

SEVERAL_COLUMNS = {"name", "because", "pause", "sparks", "ramp"}


@pytest.mark.parametrize("chosen", [UNICODE, ASCII])
def test_glyphs_are_one_column_wide(chosen: Glyphs) -> None:
    wide = {
        name: glyph
        for name, glyph in structs.asdict(chosen).items()
        if name not in SEVERAL_COLUMNS and cells(glyph) != 1
    }
    assert wide == {}


def test_the_ascii_set_is_ascii() -> None:
    assert all(glyph.isascii() for glyph in structs.asdict(ASCII).values())


def test_both_sets_have_eight_steps_of_bars() -> None:
    assert len(UNICODE.sparks) == len(ASCII.sparks) == 8


def test_ascii_is_taken_when_asked_for() -> None:
    assert choose(ascii_only=True) is ASCII


@pytest.mark.parametrize(
    ("encoding", "chosen"), [("UTF-8", UNICODE), ("ANSI_X3.4-1968", ASCII), ("no-such", ASCII)]
)
def test_a_locale_that_is_not_utf8_takes_ascii(
    monkeypatch: pytest.MonkeyPatch, encoding: str, chosen: Glyphs
) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(locale, "getencoding", lambda: encoding)
    assert choose(ascii_only=False) is chosen


@pytest.mark.parametrize(
    ("environment", "chosen"),
    [
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, ASCII),
        ({"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, ASCII),
        ({"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, UNICODE),
        ({"LC_CTYPE": "C.UTF-8"}, UNICODE),
        ({"LANG": "C.UTF-8"}, UNICODE),
    ],
)
def test_the_locale_c_stays_plain_although_python_changes_it(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], chosen: Glyphs
) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(locale, "getencoding", lambda: "UTF-8")
    assert choose(ascii_only=False) is chosen


@pytest.mark.parametrize(("terminal", "chosen"), [("linux", BLOCKS), ("xterm-256color", UNICODE)])
def test_a_terminal_without_braille_takes_blocks(
    monkeypatch: pytest.MonkeyPatch, terminal: str, chosen: Glyphs
) -> None:
    for name in ("LC_ALL", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    monkeypatch.setattr(locale, "getencoding", lambda: "UTF-8")
    monkeypatch.setenv("TERM", terminal)
    assert choose(ascii_only=False) is chosen
