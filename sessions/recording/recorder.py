"""Recording: an observer that stores every event, the statements, and states between them.

Events are written in chunks. The last chunk is rewritten until it is full, so a slow cluster's file
is as small as a fast one's. After a crash the file has everything up to the last flush.
"""

import sqlite3
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Final, Protocol

from emulator import events
from emulator.events import Event
from emulator.inputs.statements import Statement
from emulator.simulation.packed_list import text_bytes
from emulator.storage.record_ledger import RecordLedger
from sessions.format import codec
from sessions.format.bookmarks import merged
from sessions.format.errors import SessionError
from sessions.format.keyframes import Beginning
from sessions.format.metadata import Extent, Origin, Outcome, RecordedInput
from sessions.format.retention import Bound
from sessions.format.schema import SUFFIX
from sessions.format.writer import LOG_PAGES_MAX, SessionWriter
from sessions.model.batches import next_record
from sessions.model.cluster_view import ClusterView
from sessions.model.folding import Snapshot
from sessions.model.ledger_batches import LedgerBatches
from sessions.model.long_metadata_log import LongMetadataLog, Piece
from sessions.model.states import Batch, Batches, Bookmark
from sessions.recording.keyframe_taker import KeyframeTaker

FLUSH_SECONDS: Final = 0.2
"""Maximum wall time of events lost if the process is killed."""
CHUNK_EVENTS_MAX: Final = 4096
CHUNK_EVENTS_MIN: Final = 16
CHUNK_BYTES: Final = 1 << 19
"""Chunks that compress to more than this are made shorter (large batches, many partitions)."""
CHUNK_TEXT_MAX: Final = 1 << 24
"""A chunk whose records' texts take more memory is complete, however well they compress."""
REWRITE_EVENTS_MAX: Final = 1024
REWRITE_BYTES_MAX: Final = 1 << 15
"""A chunk of this size is not rewritten after a flush: the next event starts a new one."""
LOOK_AT_CLOCK_EVERY: Final = 64
"""Events between two checks of the wall clock while the event rate is high."""
COUNTS_PER_CHUNK_MAX: Final = 256
"""How many changes of the counts the time bar keeps of one chunk."""


class Recorded(Protocol):
    """The part of a :class:`emulator.scenario.runner.Runner` that a recorder needs on close."""

    @property
    def now_us(self) -> int:
        """Virtual time."""

    @property
    def steps(self) -> int:
        """How many kernel events have been dispatched."""

    @property
    def state_hash(self) -> str:
        """SHA-256 of the cluster's state and of everything in flight, in hex."""


ChunkListener = Callable[[list[Event]], None]


