"""The table of one broker's replicas: rows, columns and fields."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from console.model.filters import NO_VALUE, Field
from console.model.partition_fields import partition_fields
from console.model.severity import HEALTHY
from console.model.workspace import Stage
from console.render.columns import Cell, Column, Rows, count
from console.render.lines import shorten_partition
from console.render.partition_columns import state_cell
from console.render.state_words import STATE_WORDS
from sessions.model.states import PartitionState, ReplicaState
from sessions.text import clean, number

PLACES = ("down", "OSR", "leader", "ISR")
"""The roles of a replica, the most interesting first."""


class ReplicaRows(Rows[PartitionState]):
    """The partitions that a broker is assigned, or still holds, as rows of a table."""

    filter_hint: ClassVar[str] = "words, re:pattern, !not, or behind>10, place~osr, topic~orders"

    def __init__(self, stage: Stage, broker: int) -> None:
        self.stage = stage
        self.broker = broker
        self.fields: Mapping[str, Field[PartitionState]] = {
            **partition_fields(stage.view_statuses, stage.view_writes),
            "place": Field(self.place, "word"),
            "leo": Field(lambda p: self._own(p, lambda replica: replica.log_end_offset)),
            "hw": Field(lambda p: self._own(p, lambda replica: replica.high_watermark)),
            "behind": Field(self.behind),
        }

    def replica(self, partition: PartitionState) -> ReplicaState | None:
        return partition.replica_states.get(self.broker)

    def place(self, partition: PartitionState) -> str:
        """What the broker is to the partition."""
        replica = self.replica(partition)
        if replica is None or replica.role == "offline":
            return "down"
        if partition.leader == self.broker:
            return "leader"
        return "ISR" if self.broker in partition.isr else "OSR"

    def behind(self, partition: PartitionState) -> int:
        """How many records it is behind the leader."""
        replica, leader = self.replica(partition), partition.leader_replica
        if replica is None or leader is None:
            return 0
        return max(0, leader.log_end_offset - replica.log_end_offset)

    def _own(self, partition: PartitionState, read: Callable[[ReplicaState], int]) -> int | float:
        replica = self.replica(partition)
        return NO_VALUE if replica is None else read(replica)

    @cached_property
    def columns(self) -> list[Column[PartitionState]]:
        severity_of, glyphs = self.stage.index.severity, self.stage.glyphs
        quiet = glyphs.no_record

        def severity(partition: PartitionState) -> int:
            return severity_of.get(partition.name, HEALTHY)

        def place_cell(partition: PartitionState) -> Cell:
            place = self.place(partition)
            return place, {"down": "error", "OSR": "warning", "leader": "ok"}.get(place, "")

        def offset(read: Callable[[ReplicaState], int]) -> Callable[[PartitionState], Cell]:
            def cell(partition: PartitionState) -> Cell:
                replica = self.replica(partition)
                return number(None if replica is None else read(replica)), ""

            return cell

        return [
            Column(
                "state", "STAT", 6, lambda p: state_cell(severity(p), glyphs), severity, sticky=True
            ),
            Column(
                "name",
                "TOPIC-PART",
                13,
                lambda p: (clean(p.name), "strong"),
                grows=True,
                sticky=True,
                shorten=shorten_partition,
            ),
            Column("place", "HERE", 6, place_cell, lambda p: PLACES.index(self.place(p))),
            Column("hw", "HW", 8, offset(lambda r: r.high_watermark), right=True, drop=1),
            Column("leo", "LEO", 8, offset(lambda r: r.log_end_offset), right=True, drop=2),
            count("behind", "BEHIND", 6, self.behind, quiet, role="warning"),
        ]

    # ---- rows

    def keys(self) -> Sequence[str]:
        partitions, broker = self.stage.view.state.partitions, self.broker
        return [
            tp
            for tp in self.stage.index.keys
            if broker in partitions[tp].replicas or broker in partitions[tp].replica_states
        ]

    def generation(self) -> Hashable:
        """Changes when partitions come or go, here or anywhere."""
        index = self.stage.index
        return index.generation, index.replicas[self.broker]

    def row(self, key: str) -> PartitionState:
        return self.stage.view.state.partitions[key]

    def version(self, key: str) -> Hashable:
        """Return its last event, and its severity, which may change with time alone."""
        return self.row(key).changed, self.stage.index.severity[key]

    def text(self, key: str) -> str:
        """Name, state word and what the broker is to it."""
        word = STATE_WORDS[self.stage.index.severity[key]].word
        return f"{key}\n{word}\n{self.place(self.row(key))}".lower()

    def is_fault(self, key: str) -> bool:
        """Whether anything is wrong with it."""
        return self.stage.index.severity[key] < HEALTHY
