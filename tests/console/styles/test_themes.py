"""The themes can be read: every colour of text stands out against every ground it is drawn on."""

import pytest
from textual.color import Color
from textual.theme import Theme

from console.styles.themes import DARK, THEMES, theme_names

READABLE = 4.5
"""The contrast that WCAG 2 asks of text (level AA)."""
STRONG = 7.0
"""The one of level AAA."""
INKS = ("foreground", "primary", "secondary", "warning", "error", "success", "accent")


def luminance(colour: Color) -> float:
    """Relative luminance by WCAG 2."""
    parts = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour.normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(ink: str, ground: str) -> float:
    """How much two colours differ in lightness: 1 to 21."""
    light, dark = sorted(
        (luminance(Color.parse(ink)), luminance(Color.parse(ground))), reverse=True
    )
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_every_ink_is_readable(theme: Theme) -> None:
    wanted = STRONG if theme.name == "high-contrast" else READABLE
    poor = {
        (ink, ground): round(found, 2)
        for ink in INKS
        for ground in ("background", "surface")
        if (found := contrast(getattr(theme, ink), getattr(theme, ground))) < wanted
    }
    assert not poor


def test_the_default_comes_first() -> None:
    assert theme_names()[0] == DARK
    assert "nord" in theme_names()
