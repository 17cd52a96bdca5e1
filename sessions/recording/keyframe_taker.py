"""When keyframes are taken while a session is recorded, and what each is based on."""

from typing import Final

from sessions.format import keyframes
from sessions.model.cluster_view import ClusterView
from sessions.model.folding import Snapshot
from sessions.model.states import Batch

KEYFRAME_EVENTS_MIN: Final = 24_576
KEYFRAME_EVENTS_MAX: Final = 49_152
"""Between these, a keyframe is taken when the chunks since the last one outweigh it."""
KEYFRAME_SHARE: Final = 3
"""How many times larger than a keyframe the chunks before it should be."""
CHAIN_MAX: Final = 24
"""After how many keyframes based on each other there is a full one."""


class KeyframeTaker:
    """Decides when a keyframe is due and what it is based on: bytes against the time of a seek."""

    def __init__(self, view: ClusterView) -> None:
        self.view = view
        self.last: Snapshot = keyframes.EMPTY
        self._events = self._bytes = 0
        self._frame_bytes = self._chain_bytes = self._full_bytes = self._chain = 0

    def note_chunk(self, count: int, size: int) -> None:
        """A chunk of ``count`` events took ``size`` bytes."""
        self._events += count
        self._bytes += size

    def take_if_due(self) -> keyframes.Keyframe | None:
        """A keyframe of the view as it is now, if enough has happened since the last one."""
        if self._events < KEYFRAME_EVENTS_MIN:
            return None
        light = self._bytes < KEYFRAME_SHARE * self._frame_bytes
        if light and self._events < KEYFRAME_EVENTS_MAX:
            return None
        full = self._chain >= CHAIN_MAX or self._chain_bytes > self._full_bytes > 0
        return self._take(full=full)

    def take_full(self, batches: list[Batch]) -> keyframes.Keyframe:
        """A keyframe at which a file may begin, with ``batches`` that came before."""
        frame = self._take(full=True)
        frame.state.batches = batches
        return frame

    def _take(self, *, full: bool) -> keyframes.Keyframe:
        snapshot = self.view.snapshot()
        frame = keyframes.take(self.view, keyframes.EMPTY if full else self.last, snapshot)
        self._chain = 0 if full else self._chain + 1
        self.last = snapshot
        self._events = self._bytes = 0
        return frame

    def note_frame(self, size: int) -> None:
        """The keyframe just taken has ``size`` bytes."""
        if self._chain == 0:
            self._full_bytes, self._chain_bytes = size, 0
        else:
            self._frame_bytes = size
            self._chain_bytes += size
            self._full_bytes = self._full_bytes or size
