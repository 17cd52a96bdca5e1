"""The command palette: every action of the registry that works on this screen, found by typing."""

from collections.abc import Callable
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from console.actions.lookup import Action, available
from console.render.bars import key_name
from console.screens.messages import ActionRequested


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

    def _run(self, action: Action) -> Callable[[], None]:
        """Do an action, through the same gate as its key."""
        return partial(self._dispatch, action.id)

    def _dispatch(self, id: str) -> None:
        self.app.post_message(ActionRequested(id))


def title(action: Action) -> str:
    """How an action is listed: what it does, and its keys."""
    return f"{action.help}  ({' '.join(key_name(key) for key in action.keys)})"
