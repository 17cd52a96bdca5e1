"""The names of what differs from plain text; ``console.tcss`` says what each looks like."""

from functools import lru_cache
from typing import Final

from rich.color import ColorSystem
from rich.style import Style
from textual.color import Color
from textual.css.styles import RenderStyles

from console.styles.themes import FEW

SHADES: Final = ("cursor", "selected")
"""How a whole line is highlighted."""
ROLES: Final = (
    "muted",
    "faint",
    "strong",
    "ok",
    "error",
    "alarm",
    "offline",
    "warning",
    "caution",
    "unclean",
    "diverged",
    "accent",
    "primary",
    "secondary",
    "kind",
    "key",
    "title",
    "title-sorted",
    "rule",
    "hw",
    "hw-leader",
    "here",
    "mode-live",
    "mode-paused",
    "mode-replay",
    "read-only",
    "tab",
    "tab-here",
    *(f"epoch{n}" for n in range(6)),
    *(f"pending{n}" for n in range(6)),
    *(f"cursor{n}" for n in range(6)),
)
"""Roles of a span of text."""


def component(role: str) -> str:
    """The component class of a role or shade."""
    return f"role--{role}"


COMPONENTS: Final = {component(role) for role in (*ROLES, *SHADES)}


CONTRAST: Final = 4.5
"""The minimum contrast of text and background (WCAG 2.2, 1.4.3, level AA)."""
DRAWN: Final = frozenset({"rule"})
"""Roles of lines and not of text: they may be as quiet as they like."""
PLAIN: Final = {
    "cursor": "reverse",
    "selected": "underline",
    "tab-here": "bold reverse",
    "unclean": "bold underline",
    "diverged": "underline",
    "warning": "underline",
    **{f"cursor{n}": "bold reverse" for n in range(6)},
}
"""How roles differ where a terminal has so few colours that one cannot rely on them."""
STEPS: Final = 20
LINEAR_MAX: Final = 0.04045
"""Up to here sRGB is linear (IEC 61966-2-1)."""


def over(
    base: Style, role: RenderStyles, name: str = "", system: str | None = "truecolor"
) -> Style:
    """A role on top of a style, readable whatever is below it.

    Half-transparent colours are mixed with what is below them. A colour whose contrast falls short
    of :data:`CONTRAST` is moved towards white or black, as far as it has to be, and is judged as
    the terminal shows it: ``system`` is Rich's name of its colours.
    """
    if base.bgcolor is None or base.bgcolor.is_default:  # the terminal's own, which are unknown
        return base + Style.parse(PLAIN.get(name, "")) + role.text_style
    below = Color.from_rich_color(base.bgcolor)
    background = below + role.background if role.has_rule("background") else None
    behind = background or below
    color = behind + role.color if role.has_rule("color") else None
    if color is not None and name not in DRAWN:
        color = readable(color, behind, system)
    mixed = Style.from_color(
        None if color is None else color.rich_color,
        None if background is None else background.rich_color,
    )
    marked = system in FEW and background is None  # another background shows by itself
    return base + mixed + role.text_style + Style.parse(PLAIN.get(name, "") if marked else "")


@lru_cache(1_024)
def readable(color: Color, background: Color, system: str | None = "truecolor") -> Color:
    """The colour nearest to this one that can be read on a background."""
    behind = as_shown(background, system)
    if contrast(as_shown(color, system), behind) >= CONTRAST:
        return color
    white, black = Color(255, 255, 255), Color(0, 0, 0)
    goal = white if contrast(white, behind) >= contrast(black, behind) else black
    tried = (color.blend(goal, step / STEPS) for step in range(1, STEPS + 1))
    fits = (
        candidate
        for candidate in tried
        if contrast(as_shown(candidate, system), behind) >= CONTRAST
    )
    return next(fits, goal)


def as_shown(color: Color, system: str | None) -> Color:
    """Return the nearest colour of a terminal with fewer colours."""
    kinds = {"256": ColorSystem.EIGHT_BIT, "standard": ColorSystem.STANDARD}
    kind = kinds.get(system or "")
    if kind is None:
        return color
    return Color(*color.rich_color.downgrade(kind).get_truecolor())


def contrast(one: Color, other: Color) -> float:
    """The contrast of two colours, 1 to 21, as WCAG defines it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= LINEAR_MAX else ((part + 0.055) / 1.055) ** 2.4
        for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
