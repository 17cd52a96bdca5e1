"""Every text can be read, in every theme, on every background, in terminals of any colours."""

import pytest
from rich.style import Style
from textual.color import Color

from console.styles.roles import (
    CONTRAST,
    DRAWN,
    PLAIN,
    ROLES,
    SHADES,
    as_shown,
    component,
    contrast,
    over,
    readable,
)
from console.styles.themes import THEMES, theme_names
from tests.console.driving import console

SYSTEMS = ("truecolor", "256", "standard")
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


async def test_every_text_is_readable_in_every_theme_on_every_line() -> None:
    unreadable = []
    async with console(size=(80, 24)) as driven:
        app = driven.app
        for theme in theme_names():
            if theme in NOT_HEX:
                continue
            app.theme = theme
            await driven.pilot.pause(0)
            variables = app.get_css_variables()
            app.stylesheet.update(app)
            for ground in ("background", "surface", "panel"):
                behind = Color.parse(variables[ground])
                base = Style(bgcolor=behind.rich_color)
                for system in SYSTEMS if theme in THEMES else SYSTEMS[:1]:
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
def test_where_colours_are_few_or_unknown_what_is_chosen_stays_visible(name: str) -> None:
    async def shown() -> None:
        async with console(size=(80, 24)) as driven:
            styles = driven.app.get_component_styles(component(name))
            plain = over(Style(bgcolor="default"), styles, name, None)
            few = over(Style(bgcolor="#1A1B26"), styles, name, "standard")
            for style in (plain, few):
                assert style.reverse or style.underline

    import asyncio

    asyncio.run(shown())
    assert name in PLAIN
