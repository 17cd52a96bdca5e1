"""Why a batch changes partitions, by the batch itself and its cluster's rules.

A rule's own explanation (:mod:`emulator.quorum_controller.explanation`) is better and is used where
there is one. This is what remains without it.
"""

from collections.abc import Mapping, Sequence

from emulator.metadata_log.changes import Change, TopicIdPartition
from emulator.metadata_log.records import (
    FENCE,
    UNFENCE,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
)
from sessions.postmortem.events import Applied
from sessions.text import brackets, natural_list


class Causes:
    """Why the records of a batch were written: by their rules or by the batch itself.

    What the line of a text log says that a record has as its witness is added.
    """

    def __init__(self, applied: Applied, because: Mapping[int, str]) -> None:
        """``because`` is what the rules say of records, by offset."""
        self.reasons = Reasons(applied.records)
        self._applied = applied
        self._because = because
        self._places = {
            TopicIdPartition(record.topic_id, record.partition_id): offset
            for offset, record in enumerate(applied.records, applied.batch.base_offset)
            if isinstance(record, PartitionRecord | PartitionChangeRecord)
        }

    def place(self, key: TopicIdPartition) -> int:
        """The offset of a partition's record, or of the batch."""
        return self._places.get(key, self._applied.batch.base_offset)

    def of_partition(self, key: TopicIdPartition, change: Change) -> str:
        """Why a partition was changed; empty if nothing tells."""
        return self.of_record(self.place(key), self.reasons.of(change))

    def of_record(self, offset: int, otherwise: str) -> str:
        """Why a record was written, ``otherwise`` unless there is a rule."""
        reason = self._because.get(offset) or otherwise
        witness = self._applied.witnesses.get(offset)
        if witness is None:
            return reason
        return f"{reason}; {witness.line.sentence}" if reason else witness.line.sentence


class Reasons:
    """The nodes that a batch fences, unfences, registers, or lets shut down."""

    def __init__(self, records: Sequence[AnyRecord]) -> None:
        self.fenced: set[int] = set()
        self.unfenced: set[int] = set()
        self.registered: set[int] = set()
        self.shutting_down: set[int] = set()
        for record in records:
            if isinstance(record, RegisterBrokerRecord):
                self.registered.add(record.broker_id)
            elif isinstance(record, BrokerRegistrationChangeRecord):
                if record.fenced == FENCE:
                    self.fenced.add(record.broker_id)
                elif record.fenced == UNFENCE:
                    self.unfenced.add(record.broker_id)
                elif record.in_controlled_shutdown:
                    self.shutting_down.add(record.broker_id)

    def of(self, change: Change) -> str:
        """Why a partition was changed; empty if the batch does not tell."""
        before, after = change.before, change.after
        if before is None or after is None:
            return ""
        removed = {broker for broker in before.isr if broker not in after.isr}
        removed |= {broker for broker in before.elr if broker not in after.elr + after.isr}
        if before.leader != after.leader:
            removed.add(before.leader)
        for brokers, event in (
            (self.fenced & removed, "is fenced"),
            (self.shutting_down & removed, "shuts down"),
            (self.registered & removed, "has restarted without a clean shutdown"),
            (self.unfenced & {*after.isr, after.leader}, "is unfenced"),
        ):
            if brokers:
                return natural_list(f"broker {broker} {event}" for broker in sorted(brokers))
        return _of_leader(change)


def _of_leader(change: Change) -> str:
    """Why a partition was changed although no broker came or went."""
    before, after = change.before, change.after
    assert before is not None
    assert after is not None
    if before.is_reassigning or after.is_reassigning:
        return "a reassignment"
    if before.leader != after.leader:
        if after.leader == after.preferred_replica:
            return "an election of the preferred leader"
        return ""
    removed = [broker for broker in before.isr if broker not in after.isr]
    if removed:
        return (
            f"the leader {after.leader} found {brackets(removed)} behind for longer than "
            "replica.lag.time.max.ms"
        )
    if len(after.isr) > len(before.isr):
        return f"the leader {after.leader} found that it has caught up"
    return ""
