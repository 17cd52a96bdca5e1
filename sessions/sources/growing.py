"""The source that is being recorded while it is shown: its past comes from its own recording."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

from emulator.events import Event
from sessions.format.allowance import Allowance
from sessions.format.bookmarks import bookmark
from sessions.format.chunks import Chunks, Kinds
from sessions.format.file import SessionFile
from sessions.format.keyframes import EMPTY
from sessions.format.schema import SUFFIX
from sessions.model.cluster_view import ClusterView
from sessions.model.health import Counts
from sessions.model.states import Bookmark
from sessions.model.touches import object_name
from sessions.playback.cursor import Cursor
from sessions.recording.recorder import Recorder
from sessions.sources.source import Source


class GrowingSource(Source):
    """A cluster that goes on at its end, with its recorder, which must have seen every event of it.

    While the cursor is at the end, the view is the recorder's. Anywhere else it is that of the
    recording.
    """

    goes_on = True
    can_forecast = True

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.name = recorder.path.name.removesuffix(SUFFIX)
        self._session = SessionFile(recorder.path, check=False)
        self._chunks = Chunks(self._session, lambda: recorder.tail)
        recorder.chunk_listeners.append(self._chunks.remember)
        recorder.drop_listeners.append(self._session.refresh)
        self._past: Cursor | None = None
        self._samples: list[tuple[int, int, Counts]] = []

    @property
    def recorder(self) -> Recorder:
        return self._recorder

    # ---- the cursor

    @property
    def view(self) -> ClusterView:
        return self.recorder.view if self._past is None else self._past.replay.view

    @property
    def seq(self) -> int:
        return self.view.seq

    @property
    def time_us(self) -> int:
        return self.last_time_us if self._past is None else self._past.replay_us

    @property
    def first_seq(self) -> int:
        return self.recorder.extent.first_seq

    @property
    def last_seq(self) -> int:
        return self.recorder.view.seq

    @property
    @abstractmethod
    def last_time_us(self) -> int:
        """The time now."""

    @property
    def trouble(self) -> str:
        """Why the recording has ended, if it could not be written."""
        failure = self.recorder.failure
        return "" if failure is None else f"The recording has ended: {failure}"

    @property
    def at_tail(self) -> bool:
        return self._past is None

    @property
    def present(self) -> ClusterView:
        return self.recorder.view

    # ---- moving it

    def play_past(self, duration_us: int, budget_ms: float) -> int:
        """Move through the past for a frame; return how many events passed."""
        assert self._past is not None
        passed = self._past.play(duration_us, self.last_time_us, budget_ms)
        if self._past.replay.seq >= self.last_seq:
            self.to_tail()
        return passed

    def seek_seq(self, seq: int) -> None:
        if seq >= self.last_seq:
            self.to_tail()
        else:
            self._enter_past().seek_seq(seq)

    def seek_time(self, time_us: int) -> None:
        if time_us >= self.last_time_us:
            self.to_tail()
        else:
            self._enter_past().seek_time(time_us)

    def to_tail(self) -> None:
        self._past = None

    def _enter_past(self) -> Cursor:
        if self._past is None:
            self._session.refresh()
            self._past = Cursor(self._chunks)
            snapshot = self.recorder.last_snapshot
            if snapshot is not EMPTY:
                self._past.replay.start_from(snapshot)
        return self._past

    # ---- reading

    def events(self, first: int, last: int) -> Sequence[Event]:
        return self._chunks.events(first, last)

    def touching(
        self, objects: Iterable[int | str], seq: int, direction: int, kinds: Kinds = None
    ) -> int | None:
        return self._chunks.touching(set(map(object_name, objects)), seq, direction, kinds)

    def reading_at_most(self, allowance: Allowance) -> AbstractContextManager[None]:
        return self._chunks.reading_at_most(allowance)

    def bookmarks(self) -> Sequence[Bookmark]:
        return self.recorder.bookmarks

    def put_bookmark(self, name: str, note: str = "", seq: int | None = None) -> Bookmark:
        bookmarked = self.seq if seq is None else min(seq, self.last_seq)
        mark = bookmark(name, note, bookmarked, self._chunks.time_of(bookmarked))
        self.recorder.put_bookmark(mark)
        return mark

    def remove_bookmark(self, seq: int) -> bool:
        return self.recorder.remove_bookmark(seq)

    def flush(self) -> None:
        self.recorder.flush()

    def samples(self) -> Sequence[tuple[int, int, Counts]]:
        last_seq = self._samples[-1][0] if self._samples else 0
        self._samples += self._session.summary(last_seq)
        return [*self._samples, *self.recorder.view.settle_history()]

    def close(self) -> None:
        """Read no more; the recorder is the caller's."""
        self.recorder.chunk_listeners.remove(self._chunks.remember)
        self.recorder.drop_listeners.remove(self._session.refresh)
        self._session.close()
