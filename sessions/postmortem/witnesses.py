"""Lines of text logs that say why a record was written: what the metadata log cannot know.

A line is a witness of a record that follows it closely: the controller's of a fencing, the leader's
of an ISR that shrinks. A broker's own last line is the cause of the controller's.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import (
    FENCE,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
)
from sessions.postmortem.text_logs.facts import (
    BrokerFenced,
    ControlledShutdown,
    Fact,
    HeartbeatFailed,
    IsrExpanded,
    IsrShrunk,
    LogDirFailed,
    ProcessState,
    Terminating,
    UncleanLeaderElected,
)
from sessions.postmortem.text_logs.log_line import LogLine

OF_PARTITION: Final = (IsrShrunk, IsrExpanded, UncleanLeaderElected)
OF_PROCESS: Final = (ProcessState, Terminating, ControlledShutdown, HeartbeatFailed, LogDirFailed)
"""What a broker says of itself before it is missed."""
SOON_US: Final = 5_000_000
"""How long before a record its line is written at most: a leader's request is soon answered."""
FOREVER_US: Final = 1 << 62
SESSION_US: Final = 60_000_000
"""How long before its fencing a broker's last line may be."""


class Witness(Struct, frozen=True):
    """A line, and the number of its event."""

    seq: int
    line: LogLine


class Witnesses:
    """The lines read so far that may explain a record."""

    def __init__(self) -> None:
        self._fenced: dict[int, Witness] = {}
        self._processes: dict[int, Witness] = {}
        self._partitions: dict[str, Witness] = {}

    def cause_of(self, line: LogLine) -> int:
        """Return the event that led to a line; 0: none is known."""
        if isinstance(line.fact, BrokerFenced):
            process = self._recent(self._processes.get(line.fact.broker), line.time_us)
            return 0 if process is None else process.seq
        return 0

    def add(self, seq: int, line: LogLine) -> None:
        """Keep a line, whose event has this number."""
        fact, witness = line.fact, Witness(seq, line)
        if isinstance(fact, BrokerFenced):
            self._fenced[fact.broker] = witness
        elif isinstance(fact, OF_PARTITION):
            if fact.tp is not None:
                self._partitions[fact.tp] = witness
        elif line.node is None or not isinstance(fact, OF_PROCESS):
            pass
        elif isinstance(fact, ProcessState) and "start" in fact.state.lower():
            self._processes.pop(line.node, None)
        else:
            self._processes[line.node] = witness

    def of_records(
        self, records: Sequence[AnyRecord], base_offset: int, time_us: int, image: MetadataImage
    ) -> dict[int, Witness]:
        """Return the witnesses of a batch's records, by offset; ``image`` is that before it."""
        witnesses: dict[int, Witness] = {}
        if not (self._fenced or self._processes or self._partitions):
            return witnesses
        for offset, record in enumerate(records, base_offset):
            witness = self._of_record(record, time_us, image)
            if witness is not None:
                witnesses[offset] = witness
        return witnesses

    def _of_record(self, record: AnyRecord, time_us: int, image: MetadataImage) -> Witness | None:
        match record:
            case BrokerRegistrationChangeRecord(broker_id=broker, fenced=fenced):
                if fenced != FENCE:
                    return None
                fencing = self._recent(self._fenced.get(broker), time_us, SOON_US)
                return fencing or self._recent(self._processes.get(broker), time_us)
            case (
                PartitionChangeRecord(topic_id=topic_id, partition_id=number, isr=isr)
                | PartitionRecord(topic_id=topic_id, partition_id=number, isr=isr)
            ):
                topic = image.topics.get(topic_id)
                tp = "" if topic is None else f"{topic.name}-{number}"
                witness = self._recent(self._partitions.get(tp), time_us, SOON_US)
                return witness if witness is not None and _fits(witness.line.fact, isr) else None
            case _:
                return None

    @staticmethod
    def _recent(
        witness: Witness | None, time_us: int, within_us: int = SESSION_US
    ) -> Witness | None:
        if witness is None or abs(time_us - witness.line.time_us) > within_us:
            return None
        return witness


def _fits(fact: Fact, isr: Sequence[int] | None) -> bool:
    """Whether a leader's change of an ISR is the one that a record makes."""
    if isinstance(fact, IsrShrunk | IsrExpanded):
        return isr is not None and {*fact.isr} == {*isr}
    return True


class Lines:
    """Lines in the order of time, taken up to one time after the other."""

    def __init__(self, entries: Iterable[LogLine]) -> None:
        self._entries = iter(entries)
        self._next = next(self._entries, None)

    @property
    def next_us(self) -> int:
        """The time of the next line; at the end, later than any."""
        return FOREVER_US if self._next is None else self._next.time_us

    def until(self, time_us: int) -> Iterator[LogLine]:
        """Yield the lines up to a time."""
        while self._next is not None and self._next.time_us <= time_us:
            line, self._next = self._next, next(self._entries, None)
            yield line
