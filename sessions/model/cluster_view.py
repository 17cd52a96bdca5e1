"""The read model: all that screens, summaries and jobs can know of a cluster, from events alone."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Self

import msgspec

from emulator.events import Event
from sessions.model import copies
from sessions.model.batches import batch_in
from sessions.model.folding import Model, Snapshot
from sessions.model.handlers.table import HANDLERS
from sessions.model.health import BY_FLAG, BY_MILD_FLAG, STATUSES, Counts, writes_of
from sessions.model.long_metadata_log import plain_list
from sessions.model.states import (
    Batch,
    Batches,
    PartitionState,
    ReplicaState,
    Run,
    ViewState,
    ZnodeState,
)
from sessions.model.waiting import is_stalled

__all__ = ["STATUSES", "ClusterView", "Counts"]

_ENCODER: Final = msgspec.msgpack.Encoder(enc_hook=plain_list)
_DECODER: Final = msgspec.msgpack.Decoder(ViewState)


class ClusterView(Model):
    """A cluster as it is after event :attr:`seq`.

    Objects of :attr:`state` are for reading, and only until the next event: after it, look them up
    again (an object that a snapshot shares is replaced when it changes). ``older_batches`` finds
    the batch of a record that was produced before what :attr:`state` remembers.
    """

    def __init__(self, state: ViewState | None = None) -> None:
        """Begin with ``state``, or with nothing but the root of a ZooKeeper."""
        super().__init__(_nothing() if state is None else state)
        self.older_batches: Callable[[int], Batch | None] | None = None
        self._handlers = HANDLERS

    # ---- folding

    def apply(self, event: Event) -> None:
        state = self.state
        state.seq = event.seq
        state.time_us = event.time_us
        self._handlers[type(event)](self, event)

    def apply_all(self, events: Iterable[Event]) -> None:
        state, handlers = self.state, self._handlers
        for event in events:
            state.seq = event.seq
            state.time_us = event.time_us
            handlers[type(event)](self, event)

    @property
    def seq(self) -> int:
        """The number of the last event that was taken."""
        return self.state.seq

    @property
    def time_us(self) -> int:
        return self.state.time_us

    # ---- copies and codes

    def copy(self) -> "ClusterView":
        """A view that goes on from here on its own; costs little however large the cluster is."""
        view = ClusterView.of(self.snapshot())
        view.older_batches = self.older_batches
        return view

    @classmethod
    def of(cls, snapshot: Snapshot) -> Self:
        """A view that goes on from a snapshot, which stays as it is."""
        view = cls.__new__(cls)
        state = copies.view_state(snapshot.state)
        flags, totals, lost = snapshot.flags, snapshot.totals, snapshot.lost
        view._begin(state, flags.copy(), totals.copy(), lost.copy(), snapshot.seq)
        view.older_batches = None
        view._handlers = HANDLERS
        return view

    def encode(self) -> bytes:
        """The whole state as MessagePack."""
        return _ENCODER.encode(self.snapshot().state)

    @classmethod
    def decode(cls, data: bytes) -> "ClusterView":
        """The view of an encoded state.

        Raises:
            msgspec.DecodeError: it is not one.
        """
        return cls(_DECODER.decode(data))

    # ---- records

    def batch(self, record_id: int) -> Batch | None:
        """The batch that carried a record; None if nobody knows it."""
        batch = batch_in(self.state.batches, record_id)
        if batch is None and self.older_batches is not None:
            return self.older_batches(record_id)
        return batch

    def value(self, record_id: int) -> str:
        """A record's value; ``#id`` if nobody knows it."""
        return next(self._run_values(record_id, 1))

    def values_of(self, runs: Iterable[tuple[int, int]]) -> list[str]:
        """The values of runs of (first record id, count)."""
        return [value for first, count in runs for value in self._run_values(first, count)]

    def _run_values(self, first: int, count: int) -> Iterator[str]:
        end = first + count
        while first < end:
            batch = self.batch(first)
            if batch is None:
                yield f"#{first}"
                first += 1
            else:
                at = first - batch.first_record
                values = batch.values[at : at + end - first]
                yield from values
                first += len(values)

    def values(self, tp: str, broker: int) -> list[str]:
        """All record values of one replica's log in offset order; empty if there is no such log."""
        return self.log_values(self.log(tp, broker))

    def log_values(self, log: Iterable[Run]) -> list[str]:
        """All record values of a log in offset order."""
        return self.values_of((run.first_record, run.count) for run in log)

    @staticmethod
    def log_epochs(log: Iterable[Run]) -> list[int | None]:
        """The leader epoch of each record of a log (None before message format 2)."""
        return [
            None if run.leader_epoch < 0 else run.leader_epoch
            for run in log
            for _ in range(run.count)
        ]

    def log(self, tp: str, broker: int) -> Sequence[Run]:
        """One replica's log; empty if there is none."""
        replica = self.replica_state(tp, broker)
        return [] if replica is None else replica.log

    def replica_state(self, tp: str, broker: int) -> ReplicaState | None:
        """One replica, None if the broker's disk does not hold the partition."""
        partition = self.partitions.get(tp)
        return None if partition is None else partition.replica_states.get(broker)

    def role(self, replica: ReplicaState) -> str:
        """A replica's role as the world sees it: that of a frozen broker's replicas is offline."""
        broker = self.state.brokers.get(replica.broker)
        return "offline" if broker is not None and broker.state == "frozen" else replica.role

    # ---- health

    def status(self, partition: PartitionState) -> str:
        """The most severe state of the partition, one of :data:`STATUSES`."""
        return next(self.statuses(partition), "healthy")

    def statuses(self, partition: PartitionState) -> Iterator[str]:
        """All states that hold of the partition, most severe first; none if it is healthy."""
        flags = self.flags(partition.name)
        if flags:
            yield from (word for flag, word in BY_FLAG if flags & flag)
        if is_stalled(self.state, partition):
            yield "hw_stalled"
        if flags:
            yield from (word for flag, word in BY_MILD_FLAG if flags & flag)

    def writes(self, partition: PartitionState) -> str:
        """The state of writes with acks=all, one of :data:`sessions.model.health.WRITES`."""
        answer = writes_of(self.flags(partition.name))
        return "waiting" if answer == "ok" and is_stalled(self.state, partition) else answer

    # ---- what changed

    def changed_partitions_since(self, seq: int) -> list[str]:
        """The partitions that changed, came or went after event ``seq`` (long ago: all)."""
        touched = self.partition_changes.since(seq)
        self.look()
        if touched is None:
            return list(self.partitions)
        partitions = self.partitions
        return [tp for tp in touched if (p := partitions.get(tp)) is None or p.changed > seq]

    def changed_znodes_since(self, seq: int) -> list[str]:
        """The paths of znodes that changed, came or went after event ``seq`` (long ago: all)."""
        touched = self.znode_changes.since(seq)
        self.look()
        if touched is None:
            return list(self.state.znodes)
        znodes = self.state.znodes
        return [path for path in touched if (z := znodes.get(path)) is None or z.changed > seq]


def _nothing() -> ViewState:
    """Return an empty state with only ZooKeeper's own nodes, whose creation cversion ignores."""
    state = ViewState(batches=Batches())
    for path, names in (
        ("/", ("zookeeper",)),
        ("/zookeeper", ("quota", "config")),
        ("/zookeeper/quota", ()),
        ("/zookeeper/config", ()),
    ):
        children = dict.fromkeys(names)
        state.znodes[path] = ZnodeState(path, "", cversion=-len(names), children=children)
    return state
