"""Textual's bindings, made from the registry."""

from collections.abc import Mapping

from textual.binding import Binding

from console.actions.lookup import ANYWHERE, Action, available, in_context

NAMED_KEYS = {",": "comma"}
"""Textual writes lists of keys with commas, so a comma needs its name."""


def keymap(keys: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The user's keys by action id, in Textual's form."""
    return {id: ",".join(NAMED_KEYS.get(key, key) for key in own) for id, own in keys.items()}


def bindings_for(context: str) -> list[Binding]:
    """The bindings of one screen, or of the whole application (``anywhere``)."""
    return [_binding(action, key) for action in in_context(context) for key in action.keys]


def modal_bindings() -> list[Binding]:
    """The application's bindings that also work in a modal screen."""
    kept = [action for action in available("menu") if ANYWHERE in action.contexts]
    return [_binding(action, key) for action in kept for key in action.keys]


def _binding(action: Action, key: str) -> Binding:
    return Binding(
        NAMED_KEYS.get(key, key),
        action.name,
        action.help,
        id=action.id,
        show=bool(action.label),
    )
