"""The console: a terminal application over one source of events, live or recorded.

Importing this package costs nothing; Textual is loaded when the console starts.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.model.library import Card, Library, Opened, Service
    from console.model.settings import Configuration
    from sessions.sources.source import Source


def run(  # noqa: PLR0913 - each of them is a choice of the caller
    source: "Source",
    *,
    paused: bool = False,
    complete: Callable[[str], Sequence[str]] | None = None,
    configuration: "Configuration | None" = None,
    reproduce: "Callable[[Source], str] | None" = None,
    library: "Library | None" = None,
    card: "Card | None" = None,
    service: "Service | None" = None,
    others: "Sequence[Opened]" = (),
) -> int:
    """Show ``source`` until the user quits, or a signal ends it; returns the exit status.

    ``paused`` starts with time held still, ``complete`` gives completions of a statement that is
    being typed, as whole lines, ``configuration`` is what the user has set, ``reproduce`` the
    command line that comes back to the time cursor.
    ``library`` opens scenarios and recordings from within; ``card`` is the scenario that ``source``
    is of. ``service`` is started with the console, and stopped before it closes.
    ``others`` are open, too, to switch to.
    """
    from console.app import TidegaugeApp
    from console.process.tty import Tty
    from console.process.watchdog import Watchdog

    app = TidegaugeApp(
        source,
        paused=paused,
        complete=complete,
        configuration=configuration,
        reproduce=reproduce,
        library=library,
        service=service,
    )
    app.stage.card = card
    app.stage.settle()
    for opened in others:
        app.sources.add(opened)
    watchdog = Watchdog(Tty(), app.save)
    app.guard_with(watchdog)
    try:
        with watchdog:
            app.run(mouse=app.terminal.configuration.value("mouse"))
    finally:
        app.sources.close()
    return app.return_code or 0
