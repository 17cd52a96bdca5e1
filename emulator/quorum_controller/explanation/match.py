"""One try to explain the next records: what they are, under which hypothesis, and the outcome."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from emulator.metadata_log.records import AnyRecord, PartitionChangeRecord
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.explanation.entry import Entry
from emulator.quorum_controller.explanation.hypotheses import Hypothesis
from emulator.quorum_controller.explanation.observed import ObservedController
from emulator.quorum_controller.explanation.rules import Rule


class Match(Struct, frozen=True):
    """The first ``count`` records are the outcome of a rule, with its cause as a phrase.

    ``faults`` says by place which of them are not, and why.
    """

    count: int
    rule: Rule
    because: str
    faults: dict[int, str] = {}


class Outcome(Struct, frozen=True):
    """The records that a rule writes, and the possible cause of its application."""

    records: list[AnyRecord]
    rule: Rule
    because: str


class NoRule(Exception):
    """No rule permits the record: an answer, not an error. It says why, without a full stop."""


class Attempt(Struct, frozen=True):
    """The next records, and the state before them under a hypothesis.

    ``context`` is what the rules of the controller take.
    """

    observed: ObservedController
    hypothesis: Hypothesis
    context: Context
    entries: Sequence[Entry]

    @property
    def entry(self) -> Entry:
        """The first of the records."""
        return self.entries[0]

    def begins_with(self, expected: Sequence[AnyRecord]) -> bool:
        """Whether the first records are these.

        The order of partitions' changes does not count: it is that of topics' random ids.
        """
        actual = [entry.record for entry in self.entries[: len(expected)]]
        return len(actual) == len(expected) and _canonical(actual) == _canonical(expected)


def _canonical(records: Sequence[AnyRecord | None]) -> list[object]:
    others: list[object] = []
    changes: dict[tuple[str, int], object] = {}
    for index, record in enumerate(records):
        if isinstance(record, PartitionChangeRecord):
            changes[record.topic_id, record.partition_id] = in_any_order(record)
        else:
            others.append((index, record))
    return [len(records), changes, others]


def in_any_order(record: PartitionChangeRecord) -> PartitionChangeRecord:
    """Return a change with a sorted ELR, whose order is that of a hash set in Kafka."""
    elr = record.eligible_leader_replicas
    return replace(record, eligible_leader_replicas=tuple(sorted(elr))) if elr else record
