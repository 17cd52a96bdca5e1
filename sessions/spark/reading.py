"""Read one table from session files as Arrow batches: the same rows as those of an export."""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from msgspec import Struct

from emulator.events import TYPES
from sessions.dataset.arrow_rows import ArrowRows
from sessions.dataset.export_files import facts_of, require_rows, session_id
from sessions.dataset.schema import Table
from sessions.dataset.session_rows import FOLDS, SessionRows
from sessions.dataset.tables import EVENTS
from sessions.format.errors import SessionError, consistent
from sessions.format.file import Chunk, SessionFile
from sessions.garbage_collection import collector_paused
from sessions.spark.pushdown import SEQ_COLUMN, TIME_COLUMN, TYPE_COLUMN, Conditions

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS: Final = 16_384
"""Maximum rows of a batch: more than these may be too large for a column of texts."""

Give = Callable[[str, "pa.Table"], object]
Mode = Literal["PERMISSIVE", "FAILFAST"]
"""What happens if a session is damaged: a warning, and it ends before the damage; or an error."""


MODES: Final[tuple[Mode, ...]] = get_args(Mode)


class Reading(Struct, frozen=True):
    """A query: a table, some of its columns or all, and the rows that may be needed."""

    table: Table
    columns: tuple[str, ...]
    mode: Mode = "PERMISSIVE"
    conditions: Conditions = Conditions()

    def batches(self, files: Iterable[str], schema: "pa.Schema") -> "Iterator[pa.RecordBatch]":
        """Read files, one after the other, in bounded memory; ``schema`` is that of the columns.

        Raises:
            SessionError: a session is damaged and the mode is ``FAILFAST``.
        """
        ready: list[pa.Table] = []

        def give(name: str, rows: "pa.Table") -> None:
            if name == self.table.name:
                ready.append(rows.select(self.columns).cast(schema))

        for file in files:
            for _ in self._session(Path(file), give):
                if sum(rows.num_rows for rows in ready) >= BATCH_ROWS:
                    yield from _take(ready)
        yield from _take(ready)

    def _names(self) -> Collection[str]:
        """Return the table with those that are made together with it."""
        name = self.table.name
        return next((names for names, _ in FOLDS if name in names), (name,))

    def _session(self, path: Path, give: Give) -> Iterator[None]:
        """Give the rows of a session; yield whenever there may be some.

        Sessions share no conversion, so what is wrong with one does no harm to another.
        """
        names = self._names()
        into = ArrowRows(give, names)
        try:
            with SessionFile(path) as session, consistent(path):
                require_rows(session)
                if session.damage:
                    self._on_damage(SessionError(session.damage))
                rows = SessionRows(session_id(path), names)
                kinds = rows.columns if (kinds_needed := self._kinds()) is None else kinds_needed
                last_seq = session.last_seq
                for chunk in session.chunks:
                    if chunk.first_seq > last_seq:
                        break
                    if self._may_have_rows(chunk):
                        with collector_paused():
                            block = session.unpacked(chunk, kinds)
                            rows.add_block(block.up_to(last_seq))
                            into.take(rows)
                        yield
                rows.finish(facts_of(session))
                into.take(rows)
                into.finish()
        except SessionError as error:
            self._on_damage(error)
        yield

    def _may_have_rows(self, chunk: Chunk) -> bool:
        """Return whether a chunk is needed; only in ``events`` rows are independent of others."""
        return self.table.name != EVENTS.name or (
            self.conditions.may_hold(SEQ_COLUMN, chunk.first_seq, chunk.last_seq)
            and self.conditions.may_hold(TIME_COLUMN, chunk.first_us, chunk.last_us)
        )

    def _kinds(self) -> "Collection[type[Any]] | None":
        """Return the types of events that are asked for; None: not only some."""
        if self.table.name != EVENTS.name or not self.conditions.name(TYPE_COLUMN):
            return None
        return frozenset(
            kind for name, kind in TYPES.items() if self.conditions.may_hold(TYPE_COLUMN, name)
        )

    def _on_damage(self, error: SessionError) -> None:
        if self.mode == "FAILFAST":
            raise error
        warnings.warn(str(error), RuntimeWarning, stacklevel=2)


def _take(tables: "list[pa.Table]") -> "Iterator[pa.RecordBatch]":
    """Remove all tables and return their rows as few batches."""
    import pyarrow as pa

    if tables:
        rows = pa.concat_tables(tables)
        tables.clear()
        yield from rows.combine_chunks().to_batches(max_chunksize=BATCH_ROWS)
