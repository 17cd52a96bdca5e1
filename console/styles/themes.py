"""The colour themes of the console, beside those that Textual brings.

Roles are mixed from a theme's colours in ``console.tcss``, so a theme is nothing but its colours.
The colour-blind safe ones use the palette of Okabe and Ito (Color Universal Design, 2008), a little
lighter or darker where text would not stand out; in it
no meaning hangs on red against green, and words and glyphs say everything that colours say anyway.
"""

from dataclasses import replace
from typing import Final

from textual.theme import BUILTIN_THEMES, Theme

DARK: Final = "dark"
"""The theme that is used if nothing else is asked for."""

THEMES: Final = {
    theme.name: theme
    for theme in (
        Theme(
            name=DARK,
            primary="#7AA2F7",
            secondary="#BB9AF7",
            warning="#E0AF68",
            error="#F7768E",
            success="#9ECE6A",
            accent="#FF9E64",
            foreground="#C0CAF5",
            background="#1A1B26",
            surface="#24283B",
            panel="#2F3549",
        ),
        Theme(
            name="light",
            primary="#1D5FBF",
            secondary="#7A3FA0",
            warning="#8A5A00",
            error="#B3142B",
            success="#2C6E1F",
            accent="#B5420F",
            foreground="#1F2430",
            background="#FAFAF7",
            surface="#EFEFEA",
            panel="#E2E3DC",
            dark=False,
        ),
        Theme(
            name="high-contrast",
            primary="#5CD6FF",
            secondary="#FF9CFF",
            warning="#FFFF00",
            error="#FF7A7A",
            success="#5CFF5C",
            accent="#FFB000",
            foreground="#FFFFFF",
            background="#000000",
            surface="#101010",
            panel="#202020",
            text_alpha=1.0,
        ),
        Theme(
            name="colour-blind",
            primary="#56B4E9",
            secondary="#CC79A7",
            warning="#F0E442",
            error="#E6692A",
            success="#009E73",
            accent="#E69F00",
            foreground="#E8E8E8",
            background="#15181C",
            surface="#1F242A",
            panel="#2A3038",
        ),
        Theme(
            name="colour-blind-light",
            primary="#0072B2",
            secondary="#94467A",
            warning="#7A5C00",
            error="#B04A00",
            success="#00664A",
            accent="#8A5A00",
            foreground="#1C1F24",
            background="#FBFBF9",
            surface="#F0F0EC",
            panel="#E3E4DF",
            dark=False,
        ),
    )
}
"""The console's own themes by name."""

FEW: Final = ("standard", "windows")
"""Rich's names of colour systems with 16 colours."""
FEW_CLASS: Final = "-few"
"""The application's class in the style sheet where there are only so many."""
DARK_OF_16: Final = Theme(
    name="dark-of-16",
    primary="#55FFFF",
    secondary="#FFFFFF",
    warning="#FFFF55",
    error="#FF5555",
    success="#55FF55",
    accent="#FF55FF",
    foreground="#AAAAAA",
    background="#000000",
    surface="#000000",
    panel="#000000",
    variables={"boost": "#0000AA"},
)
"""Colours that a terminal of 16 has, which no other colour has to be replaced by."""
LIGHT_OF_16: Final = Theme(
    name="light-of-16",
    primary="#0000AA",
    secondary="#555555",
    warning="#AA5500",
    error="#AA0000",
    success="#00AA00",
    accent="#AA00AA",
    foreground="#000000",
    background="#FFFFFF",
    surface="#FFFFFF",
    panel="#FFFFFF",
    variables={"boost": "#55FFFF"},
    dark=False,
)


def themes_for(system: str | None) -> list[Theme]:
    """The console's own themes as a terminal can show them; ``system`` is Rich's name of colours.

    Where there are 16 colours the nearest to most of a theme's colours is white or grey, and
    statuses would look alike: every theme is then made of the 16, and only dark or light.
    """
    if system not in FEW:
        return list(THEMES.values())
    return [
        replace(DARK_OF_16 if theme.dark else LIGHT_OF_16, name=theme.name)
        for theme in THEMES.values()
    ]


def theme_names() -> list[str]:
    """All names that a theme can be chosen by: the console's own first."""
    return [*THEMES, *sorted(BUILTIN_THEMES)]
