"""Every text can be read, in every theme, on every background, in terminals of any colours."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from rich.color import Color as RichColor
from rich.style import Style
from textual import constants
from textual.color import Color

from console.styles.roles import (
    CONTRAST,
    DRAWN,
    ROLES,
    SHADES,
    as_shown,
    component,
    contrast,
    over,
    readable,
)
from console.styles.themes import THEMES, theme_names
from tests.console.driving import Console, console

SYSTEMS = {"truecolor": ("truecolor", "256"), "standard": ("standard",)}
"""The systems whose colours are tried, by the terminal's."""
NOT_HEX = {"ansi-dark", "ansi-light", "textual-ansi"}
"""Themes of the terminal's own colours, which only the terminal knows."""


def test_contrast_is_what_the_standard_says() -> None:
    assert round(contrast(Color(0, 0, 0), Color(255, 255, 255)), 1) == 21
    assert round(contrast(Color.parse("#777777"), Color.parse("#ffffff")), 2) == 4.48


def test_a_colour_is_moved_no_further_than_it_has_to_be() -> None:
    black, grey = Color(0, 0, 0), Color.parse("#808080")
    assert readable(grey, black) == grey
    lifted = readable(Color.parse("#404040"), black)
    assert CONTRAST <= contrast(lifted, black) < CONTRAST + 1


@pytest.mark.parametrize("terminal", ["truecolor", "standard"])
async def test_every_text_is_readable_in_every_theme_on_every_line(
    terminal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unreadable = []
    async with colours(terminal, monkeypatch) as driven:
        app = driven.app
        for theme in theme_names():
            if theme in NOT_HEX or (terminal == "standard" and theme not in THEMES):
                continue
            app.theme = theme
            await driven.pilot.pause(0)
            variables = app.get_css_variables()
            app.stylesheet.update(app)
            for ground in ("background", "surface", "panel"):
                behind = Color.parse(variables[ground])
                base = Style(bgcolor=behind.rich_color)
                for system in SYSTEMS[terminal] if theme in THEMES else [terminal]:
                    for shade in ("", *SHADES):
                        line = base
                        if shade:
                            line = over(
                                base, app.get_component_styles(component(shade)), shade, system
                            )
                        for role in ROLES:
                            style = over(
                                line, app.get_component_styles(component(role)), role, system
                            )
                            if role in DRAWN or style.color is None or style.bgcolor is None:
                                continue
                            pair = (
                                as_shown(Color.from_rich_color(style.color), system),
                                as_shown(Color.from_rich_color(style.bgcolor), system),
                            )
                            if contrast(*pair) < CONTRAST:
                                unreadable.append((theme, system, ground, shade, role))
    assert unreadable == []


@pytest.mark.parametrize("name", ["cursor", "selected", "tab-here"])
async def test_where_colours_are_unknown_what_is_chosen_stays_visible(name: str) -> None:
    async with console(size=(80, 24)) as driven:
        styles = driven.app.get_component_styles(component(name))
        style = over(Style(bgcolor="default"), styles, name, None)
        assert style.reverse or style.underline


@pytest.mark.parametrize("theme", THEMES)
async def test_of_16_colours_the_line_under_the_cursor_stands_out_most(
    theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with colours("standard", monkeypatch) as driven:
        base = await ground(driven, theme)
        behind = {name: _contrast_of_background(driven, base, name) for name in (*ROLES, *SHADES)}
        assert round(behind.pop("cursor"), 1) == 21
        assert behind["selected"] > 1
        assert max(behind.values()) < 21


@pytest.mark.parametrize("theme", THEMES)
async def test_of_16_colours_each_status_has_its_own(
    theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with colours("standard", monkeypatch) as driven:
        base = await ground(driven, theme)
        names = ("muted", "ok", "error", "warning", "unclean")
        styles = [_few(driven, base, name) for name in names]
        assert len({(_shown(style.color), style.underline) for style in styles}) == len(names)
        assert _few(driven, base, "mode-paused").reverse


@asynccontextmanager
async def colours(system: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Console]:
    """The console in a terminal of such colours."""
    monkeypatch.setattr(constants, "COLOR_SYSTEM", system)
    async with console(size=(80, 24)) as driven:
        yield driven


async def ground(driven: Console, theme: str) -> Style:
    """The background of the console in a theme."""
    driven.app.theme = theme
    await driven.pilot.pause(0)
    driven.app.stylesheet.update(driven.app)
    return Style(bgcolor=Color.parse(driven.app.get_css_variables()["background"]).rich_color)


def _few(driven: Console, base: Style, name: str) -> Style:
    """A role as a terminal of 16 colours is asked to show it."""
    return over(base, driven.app.get_component_styles(component(name)), name, "standard")


def _shown(color: RichColor | None) -> Color:
    assert color is not None
    return as_shown(Color.from_rich_color(color), "standard")


def _contrast_of_background(driven: Console, base: Style, name: str) -> float:
    return contrast(_shown(base.bgcolor), _shown(_few(driven, base, name).bgcolor))
