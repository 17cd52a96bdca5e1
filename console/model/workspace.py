"""What all screens of one console share: source, pacer, index, and how things are drawn."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Final

from msgspec import Struct

from console.model.conditions import Search
from console.model.faults import Fault
from console.model.history import History
from console.model.library import Card, Library
from console.model.lookback import Writes
from console.model.pacer import Pacer
from console.model.partition_index import PartitionIndex
from console.model.reader import EventReader
from console.model.timeline import Timeline
from console.model.why import Explainer
from console.styles.glyphs import UNICODE, Glyphs
from sessions.format.allowance import StillReadingError
from sessions.garbage_collection import collect_while_drawing
from sessions.model.cluster_view import ClusterView
from sessions.model.metadata_image import Metadata, MetadataReader
from sessions.model.states import PartitionState
from sessions.sources.source import Source

Complete = Callable[[str], Sequence[str]]
"""Completions of the last word of a statement that is being typed, as whole lines."""


Reproduce = Callable[["Source"], str]
"""The command line that comes back to a source's time cursor; empty if there is none."""


SIGN: Final = "+"
"""Separates the name of a screen from the number of the source that it shows."""


class Moment(Struct):
    """A moment with the read model at that time."""

    seq: int
    time_us: int
    view: ClusterView


def no_command(source: Source) -> str:
    """The default: no command line is known."""
    return ""


def no_completion(text: str) -> Sequence[str]:
    """The default: there are no completions."""
    return ()


class Touching(Struct, frozen=True):
    """What ``<`` and ``>`` look for, from which event on: 1 is later, -1 earlier."""

    objects: tuple[str, ...]
    seq: int
    direction: int


class Stage:
    """The shared state of a console.

    What is selected is a name that events can touch: a partition, ``broker``'s id, a path.
    ``mark_a`` is the moment that differences begin at; ``search`` looks for a condition, frame by
    frame.
    ``touching`` is the event that is looked for while it takes long.
    ``library`` opens more to look at; without one there is only what is shown.
    ``subject`` are the names that were selected last, ``card`` is the scenario that is open.
    ``frame_s`` is the wall-clock time of this frame, None where nothing is to move on the screen.
    ``is_new``: nothing has been tried yet of what the first screen offers.
    ``marked`` are the faults that are to be done together, by their statements.
    ``patience`` is that of the :class:`console.model.reader.EventReader`.
    """

    def __init__(
        self,
        source: Source,
        *,
        glyphs: Glyphs = UNICODE,
        paused: bool = False,
        complete: Complete | None = None,
        reproduce: Reproduce | None = None,
        library: Library | None = None,
        patience: float = 1.0,
    ) -> None:
        self.source = source
        self.glyphs = glyphs
        self.complete = complete or no_completion
        self.reproduce = reproduce or no_command
        self.library = library
        self.guarded = False
        self.pacer = Pacer(source, paused=paused)
        self.index = PartitionIndex()
        self.history = History(source)
        self.timeline = Timeline(source)
        self.reader = EventReader(source, patience)
        self.explainer = Explainer(self.reader)
        self.writes = Writes(self.reader)
        self._metadata = MetadataReader()
        self.statements: list[str] = []
        self.mark_a: Moment | None = None
        self.search: Search | None = None
        self.touching: Touching | None = None
        self.subject: tuple[str, ...] = ()
        self.card: Card | None = None
        self.marked: dict[str, Fault] = {}
        self.turn = 0
        self._changed_at: dict[str, int] = {}
        """The turn at which a partition changed last, in that order."""
        self.is_new = True
        self.frame_s: float | None = None

    @property
    def read_only(self) -> bool:
        """Whether the cluster may not be changed from here: a recording, or ``--read-only``."""
        return self.source.read_only or self.guarded

    @property
    def can_forecast(self) -> bool:
        """Whether it is a running cluster, to which nothing is sent: what would happen is shown."""
        return self.source.read_only and self.source.can_forecast

    @property
    def offers_tasks(self) -> bool:
        """Whether to say what can be tried: on a live cluster, until something was."""
        return self.is_new and not self.read_only and not self.statements

    @property
    def recording(self) -> Path | None:
        """The file that is being recorded to; None without ``--record``."""
        recorder = self.source.recorder
        if recorder is None or recorder.temporary or recorder.closed:
            return None
        return recorder.path

    @property
    def present(self) -> ClusterView:
        """The read model where statements take effect: at the end of a live cluster."""
        return self.source.present

    @property
    def view(self) -> ClusterView:
        """The read model at the time cursor."""
        return self.source.view

    @property
    def is_kraft(self) -> bool:
        """Whether controllers keep the metadata, and not ZooKeeper."""
        return self.view.state.quorum is not None

    @property
    def metadata(self) -> Metadata | None:
        """KRaft's metadata at the time cursor; None where ZooKeeper keeps it.

        Of a long recording it is read between keys, and is None until it has been.
        """
        state = self.view.state
        if self._metadata.has(state):
            return self._metadata.at(state)
        with suppress(StillReadingError), self.reader.hurrying():
            return self._metadata.at(state)
        return None

    def elr(self, partition: PartitionState) -> list[int]:
        """A partition's eligible leader replicas; empty before KIP-966 and with ZooKeeper."""
        if partition.elr is not None:
            return partition.elr
        metadata = self.metadata
        return [] if metadata is None else metadata.elr(partition)

    def view_statuses(self, partition: PartitionState) -> Iterator[str]:
        """The states that hold of a partition at the time cursor."""
        return self.view.statuses(partition)

    def view_writes(self, partition: PartitionState) -> str:
        """What becomes of a partition's writes at the time cursor."""
        return self.view.writes(partition)

    def command_line(self) -> str:
        """The command line that comes back to the time cursor; empty if there is none."""
        return self.reproduce(self.source)

    @property
    def is_followed(self) -> bool:
        """Whether the index is at the time cursor."""
        return self.index.is_at(self.view)

    def settle(self) -> None:
        """Index the state, and exempt it from garbage collection."""
        self.follow()
        collect_while_drawing()

    def follow(self) -> set[str]:
        """Update the index to the cursor; return the partitions that changed.

        ``turn`` counts these calls, so that who was not on screen knows what it has missed.
        """
        self.turn += 1
        changed = self.index.refresh(self.view)
        for tp in changed:
            self._changed_at.pop(tp, None)
            self._changed_at[tp] = self.turn
        return changed

    def changed_since(self, turn: int) -> set[str]:
        """The partitions that have changed, come or gone after this ``turn``."""
        newest_first = reversed(self._changed_at.items())
        return {tp for tp, _ in takewhile(lambda change: change[1] > turn, newest_first)}
