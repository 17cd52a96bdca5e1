"""The names of what differs from plain text; ``console.tcss`` says what each looks like."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.style import Style
    from textual.css.styles import RenderStyles

SHADES: Final = ("cursor", "selected")
"""How a whole line is set off."""
ROLES: Final = (
    "muted",
    "faint",
    "strong",
    "ok",
    "error",
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
"""What a span of text can be."""


def component(role: str) -> str:
    """The component class of a role or shade."""
    return f"role--{role}"


COMPONENTS: Final = {component(role) for role in (*ROLES, *SHADES)}


def over(base: "Style", role: "RenderStyles") -> "Style":
    """A role on top of a style; half-transparent colours are mixed with what is below them."""
    from rich.style import Style
    from textual.color import Color

    below = Color.from_rich_color(base.bgcolor)
    background = below + role.background if role.has_rule("background") else None
    color = (background or below) + role.color if role.has_rule("color") else None
    mixed = Style.from_color(
        None if color is None else color.rich_color,
        None if background is None else background.rich_color,
    )
    return base + mixed + role.text_style
