"""What all screens of one console share: source, pacer, index, and how things are drawn."""

import gc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from console.glyphs import UNICODE, Glyphs
from console.history import History
from console.pacer import Pacer
from console.partition_index import PartitionIndex
from console.reader import EventReader
from console.timebar import TimeBar
from console.why import Explainer

if TYPE_CHECKING:
    from sessions.source import Source
    from sessions.view import ClusterView

Complete = Callable[[str], Sequence[str]]
"""Completions of the last word of a statement that is being typed, as whole lines."""


def no_completion(text: str) -> Sequence[str]:
    """Where no completion was given."""
    return ()


class Stage:
    """The shared state of a console.

    What is selected is a name that events can touch: a partition, ``broker``'s id, a path.
    """

    def __init__(
        self,
        source: "Source",
        *,
        glyphs: Glyphs = UNICODE,
        paused: bool = False,
        complete: Complete | None = None,
    ) -> None:
        self.source = source
        self.glyphs = glyphs
        self.complete = complete or no_completion
        self.pacer = Pacer(source, paused=paused)
        self.index = PartitionIndex()
        self.history = History(source)
        self.time_bar = TimeBar()
        self.reader = EventReader(source)
        self.explainer = Explainer(self.reader)
        self.statements: list[str] = []
        self.turn = 0

    @property
    def view(self) -> "ClusterView":
        """The read model at the time cursor."""
        return self.source.view

    def settle(self) -> None:
        """Index what is there, and take it out of the garbage collector's sight.

        Else a full collection over 100,000 partitions would now and then hold the screen for a
        third of a second.
        """
        self.follow()
        gc.collect()
        gc.freeze()

    def follow(self) -> set[str]:
        """Bring the index to the cursor; names the partitions that changed.

        ``turn`` counts these calls, so that who was not on screen knows that it has missed some.
        """
        self.turn += 1
        return self.index.refresh(self.view)