class Recorder:
    """Call it with each event, in order; :attr:`view` is the read model after the last one.

    A write that fails (a full disk) never disturbs the cluster: it ends the recording,
    :attr:`failure` says why, and :meth:`close` raises it.
    """

    def __init__(
        self,
        path: Path | str | None,
        origin: Origin,
        *,
        begin: Beginning | None = None,
        limit_bytes: int | None = None,
    ) -> None:
        """Record into a new file; None: into a temporary one that is deleted with the recorder.

        With ``begin`` the first event is the one after that state. With ``limit_bytes`` the file's
        beginning is dropped as the recording grows, so that it stays at about this size.

        Raises:
            SessionError: the file exists or cannot be created.
        """
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if path is None:
            self._folder = tempfile.TemporaryDirectory(prefix="tidegauge-")
            path = Path(self._folder.name, f"live{SUFFIX}")
        self.path = Path(path)
        self.temporary = self._folder is not None
        self._bound = None if limit_bytes is None else Bound(limit_bytes)
        log_pages_max = LOG_PAGES_MAX if self._bound is None else self._bound.log_pages_max
        self.writer = SessionWriter(self.path, origin, log_pages_max)
        self._view = ClusterView() if begin is None else ClusterView.of(begin.snapshot)
        self._view.history = []
        self._folded = 0
        self._pieces: list[Piece] = []
        self._begins_late = begin is not None
        self._ledger: LedgerBatches | None = None
        self.tail: list[Event] = []
        self.extent = Extent()
        self.failure: SessionError | None = None
        self._by_hand: dict[int, Bookmark | None] = {}
        self._has_inputs = False
        self.chunk_listeners: list[ChunkListener] = []
        self.drop_listeners: list[Callable[[], object]] = []
        self._recorded: Recorded | None = None
        self.closed = False
        self._origin = origin
        self._announced: deque[Statement] = deque()
        self._stored_seq = self._view.seq
        self._tail_bytes = 0
        self._tail_is_split = False
        self._text_bytes = 0
        self._chunk_limit = CHUNK_EVENTS_MAX
        self._next_look = 0
        self._looked = self._flushed = monotonic()
        self._frames = KeyframeTaker(self._view)
        if begin is not None:
            frame = self._frames.take_full(begin.batches)
            self._frames.note_frame(self.writer.put_keyframe(frame))
            self.writer.put_counts([(self.view.seq, self.view.time_us, self.view.counts())])
            self.writer.commit()

    # ---- taking events

    def __call__(self, event: Event) -> None:
        self.tail.append(event)
        if type(event) is events.ProduceSent:
            self._text_bytes += text_bytes(event)
            if self._text_bytes > CHUNK_TEXT_MAX:
                self._next_look = event.seq
        if event.seq >= self._next_look:
            self._look(event.seq)

    def take_chunk(self, members: list[Event], data: bytes) -> None:
        """Take the next events and the block of them; no event may be unwritten."""
        self.tail = members
        self._guarded(lambda: self._seal(data))

    @property
    def view(self) -> ClusterView:
        """The read model after the last event; ask again after later events.

        It is folded when somebody asks: many events in a row cost less than one at a time.
        """
        self._fold()
        return self._view

    def _fold(self) -> None:
        if self._folded < len(self.tail):
            self._view.apply_all(self.tail[self._folded :])
            self._folded = len(self.tail)

    def _drop_tail(self) -> None:
        self._fold()
        self.tail = []
        self._folded = self._text_bytes = 0

    @property
    def last_snapshot(self) -> Snapshot:
        """The state at the last keyframe."""
        return self._frames.last

    def announce(self, statement: Statement) -> None:
        """Announce the statement of the next InputReceived; call it before submitting that."""
        self._announced.append(statement)

    def look_in(self, ledger: RecordLedger) -> None:
        """Find the values of records in the cluster's ledger, once a chunk has been written."""
        self._ledger = LedgerBatches(ledger)
        self.view.older_batches = self._ledger.batch

    def follow(self, runner: Recorded) -> None:
        """Ask this runner for the final state when the recording is closed."""
        self._recorded = runner

    def _look(self, seq: int) -> None:
        """Seal a full chunk, flush after a while; looks are rare while events come fast."""
        now = monotonic()
        if len(self.tail) >= self._chunk_limit or self._text_bytes > CHUNK_TEXT_MAX:
            self._guarded(self._seal)
        if now - self._flushed >= FLUSH_SECONDS:
            self.flush()
        fast = now - self._looked < FLUSH_SECONDS / 4
        room = self._chunk_limit - len(self.tail)
        self._looked = now
        self._next_look = seq + (max(1, min(LOOK_AT_CLOCK_EVERY, room)) if fast else 1)

    def tick(self) -> None:
        """Flush if that is due; for callers that let wall time pass without events."""
        if self.tail and monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    # ---- bookmarks

    @property
    def bookmarks(self) -> list[Bookmark]:
        """The named places so far that the file has, by statements and by hand, in order."""
        marks = merged(self.view.state.bookmarks, self._by_hand)
        return [mark for mark in marks if mark.seq >= self.extent.first_seq - 1]

    def put_bookmark(self, mark: Bookmark) -> None:
        """Name a place by hand, and write it at once.

        Raises:
            SessionError: the recording had failed, or does now.
        """
        self._note(mark.seq, mark)

    def remove_bookmark(self, seq: int) -> bool:
        """Remove the bookmark at an event; return False if there is none. Raises like the above."""
        if all(mark.seq != seq for mark in self.bookmarks):
            return False
        self._note(seq, None)
        return True

    def _note(self, seq: int, mark: Bookmark | None) -> None:
        self.flush()
        writer = self.writer
        self._guarded(lambda: writer.put_bookmark(mark) if mark else writer.remove_bookmark(seq))
        self._guarded(writer.commit)
        if self.failure is not None:
            raise self.failure
        self._by_hand[seq] = mark

    # ---- writing

    def flush(self) -> None:
        """Write everything received so far: it survives a crash of the process."""
        self._guarded(self._write_tail)
        is_long = len(self.tail) >= REWRITE_EVENTS_MAX or self._tail_bytes > REWRITE_BYTES_MAX
        if is_long or self._tail_is_split:
            self._guarded(self._seal)

    def close(self, outcome: str = "") -> None:
        """Write the rest and the outcome, and leave one plain file; may be called again.

        Raises:
            SessionError: the recording had failed.
        """
        if self.closed:
            return
        self.closed = True
        self._guarded(self._write_tail)
        self._guarded(lambda: self.writer.close(self._outcome(outcome)))
        if self._folder is not None:
            self._folder.cleanup()
        if self.failure is not None:
            raise self.failure

    def abandon(self) -> None:
        """Leave the file as of the last write, as after a kill; may be called after ``close``."""
        if self.closed:
            return
        self.closed = True
        self.writer.abandon()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close("" if kind is None else kind.__name__)

    def _guarded(self, write: Callable[[], object]) -> None:
        if self.failure is not None:
            self._drop_tail()
            return
        try:
            write()
        except (sqlite3.Error, OSError) as error:
            self.failure = SessionError(f"{self.path} could not be written: {error}.")
            self.writer.abandon()

    def _write_tail(self, data: bytes | None = None) -> None:
        """Store the tail as it is; a longer one will take its place."""
        if self.tail and self.tail[-1].seq > self._stored_seq:
            stored = self.writer.put_chunk(self.tail, data)
            self._tail_bytes, self._tail_is_split = stored.size, not stored.is_one_chunk
            self._put_inputs(stored.groups)
            self._put_marks(stored.groups)
            self._put_counts()
            self._stored_seq = self.tail[-1].seq
        self.writer.commit()
        self._flushed = monotonic()

    def _seal(self, data: bytes | None = None) -> None:
        """Complete the tail as a chunk."""
        self._write_tail(data)
        for listen in self.chunk_listeners:
            listen(self.tail)
        size, self._tail_bytes, self._tail_is_split = self._tail_bytes, 0, False
        self._frames.note_chunk(len(self.tail), size)
        self._chunk_limit = adapted(self._chunk_limit, size)
        self._drop_tail()
        self._note_records()
        if self._bound is not None:
            self._keep_bound(self._bound, size)
        if self._ledger is not None:
            state = self.view.state
            state.batches = Batches(state.batches[-1:])
        frame = self._frames.take_if_due()
        if frame is not None:
            self._frames.note_frame(self.writer.put_keyframe(frame))
        self.writer.commit()  # others may want to write bookmarks

    def _note_records(self) -> None:
        """Note where the records of the metadata log are in the file, which keeps all of them."""
        quorum = self.view.state.quorum
        if quorum is None or self._bound is not None or self._begins_late:
            return
        pieces, log = self._pieces, quorum.log
        if len(log) > (pieces[-1][1] if pieces else 0):
            pieces.append((self.view.seq, len(log)))
        if isinstance(log, LongMetadataLog):
            log.pieces = pieces

    def _keep_bound(self, bound: Bound, size: int) -> None:
        """After a chunk of ``size`` bytes: add a starting point, drop the beginning if needed."""
        bound.note_chunk(size)
        if bound.is_place_due:
            size = self.writer.put_keyframe(self._frames.take_full([]))
            self._frames.note_frame(size)
            state = self.view.state
            bound.note_place(state.seq, state.time_us, next_record(state.batches), size)
        begins = None
        while (beginning := bound.next_beginning(self.writer.used_bytes)) is not None:
            self.writer.drop_before(beginning.extent)
            begins = beginning
        if begins is not None:
            batches = bound.early(begins, self._all_batches())
            self.writer.put_batches(begins.extent.first_seq - 1, batches)
            self.writer.commit()
            self.extent = begins.extent
            for listen in self.drop_listeners:
                listen()

    def _all_batches(self) -> Sequence[Batch]:
        return self.view.state.batches if self._ledger is None else self._ledger.all()

    def _put_inputs(self, groups: codec.Groups) -> None:
        for event in groups.get(events.InputReceived, ()):
            assert isinstance(event, events.InputReceived)
            if event.seq > self._stored_seq:
                statement = self._statement(event)
                self._has_inputs = True
                fields = (event.seq, event.time_us, event.steps, event.line, event.text)
                self.writer.put_input(RecordedInput(*fields, statement))

    def _put_marks(self, groups: codec.Groups) -> None:
        for event in groups.get(events.BookmarkSet, ()):
            assert isinstance(event, events.BookmarkSet)
            if event.seq > self._stored_seq:
                mark = Bookmark(event.name, event.note, event.seq, event.time_us)
                self.writer.put_bookmark(mark)

    def _statement(self, event: events.InputReceived) -> Statement | None:
        """Return the statement announced for this input; None if it was not announced."""
        if self._announced and self._announced[0].text == event.text:
            return self._announced.popleft()
        if not self._has_inputs and event.text.split()[:1] == ["cluster"]:
            return Statement(self._origin.cluster, event.text, event.line)
        return None

    def _put_counts(self) -> None:
        """Keep all changes of the counts or, of very many, the last and some before it."""
        changes = self.view.settle_history()
        step = -(-len(changes) // COUNTS_PER_CHUNK_MAX) or 1
        self.writer.put_counts(changes[-1::-step])
        self.view.history = []

    def _outcome(self, word: str) -> Outcome | None:
        return None if self._recorded is None else outcome_of(self.view, self._recorded, word)


def adapted(limit: int, size: int) -> int:
    """Return how many events the next chunk may have, after one of ``size`` bytes.

    Chunks are shorter while events are large, and longer again when they are not.
    """
    if size > CHUNK_BYTES:
        return max(CHUNK_EVENTS_MIN, limit // 2)
    return min(CHUNK_EVENTS_MAX, limit * 2) if size < CHUNK_BYTES // 4 else limit


def outcome_of(view: ClusterView, run: Recorded, word: str = "") -> Outcome:
    """Return the outcome of a run, from its view and the run itself."""
    state = view.state
    partitions = state.partitions.values()
    return Outcome(
        events=view.seq,
        time_us=run.now_us,
        steps=run.steps,
        state_hash=run.state_hash,
        acked=state.acked,
        lost=sum(p.lost_count for p in partitions),
        duplicated=sum(len(p.duplicated) for p in partitions),
        diverged=sum(len(p.diverged) for p in partitions),
        consumed_lost=sum(len(p.consumed_lost) for p in partitions),
        passed=state.expectations.passed,
        failed=len(state.expectations.failed),
        violations=len(state.invariants),
        outcome=word,
    )
