"""The console: a terminal application over one source of events, live or recorded.

Importing this package costs nothing; Textual is loaded when the console starts.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessions.source import Source


def run(
    source: "Source",
    *,
    ascii: bool = False,
    paused: bool = False,
    complete: Callable[[str], Sequence[str]] | None = None,
) -> None:
    """Show ``source`` until the user quits.

    ``ascii`` draws with plain ASCII, ``paused`` starts with time held still, ``complete`` gives
    completions of a statement that is being typed, as whole lines.
    """
    from console.app import TidegaugeApp

    app = TidegaugeApp(source, ascii=ascii, paused=paused, complete=complete)
    app.stage.settle()
    app.run()
