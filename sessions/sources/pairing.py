"""Two runs of the same statements, event by event: what happened in both, and where they part.

Runs on two releases differ in every message and in most times, so neither numbers nor times can
pair them. What is compared is what became of records, leaders and processes: for each statement and
each object (a replica, a partition, a broker, a client) the events of both runs in their order. Up
to the first that differs they are the same; from there on, until the statement's end, they are not.
A statement that only waits belongs to the one before: with ZooKeeper a topic is created after the
statement has ended, in KRaft before.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, Final

from msgspec import Struct

from emulator import events
from emulator.events import Event

READ_AT_ONCE: Final = 1_024
"""Events that are looked at together."""

COMPARED: Final[dict[type[Event], tuple[str, ...]]] = {
    events.BrokerStateChanged: ("broker", "state"),
    events.ControllerElected: ("broker", "epoch"),
    events.PartitionStateChanged: ("tp", "leader", "leader_epoch", "isr"),
    events.RecordsAppended: ("tp", "broker", "base_offset", "count", "first_record"),
    events.LogTruncated: ("tp", "broker", "log_end_offset", "previous"),
    events.LogDeleted: ("tp", "broker"),
    events.HighWatermarkChanged: ("tp", "broker", "high_watermark"),
    events.ReplicaRoleChanged: ("tp", "broker", "role"),
    events.ProduceAcknowledged: ("producer", "tp", "first_record", "count", "base_offset"),
    events.ProduceFailed: ("producer", "tp", "first_record", "count", "error"),
    events.RecordsConsumed: ("consumer", "tp", "offset", "runs"),
    events.ConsumeFinished: ("consumer", "tp", "position", "error"),
    events.ExpectationChecked: ("text", "passed"),
    events.AuditChanged: ("tp", "lost", "duplicated", "diverged", "consumed_lost", "lost_offsets"),
    events.InputFinished: ("error",),
    events.InputReceived: (),
}
"""What is compared, and by which fields."""

WAITS: Final = ("wait ", "settle")
"""How statements begin that only let time pass."""

OBJECTS: Final[dict[type[Event], Callable[[Any], Iterable[object]]]] = {
    events.BrokerStateChanged: lambda event: ("broker", event.broker),
    events.RecordsAppended: lambda event: ("replica", event.tp, event.broker),
    events.LogTruncated: lambda event: ("replica", event.tp, event.broker),
    events.LogDeleted: lambda event: ("replica", event.tp, event.broker),
    events.HighWatermarkChanged: lambda event: ("hw", event.tp, event.broker),
    events.ReplicaRoleChanged: lambda event: ("role", event.tp, event.broker),
    events.PartitionStateChanged: lambda event: ("state", event.tp),
    events.AuditChanged: lambda event: ("audit", event.tp),
    events.ProduceAcknowledged: lambda event: ("producer", event.producer),
    events.ProduceFailed: lambda event: ("producer", event.producer),
    events.RecordsConsumed: lambda event: ("consumer", event.consumer),
    events.ConsumeFinished: lambda event: ("consumer", event.consumer),
}
"""Which object a compared event is of, where it is not of its kind alone."""


class Pair(Struct, frozen=True):
    """A position in both runs: an event of each, or of one only (the other is None).

    ``same``: they are equal, or it is the statement with which both continued.
    """

    left: int | None
    right: int | None
    same: bool


class _Side:
    """One run, split into statements; only new events are read."""

    def __init__(self, read: Callable[[int, int], Sequence[Event]]) -> None:
        self.read = read
        self.seen = 0
        self.parts: list[list[Event]] = []

    def look(self, last_seq: int) -> bool:
        """Read new events; return whether any of them is compared."""
        is_compared = False
        while self.seen < last_seq:
            part = self.read(self.seen + 1, min(last_seq, self.seen + READ_AT_ONCE))
            if not part:
                break
            for event in part:
                is_compared |= self._take(event)
            self.seen = part[-1].seq
        return is_compared

    def _take(self, event: Event) -> bool:
        if isinstance(event, events.InputReceived) and not event.text.startswith(WAITS):
            self.parts.append([event])
        elif type(event) in COMPARED and self.parts and not _is_done(event):
            self.parts[-1].append(event)
        else:
            return False
        return True


def _is_done(event: Event) -> bool:
    """A statement that has just ended: worth nothing unless it is refused in one run only."""
    return isinstance(event, events.InputFinished) and event.error == "NONE"


class Pairing:
    """The pairs of two runs in order; they grow as the runs continue."""

    def __init__(
        self,
        left: Callable[[int, int], Sequence[Event]],
        right: Callable[[int, int], Sequence[Event]],
    ) -> None:
        """Pair two runs, each given by how its events of a first to a last number are read."""
        self._left, self._right = _Side(left), _Side(right)
        self.pairs: list[Pair] = []
        self._settled: list[Pair] = []
        self._lefts: list[int] = []
        self._rights: list[int] = []
        self._parts = 0

    def look(self, left_seq: int, right_seq: int) -> bool:
        """Pair what has happened up to these events; return whether there is anything new."""
        news = [self._left.look(left_seq), self._right.look(right_seq)]
        if not any(news):
            return False
        left, right = self._left.parts, self._right.parts
        last = max(len(left), len(right)) - 1
        for number in range(self._parts, last):
            self._settled += pairs_of(_part(left, number), _part(right, number))
        self._parts = max(self._parts, last)
        self.pairs = self._settled + pairs_of(_part(left, last), _part(right, last))
        self._lefts = list(accumulate((pair.left or 0 for pair in self.pairs), max))
        self._rights = list(accumulate((pair.right or 0 for pair in self.pairs), max))
        return True

    @property
    def first_difference(self) -> int | None:
        """The number of the first pair that is not the same; None if there is none."""
        return next((n for n, pair in enumerate(self.pairs) if not pair.same), None)

    def pair_at(self, left_seq: int) -> int:
        """The pair that the left run is at (-1: before all)."""
        return bisect_right(self._lefts, left_seq) - 1

    def reached(self, number: int) -> tuple[int, int]:
        """The events that the two runs have come to at a pair (0: none yet)."""
        exists = 0 <= number < len(self.pairs)
        return (self._lefts[number], self._rights[number]) if exists else (0, 0)


def _part(parts: Sequence[list[Event]], number: int) -> list[Event]:
    return parts[number] if 0 <= number < len(parts) else []


def pairs_of(left: Sequence[Event], right: Sequence[Event]) -> list[Pair]:
    """The pairs of what one statement did in two runs, in the order of the left one."""
    partners = _partners(left, right)
    paired = {partner for partner, _ in partners.values()}
    alone = deque(event.seq for event in right if event.seq not in paired)
    pairs: list[Pair] = []
    for event in left:
        partner, agrees = partners.get(event.seq, (None, False))
        while partner is not None and alone and alone[0] < partner:
            pairs.append(Pair(None, alone.popleft(), False))
        pairs.append(Pair(event.seq, partner, agrees))
    return [*pairs, *(Pair(None, seq, False) for seq in alone)]


def _partners(left: Sequence[Event], right: Sequence[Event]) -> dict[int, tuple[int, bool]]:
    """For each event of the left run the one in its place in the right run, and if they agree."""
    streams: dict[object, deque[Event]] = {}
    for event in right:
        streams.setdefault(object_of(event), deque()).append(event)
    partners: dict[int, tuple[int, bool]] = {}
    parted: set[object] = set()
    for event in left:
        subject = object_of(event)
        stream = streams.get(subject)
        if not stream:
            continue
        other = stream.popleft()
        if compared_fields(other) != compared_fields(event):
            parted.add(subject)
        partners[event.seq] = other.seq, subject not in parted
    return partners


def object_of(event: Event) -> object:
    """The object of a compared event."""
    kind = type(event)
    object_fields = OBJECTS.get(kind)
    return kind if object_fields is None else tuple(object_fields(event))


def compared_fields(event: Event) -> tuple[object, ...]:
    """An event's fields that are equal in two runs if the same happened."""
    kind = type(event)
    return (kind, *(getattr(event, field) for field in COMPARED[kind]))
