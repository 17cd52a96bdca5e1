"""The names of what differs from plain text; ``console.tcss`` says what each looks like."""

from typing import Final

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
)
"""What a span of text can be."""


def component(role: str) -> str:
    """The component class of a role or shade."""
    return f"role--{role}"


COMPONENTS: Final = {component(role) for role in (*ROLES, *SHADES)}
