"""What moves on the tapes of a partition: high watermarks that glide, and truncated records.

A step is easier to follow if what changes is seen changing. Only what was drawn before moves, only
within what is shown, and only for a fraction of a second; then the tapes are as the events say.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from console.model.tape_window import Record
from sessions.model.states import PartitionState

GLIDE_S: Final = 0.5
"""How long a high watermark moves from one place to the next."""
VANISH_S: Final = 0.8
"""How long truncated records take to vanish, from the end of the log."""
SPAN_MAX: Final = 200
"""Moves over more offsets than any screen shows are not drawn."""


class Vanishing(Struct, frozen=True):
    """Records that a replica lost: those from ``until`` on are gone already, up to ``end``."""

    records: dict[int, Record]
    until: int
    end: int


class Still(Struct, frozen=True):
    """What was drawn last of a replica: its high watermark, its end, and its last records."""

    high_watermark: int
    end: int
    records: dict[int, Record]


class Move(Struct, frozen=True):
    """A change of a replica that began at ``began_s`` of wall-clock time."""

    began_s: float
    before: Still
    now: Still


class Motion:
    """The moves of one partition's tapes; nothing moves while ``now_s`` is None."""

    def __init__(self) -> None:
        self._still: dict[int, Still] = {}
        self._glides: dict[int, Move] = {}
        self._cuts: dict[int, Move] = {}
        self._seq = 0

    def follow(
        self, partition: PartitionState, seq: int, now_s: float | None, *, is_step: bool
    ) -> None:
        """Take note of what is drawn at event ``seq``.

        High watermarks glide only in a step of a paused cursor: of a running cluster they move all
        the time.
        """
        before, self._still = self._still, {}
        is_back, self._seq = seq < self._seq, seq
        for broker, replica in partition.replica_states.items():
            end, known = replica.log_end_offset, before.get(broker)
            records = _last_records(partition, broker, known)
            still = self._still[broker] = Still(replica.high_watermark, end, records)
            if now_s is None or known is None:
                continue
            if is_step and 1 < abs(still.high_watermark - known.high_watermark) <= SPAN_MAX:
                self._glides[broker] = Move(now_s, known, still)
            elif still.high_watermark != known.high_watermark:
                self._glides.pop(broker, None)
            if end < known.end <= end + SPAN_MAX and not is_back:
                self._cuts[broker] = Move(now_s, known, still)
            elif end != known.end:
                self._cuts.pop(broker, None)
        for moves, seconds in ((self._glides, GLIDE_S), (self._cuts, VANISH_S)):
            for broker in [
                broker for broker, move in moves.items() if _is_over(move, now_s, seconds)
            ]:
                del moves[broker]

    @property
    def is_moving(self) -> bool:
        """Whether the next frame has to draw the tapes again."""
        return bool(self._glides or self._cuts)

    def high_watermarks(self, now_s: float | None) -> Mapping[int, int]:
        """Where the high watermarks of brokers stand that are on their way."""
        return (
            {}
            if now_s is None
            else {broker: _between(move, now_s) for broker, move in self._glides.items()}
        )

    def vanishing(self, now_s: float | None) -> Mapping[int, Vanishing]:
        """What brokers' replicas are just losing."""
        shown: dict[int, Vanishing] = {}
        if now_s is None:
            return shown
        for broker, move in self._cuts.items():
            first, end = move.now.end, move.before.end
            gone = round((end - first) * min(1.0, (now_s - move.began_s) / VANISH_S))
            records = {o: r for o, r in move.before.records.items() if first <= o < end}
            shown[broker] = Vanishing(records, end - gone, end)
        return shown


def _is_over(move: Move, now_s: float | None, seconds: float) -> bool:
    return now_s is None or now_s - move.began_s >= seconds


def _between(move: Move, now_s: float) -> int:
    begin, end = move.before.high_watermark, move.now.high_watermark
    return begin + round((end - begin) * min(1.0, (now_s - move.began_s) / GLIDE_S))


def _last_records(partition: PartitionState, broker: int, known: Still | None) -> dict[int, Record]:
    """The newest records of a replica by offset; the same ones if its end is the same."""
    replica = partition.replica_states[broker]
    if known is not None and known.end == replica.log_end_offset and known.records:
        return known.records
    first = max(replica.log_start, replica.log_end_offset - SPAN_MAX)
    records: dict[int, Record] = {}
    for run in reversed(replica.log):
        if run.base_offset + run.count <= first:
            break
        for offset in range(max(run.base_offset, first), run.base_offset + run.count):
            records[offset] = (run.leader_epoch, run.first_record + offset - run.base_offset)
    return records
