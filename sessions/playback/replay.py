"""Replay: the read model at any event of a recording, computed from the nearest known state.

States are known at keyframes, and at places that earlier moves left behind: snapshots share what
did not change, so stepping back event by event costs little.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from math import inf
from operator import attrgetter
from time import perf_counter
from typing import Final

from sessions.format import keyframes
from sessions.format.chunks import Chunks
from sessions.format.errors import (
    INCONSISTENT,
    SessionDroppedError,
    SessionEndedError,
    contradiction,
)
from sessions.format.file import KeyframePlace
from sessions.format.keyframes import EMPTY
from sessions.format.limits import CHAIN_MAX
from sessions.garbage_collection import collector_paused, spare_new_state
from sessions.model.cluster_view import ClusterView
from sessions.model.folding import Snapshot
from sessions.model.long_metadata_log import LongMetadataLog

SNAPSHOTS_MAX: Final = 8
"""How many states are kept in memory; they share what they have in common."""
TWICE_PARTITIONS_MAX: Final = 50_000
"""Two states of more partitions than this, which share nothing, take more than a gigabyte."""
KEYFRAME_WORTH_EVENTS: Final = 4_096
"""Loading a keyframe is worth it if it saves folding this many events."""
LOADS_MAX: Final = 3
"""How many keyframes are tried in one move; if none can be read, events are folded."""
BREADCRUMBS: Final = (1_024, 128, 16)
"""How many events before the target of a small move back states are kept."""
FAR_BREADCRUMBS: Final = (16_384, 128)
"""The same before the target of any longer move, which a small move back may follow."""

_SEQ: Final = attrgetter("seq")


class _BrokenChainError(Exception):
    """A keyframe, or the one that it is based on, cannot be read."""

    def __init__(self, place: KeyframePlace) -> None:
        super().__init__(place)
        self.place = place


class Replay:
    """A cursor over a recording; :attr:`view` is the read model after event :attr:`seq`.

    The view object is another one after a move back; hold the replay, not the view.
    """

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks
        self._start = EMPTY
        self._snapshots: OrderedDict[int, Snapshot] = OrderedDict()
        self._broken: set[int] = set()
        self._deadline = inf
        self._far_goal: int | None = None
        self.view = self._view_of(self._beginning())

    @property
    def seq(self) -> int:
        """The number of the event at the cursor; 0 before the first."""
        return self.view.seq

    # ---- moving

    def seek_seq(self, seq: int, within_s: float | None = None) -> None:
        """Go to the state right after event ``seq``, clamped to the recording's events.

        ``within_s``: stop on the way, at a block of events, once this time has passed.
        """
        self._deadline = inf if within_s is None else perf_counter() + within_s
        is_far = abs(seq - self.view.seq) > KEYFRAME_WORTH_EVENTS
        with collector_paused():
            while True:
                begin = self._beginning().seq
                if self.view.seq < begin:
                    self.view = self._view_of(self._start)
                try:
                    self._seek(max(begin, min(seq, self.chunks.last_seq)))
                except (SessionDroppedError, SessionEndedError):  # its ends are others just now
                    continue
                if is_far:
                    spare_new_state()
                return

    def _seek(self, seq: int) -> None:
        distance = seq - self.view.seq
        if distance < 0:
            self._restart(seq)
        elif distance > KEYFRAME_WORTH_EVENTS:
            self._skip(seq)
        if abs(distance) > KEYFRAME_WORTH_EVENTS:
            self._far_goal = seq
        is_far = self._far_goal == seq  # also the last part of a far move that was interrupted
        crumbs = FAR_BREADCRUMBS if is_far else BREADCRUMBS if distance < 0 else ()
        if self._leaves_breadcrumbs(seq, crumbs):
            self._fold_to(seq)
        if self.view.seq >= seq:
            self._far_goal = None

    def _leaves_breadcrumbs(self, seq: int, distances: Iterable[int]) -> bool:
        """Keep states shortly before ``seq``: it is often followed by a step back.

        Return False if there was no time to get to the place of one: going on would pass it.
        """
        for distance in distances:
            if self.view.seq < seq - distance:
                self._fold_to(seq - distance)
                if self.view.seq < seq - distance:
                    return False
                self._keep(self.view.snapshot())
        return True

    def is_near(self, seq: int, events: int) -> bool:
        """Whether a move takes no longer than folding this many events."""
        here = self.view.seq
        if here <= seq or len(self.view.partitions) <= TWICE_PARTITIONS_MAX:
            return abs(seq - here) <= events
        return seq - self._nearest_snapshot(seq).seq <= events

    def seek_time(self, time_us: int) -> None:
        """Go to the state after the last event at or before a virtual time."""
        self.seek_seq(self.chunks.seq_at(time_us))

    def step(self, count: int) -> None:
        """Go ``count`` events forward, or (negative) back."""
        self.seek_seq(self.view.seq + count)

    def start_from(self, snapshot: Snapshot) -> None:
        """Know a state that somebody else came by."""
        self._keep(snapshot)

    # ---- where to start from

    def _beginning(self) -> Snapshot:
        """The state before the first event that is kept."""
        first = self.chunks.first_seq
        if self._start.seq != first - 1:
            frame = self.chunks.session.beginning()
            assert frame is not None
            self._start = keyframes.rebuild(EMPTY, [frame]).snapshot()
            self._snapshots = OrderedDict(
                (seq, snapshot) for seq, snapshot in self._snapshots.items() if seq >= first
            )
        return self._start

    def _restart(self, seq: int) -> None:
        """Go to the nearest known state at or before ``seq``."""
        snapshot = self._nearest_snapshot(seq)
        place = self._nearest_keyframe(seq)
        loads = place is not None and place.seq > snapshot.seq + KEYFRAME_WORTH_EVENTS
        if loads or snapshot is self._start:
            self._make_room()
        self.view = self._load(place) if loads and place is not None else self._view_of(snapshot)

    def _make_room(self) -> None:
        """Forget the states of a very large cluster, before one comes that shares nothing."""
        if len(self.view.partitions) > TWICE_PARTITIONS_MAX:
            self._snapshots.clear()
            self.view = self._view_of(self._start)

    def _skip(self, seq: int) -> None:
        """Jump to a later known state well before ``seq``, if there is one."""
        here = self.view.seq
        place = self._nearest_keyframe(seq)
        snapshot = self._nearest_snapshot(seq)
        if max(place.seq if place is not None else 0, snapshot.seq) > here + KEYFRAME_WORTH_EVENTS:
            self._restart(seq)

    def _nearest_snapshot(self, seq: int) -> Snapshot:
        best = max((at for at in self._snapshots if at <= seq), default=0)
        if best <= self._start.seq:
            return self._start
        self._snapshots.move_to_end(best)
        return self._snapshots[best]

    def _nearest_keyframe(self, seq: int) -> KeyframePlace | None:
        keyframe_places = self.chunks.session.keyframes
        index = bisect_right(keyframe_places, seq, key=_SEQ) - 1
        while index >= 0 and keyframe_places[index].seq in self._broken:
            index -= 1
        return keyframe_places[index] if index >= 0 else None

    def _load(self, place: KeyframePlace, loads: int = LOADS_MAX) -> ClusterView:
        """The view at a keyframe, or at an earlier known state if its data is damaged."""
        chain = [place]
        base = self._base_of(place)
        while base is None and len(chain) < CHAIN_MAX:
            earlier = self._keyframe_at(chain[-1].base_seq)
            if earlier is None:
                break
            chain.append(earlier)
            base = self._base_of(earlier)
        try:
            if base is None:
                raise _BrokenChainError(chain[-1])
            view = keyframes.rebuild(base, self._frames(chain[::-1]))
        except _BrokenChainError as error:
            self._broken.update(
                keyframe.seq for keyframe in chain if keyframe.seq >= error.place.seq
            )
            return self._without(place.seq, loads - 1)
        except INCONSISTENT:
            self._broken.update(keyframe.seq for keyframe in chain)
            return self._without(place.seq, loads - 1)
        view.older_batches = self.chunks.batch
        self._read_long_log(view)
        if len(view.partitions) <= TWICE_PARTITIONS_MAX:
            self._keep(view.snapshot())
        return view

    def _read_long_log(self, view: ClusterView) -> None:
        quorum = view.state.quorum
        if quorum is not None and isinstance(quorum.log, LongMetadataLog):
            quorum.log.read_with(self.chunks.records)

    def _base_of(self, place: KeyframePlace) -> Snapshot | None:
        return EMPTY if place.base_seq == 0 else self._snapshots.get(place.base_seq)

    def _frames(self, keyframe_places: list[KeyframePlace]) -> Iterator[keyframes.Keyframe]:
        """Yield the keyframes at these places, one in memory at a time.

        Raises:
            _BrokenChainError: one is damaged, or is based on another one than its place says.
        """
        room = keyframes.Room()
        for place in keyframe_places:
            frame = self.chunks.session.keyframe(place, room)
            if frame is None or frame.base_seq != place.base_seq:
                raise _BrokenChainError(place)
            yield frame

    def _without(self, seq: int, loads: int) -> ClusterView:
        place = self._nearest_keyframe(seq) if loads else None
        if place is None:
            return self._view_of(self._nearest_snapshot(seq))
        return self._load(place, loads)

    def _keyframe_at(self, seq: int) -> KeyframePlace | None:
        place = self._nearest_keyframe(seq)
        return place if place is not None and place.seq == seq else None

    def _view_of(self, snapshot: Snapshot) -> ClusterView:
        view = ClusterView.of(snapshot)
        view.older_batches = self.chunks.batch
        return view

    # ---- folding

    def _fold_to(self, seq: int) -> None:
        view = self.view
        begin = view.seq
        while view.seq < seq and (view.seq == begin or perf_counter() < self._deadline):
            first = view.seq + 1
            chunk = self.chunks.containing(first)
            begin = first - chunk[0].seq
            try:
                view.apply_all(chunk[begin : begin + seq - view.seq])
            except INCONSISTENT as error:
                self.view = self._view_of(self._start)
                self._snapshots.clear()
                self.chunks.session.end_before(chunk[0].seq, contradiction(error))

    def _keep(self, snapshot: Snapshot) -> None:
        self._snapshots[snapshot.seq] = snapshot
        self._snapshots.move_to_end(snapshot.seq)
        while len(self._snapshots) > SNAPSHOTS_MAX:
            self._snapshots.popitem(last=False)
