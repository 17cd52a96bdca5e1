"""The result of a served cluster, counted as it happens."""

from collections.abc import Callable
from functools import partial

from emulator import events
from sessions.model.handlers import connections, groups
from sessions.model.result_view import ResultView


class ServedView(ResultView):
    """A :class:`ResultView` that knows connections and groups too."""

    @property
    def by_type(self) -> dict[type[events.Event], Callable[[events.Event], None]]:
        """The handler of each type of event."""
        handlers = super().by_type
        for kind, handler in {**connections.HANDLERS, **groups.HANDLERS}.items():
            handlers[kind] = partial(handler, self)
        return handlers
