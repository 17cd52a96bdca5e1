"""The command palette: every action of the registry that works on this screen, found by typing."""

from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from console.actions.lookup import Action, available
from console.render.bars import key_name

if TYPE_CHECKING:
    from console.app import TidegaugeApp


class ActionProvider(Provider):
    """Offers the actions of the screen that the palette was opened on."""

    def actions(self) -> list[Action]:
        """The actions that can be chosen, in the registry's order."""
        return available(getattr(self.screen, "context", "anywhere"))

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for action in self.actions():
            yield DiscoveryHit(Content(title(action)), self._run(action), help=action.id)

    async def search(self, query: str) -> Hits:
        """Those that match what is typed."""
        matcher = self.matcher(query)
        for action in self.actions():
            score = matcher.match(f"{action.help} {action.id}")
            if score > 0:
                yield Hit(score, Content(title(action)), self._run(action), help=action.id)

    def _run(self, action: Action) -> "_Dispatch":
        return _Dispatch(cast("TidegaugeApp", self.app), action)


class _Dispatch:
    """Does an action, through the same gate as a key."""

    def __init__(self, app: "TidegaugeApp", action: Action) -> None:
        self.app = app
        self.action = action

    def __call__(self) -> None:
        self.app.dispatch(self.action)


def title(action: Action) -> str:
    """How an action is listed: what it does, and its keys."""
    return f"{action.help}  ({' '.join(key_name(key) for key in action.keys)})"
