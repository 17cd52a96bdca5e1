"""What is read from the one registry of everything a key can do.

Bindings, footer, help screen, command palette, ``tidegauge keys``, the keys page of the docs and
the read-only gate come from here. Nothing heavy is imported, so keys are listed without a console.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from console.actions.registry import ACTIONS, ANYWHERE, FOOTER, GROUPS, PROMPT, SCREENS, Action

__all__ = ["ACTIONS", "ANYWHERE", "FOOTER", "PROMPT", "SCREENS", "Action"]

OVERLAYS = ("menu", "page", "notice")
"""Screens that are closed as soon as they have been read."""


MODAL = ("menu",)
"""Screens in which only those of the application's keys work that are listed below."""
KEPT_IN_MODAL = ("move.", "go.back", "app.quit", "app.interrupt")
"""The prefixes of the ids of actions that also work in a modal screen."""


def in_context(context: str) -> list[Action]:
    """The actions that belong to one screen (or :data:`ANYWHERE`, or :data:`PROMPT`) itself."""
    return [action for action in ACTIONS.values() if context in action.contexts]


def available(context: str) -> list[Action]:
    """The actions that keys reach on a screen: its own and those that work anywhere."""
    own = in_context(context)
    if context in (ANYWHERE, PROMPT):
        return own
    return own + [
        action
        for action in in_context(ANYWHERE)
        if context not in MODAL or action.id.startswith(KEPT_IN_MODAL)
    ]


def footer_actions(context: str) -> list[Action]:
    """The actions that the footer of a screen shows, the most useful first."""
    shown = [action for action in available(context) if action.label]
    places = {verb: place for place, verb in enumerate(FOOTER)}
    if context in OVERLAYS:
        places["go.back"] = -1
    return sorted(shown, key=lambda action: places.get(action.verb, len(FOOTER)))


def named(name: str, context: str) -> Action | None:
    """Return the action that Textual knows by ``name``: on this screen, else on any."""
    everything = (*available(context), *ACTIONS.values())
    return next((action for action in everything if action.name == name), None)


def refusal(
    action: Action, *, read_only: bool, guarded: bool = False, can_forecast: bool = False
) -> str | None:
    """The read-only gate: a sentence that refuses the action, or None if it may run.

    ``guarded``: the console was started with ``--read-only``, so it writes no files either.
    ``can_forecast``: what would happen to a running cluster can be shown.
    """
    if action.files and guarded:
        return (
            f"READ-ONLY: this console only looks, so '{action.keys[0]}' writes no files here. "
            "Start it without --read-only."
        )
    if action.writes and read_only and can_forecast:
        if action.previews:
            return None
        return (
            f"READ-ONLY: nothing is ever sent to a running cluster, so '{action.keys[0]}' does "
            "nothing. x shows what a fault would do, R rehearses the loss of each broker."
        )
    if action.writes and read_only:
        return (
            f"READ-ONLY: nothing can be changed from here, so '{action.keys[0]}' does nothing. "
            "Statements need a live cluster, and a console without --read-only."
        )
    return None


def clashes(actions: Iterable[Action] | None = None) -> list[tuple[str, str, list[str]]]:
    """Keys that two actions share in one context, as (context, key, ids); there must be none."""
    chosen = list(ACTIONS.values() if actions is None else actions)
    shared = []
    for context in (*SCREENS, ANYWHERE, PROMPT):
        reach = (context,) if context in (ANYWHERE, PROMPT) else (context, ANYWHERE)
        ids: dict[str, list[str]] = {}
        for action in chosen:
            if not set(reach).isdisjoint(action.contexts):
                for key in action.keys:
                    ids.setdefault(key, []).append(action.id)
        shared += [(context, key, owners) for key, owners in ids.items() if len(owners) > 1]
    return shared


def with_keys(actions: Iterable[Action], keys: Mapping[str, tuple[str, ...]]) -> list[Action]:
    """The actions, with the user's keys for those whose ids are named."""
    return [
        replace(action, keys=keys[action.id], shown="") if action.id in keys else action
        for action in actions
    ]


def remap(keys: Mapping[str, tuple[str, ...]]) -> None:
    """Remap actions, for everything in this process that reads the registry."""
    ACTIONS.update({action.id: action for action in with_keys(list(ACTIONS.values()), keys)})


def headings(actions: Iterable[Action]) -> dict[str, list[Action]]:
    """The actions under the headings of help, in the registry's order."""
    grouped: dict[str, list[Action]] = {}
    for action in actions:
        grouped.setdefault(GROUPS[action.group], []).append(action)
    return grouped


def keys_document(actions: Iterable[Action] | None = None) -> list[dict[str, Any]]:
    """What ``tidegauge keys --json`` prints: id, keys, screens and help of every action."""
    chosen = ACTIONS.values() if actions is None else actions
    return [
        {
            "id": action.id,
            "keys": list(action.keys),
            "screens": list(action.contexts),
            "help": action.help,
        }
        for action in chosen
    ]


def keys_page() -> str:
    """The keys page of the docs, in Markdown."""
    rows = [
        "# Keys",
        "",
        "Every key of the console, as `tidegauge keys` lists them. `?` shows those of one screen,",
        "`ctrl+p` finds any of them by name. Actions marked *live* need a running cluster.",
    ]
    for heading, actions in headings(ACTIONS.values()).items():
        rows += ["", f"## {heading}", "", "| keys | where | what | id |", "|--|--|--|--|"]
        rows += [_page_row(action) for action in actions]
    return "\n".join(rows) + "\n"


def _page_row(action: Action) -> str:
    keys = " ".join(f"`{key}`" for key in action.keys)
    note = " *live*" if action.writes else ""
    return f"| {keys} | {', '.join(action.contexts)} | {action.help}{note} | `{action.id}` |"
