"""The events that follow from the committed metadata log; nothing in the cluster depends on them.

Committed records are read here once, in order, whichever controller leads the quorum. The read
model thus sees topics, partitions and configurations in the same way as in ZooKeeper mode.
"""

from collections.abc import Callable
from sys import intern

from emulator import events
from emulator.kraft.state import CommittedMetadata
from emulator.metadata_log.changes import Change, MetadataDelta, TopicIdPartition
from emulator.metadata_log.records import AnyRecord, NoOpRecord, TopicRecord
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.metadata_log.shown import text_of
from emulator.protocol import PartitionInfo
from emulator.protocol.raft import MetadataBatch, MetadataSnapshot
from emulator.raft.state import QuorumState
from emulator.simulation.kernel import Kernel

UNSEEN = "", 0, ""
"""The shown form of a record without observers."""


class MetadataFacts:
    """Reads the committed log and emits its events."""

    def __init__(
        self,
        kernel: Kernel,
        state: CommittedMetadata,
        states: dict[str, PartitionInfo],
        assignments: dict[str, list[int]],
        topic_configs: dict[str, dict[str, str]],
    ) -> None:
        """Update ``states``, ``assignments`` and ``topic_configs`` from the log."""
        self.kernel = kernel
        self.emit = kernel.emit
        self.state = state
        self.states = states
        self.assignments = assignments
        self.topic_configs = topic_configs
        self.on_lost: Callable[[str], None] = _nothing

    def advance(self, controller: int, quorum: QuorumState) -> None:
        """Read up to the leader's high watermark, which has advanced."""
        image = self.state.image
        snapshot = quorum.log.snapshot_for(0) if image.offset < 0 else None
        if snapshot is not None:
            self.read(controller, _as_batch(snapshot))
            self.state.image.share(snapshot.image)
        next_offset = image.offset + 1
        if quorum.high_watermark <= next_offset:
            return
        self._check_history(controller, quorum, next_offset)
        for batch in quorum.log.from_offset(next_offset, quorum.high_watermark):
            self.read(controller, batch)

    def _check_history(self, controller: int, quorum: QuorumState, next_offset: int) -> None:
        """Check that this leader's log contains what was committed before, unchanged."""
        if not next_offset:
            return
        before = quorum.log.epoch_at(next_offset - 1)
        if before != self.state.epoch:
            self.on_lost(
                f"offset {next_offset - 1} had epoch {self.state.epoch}, {before} at {controller}"
            )

    def read(self, controller: int, batch: MetadataBatch) -> MetadataDelta:
        """Read the next batch, which ``controller`` committed; return what it changed."""
        delta = MetadataDelta()
        image = self.state.image
        image.read_batch(batch.records, batch.base_offset, batch.epoch, delta)
        self.tell(controller, batch, delta)
        return delta

    def tell(self, controller: int, batch: MetadataBatch, delta: MetadataDelta) -> None:
        """Emit the records of a batch, and what they changed."""
        self.tell_records(batch)
        self.state.epoch = batch.epoch
        self._state_topics(batch.records, delta)
        for key, change in delta.partitions.items():
            self.tell_partition(controller, key, change)
        self._configs(delta)

    def tell_records(self, batch: MetadataBatch) -> None:
        """Emit the records of a batch, and store the names that they define."""
        state = self.state
        observed = self.kernel.observed(events.MetadataRecordCommitted)
        for offset, record in enumerate(batch.records, start=batch.base_offset):
            if isinstance(record, NoOpRecord):
                continue
            record_text = UNSEEN
            if observed:
                record_text = text_of(record, state.names)
            else:
                state.names.read(record)
            position = offset, batch.epoch, batch.base_offset
            self.emit(events.MetadataRecordCommitted, *position, *record_text)

    def eligible(self, tp: str) -> tuple[int, ...]:
        """Return a partition's eligible leader replicas (KIP-966); none if it does not exist."""
        name, _, number = tp.rpartition("-")
        image = self.state.image
        topic = image.topics.get(image.topic_ids.get(name, ""))
        partition = None if topic is None else topic.partitions.get(int(number))
        return () if partition is None else partition.elr

    # ---- topics

    def _state_topics(self, records: tuple[AnyRecord, ...], delta: MetadataDelta) -> None:
        """Emit created and deleted topics before the events of their partitions."""
        new = {
            record.topic_id: record.name for record in records if isinstance(record, TopicRecord)
        }
        added: dict[str, dict[int, list[int]]] = {}
        deleted: dict[str, list[int]] = {}
        for key, change in delta.partitions.items():
            if change.before is None and change.after is not None:
                numbers = added.setdefault(key.topic_id, {})
                numbers[key.partition] = list(change.after.replicas)
            elif change.after is None:
                deleted.setdefault(change.topic, []).append(key.partition)
        for topic, removed in deleted.items():
            for number in removed:
                tp = f"{topic}-{number}"
                self.assignments.pop(tp, None)
                if self.states.pop(tp, None) is not None:
                    self.emit(events.PartitionStateRemoved, tp)
            self.topic_configs.pop(topic, None)
            self.emit(events.TopicDeleted, topic)
        for topic_id, lists in added.items():
            image = self.state.image.topics[topic_id]
            for number, replicas in lists.items():
                self.assignments[intern(f"{image.name}-{number}")] = replicas
            ordered = [lists[number] for number in sorted(lists)]
            if topic_id in new:
                config = dict(self.state.image.configs.get(f"topic:{image.name}", {}))
                self.topic_configs[image.name] = config
                self.emit(events.TopicCreated, image.name, ordered, dict(config))
            else:
                self.emit(events.PartitionsAdded, image.name, min(lists), ordered)

    # ---- partitions

    def tell_partition(self, controller: int, key: TopicIdPartition, change: Change) -> None:
        """Emit what has changed of a partition."""
        before, after = change.before, change.after
        if after is None:
            return
        tp = intern(f"{change.topic}-{key.partition}")
        epoch = self.state.epoch
        if before is not None and before.replicas != after.replicas:
            self.assignments[tp] = replicas = list(after.replicas)
            adding, removing = list(after.adding_replicas), list(after.removing_replicas)
            self.emit(events.ReplicasAssigned, tp, replicas, adding, removing)
        isr = list(after.isr)
        # A new epoch of the same leader is no election: the controller raises it when it shrinks
        # the ISR or removes replicas (PartitionChangeBuilder).
        if after.leader >= 0 and (before is None or before.leader != after.leader):
            strategy = _strategy(before, after)
            self.emit(
                events.LeaderElected,
                tp,
                controller,
                after.leader,
                after.leader_epoch,
                isr,
                strategy,
            )
        self.store(tp, after)
        self.emit(
            events.PartitionStateChanged,
            tp,
            after.leader,
            after.leader_epoch,
            isr,
            epoch,
            after.partition_epoch,
        )

    def store(self, tp: str, after: PartitionRegistration) -> None:
        """Update a partition's state; it exists from then on."""
        self.states[tp] = PartitionInfo(
            after.leader,
            after.leader_epoch,
            list(after.isr),
            after.partition_epoch,
            self.assignments.get(tp, list(after.replicas)),
            self.state.epoch,
            leader_recovery_state=after.leader_recovery_state,
        )

    # ---- configuration

    def _configs(self, delta: MetadataDelta) -> None:
        for key in delta.configs:
            kind, _, name = key.partition(":")
            now = self.state.image.configs.get(key, {})
            if kind != "topic":
                self._changed(kind, name, {}, now)
                continue
            before = self.topic_configs.get(name, {})
            self.topic_configs[name] = dict(now)
            self._changed(kind, name, before, now)

    def _changed(
        self, entity: str, name: str, before: dict[str, str], after: dict[str, str]
    ) -> None:
        for key in [*before, *(key for key in after if key not in before)]:
            if before.get(key) != after.get(key):
                self.emit(events.ConfigChanged, entity, name, key, after.get(key, ""))


def _as_batch(snapshot: MetadataSnapshot) -> MetadataBatch:
    """The records of the snapshot with which a cluster starts, as if they were its last ones."""
    records = tuple(snapshot.image.records())
    base = snapshot.end_offset - len(records)
    return MetadataBatch(base, snapshot.epoch, records, snapshot.appended_us, snapshot.size_bytes)


def _strategy(before: PartitionRegistration | None, after: PartitionRegistration) -> str:
    """The strategy of a leader election, named as in ZooKeeper mode."""
    if before is None:
        return "New"
    # A leader recovers until it changes the ISR, even if it is elected again meanwhile, cleanly.
    # Who registers after being killed leaves the ELR, and may be elected uncleanly, in one record.
    may_lead = (*before.isr, *before.elr) if before.leader_recovery_state else before.isr
    if after.leader_recovery_state and after.leader not in may_lead:
        return "Unclean"
    if before.is_reassigning and not after.is_reassigning:
        return "Reassign"
    if before.leader in after.isr and after.leader == after.preferred_replica:
        return "Preferred"
    return "Offline"


def _nothing(_detail: str) -> None:
    """Ignore the notification."""
