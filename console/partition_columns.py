"""The partitions table's columns and its filter's fields: pure functions of one partition."""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from console.columns import Cell, Column
from console.filters import NO_VALUE, Field
from console.formats import brackets, broker_list, clean, number, plain
from console.words import HEALTHY, STATE_WORDS, glyph_of

if TYPE_CHECKING:
    from console.glyphs import Glyphs
    from sessions.states import PartitionState, ReplicaState


def leader_number(partition: "PartitionState") -> int | None:
    """The leader's id; None while there is none."""
    return None if partition.leader is None or partition.leader < 0 else partition.leader


def spokesman(partition: "PartitionState") -> "ReplicaState | None":
    """The replica whose HW and LEO stand for the partition.

    That is its leader, or while it is offline the fullest of the ISR.
    """
    states = partition.replica_states
    if partition.leader is not None and (leader := states.get(partition.leader)) is not None:
        return leader
    held = [states[broker] for broker in partition.isr if broker in states]
    return max(held, key=lambda replica: replica.log_end_offset, default=None)


def high_watermark(partition: "PartitionState") -> int | None:
    """The partition's HW."""
    replica = spokesman(partition)
    return None if replica is None else replica.high_watermark


def log_end_offset(partition: "PartitionState") -> int | None:
    """The partition's LEO."""
    replica = spokesman(partition)
    return None if replica is None else replica.log_end_offset


def lag(partition: "PartitionState") -> int:
    """Records in the leader's log that are not committed yet."""
    replica = spokesman(partition)
    if replica is None:
        return 0
    behind = replica.log_end_offset - replica.high_watermark
    return behind if behind > 0 else 0


def audit_count(partition: "PartitionState") -> int:
    """Records lost, duplicated, diverged, or read and lost."""
    return (
        len(partition.lost)
        + len(partition.duplicated)
        + len(partition.diverged)
        + len(partition.consumed_lost)
    )


def _number(read: "Callable[[PartitionState], int | None]") -> "Field[PartitionState]":
    """A number that there may not be."""

    def number_or_none(partition: "PartitionState") -> float:
        value = read(partition)
        return NO_VALUE if value is None else value

    return Field(number_or_none)


FIELDS: "Final[Mapping[str, Field[PartitionState]]]" = {
    "topic": Field(attrgetter("topic"), "word"),
    "partition": Field(attrgetter("partition")),
    "state": Field(attrgetter("state"), "word"),
    "leader": _number(leader_number),
    "epoch": _number(attrgetter("leader_epoch")),
    "replicas": Field(attrgetter("replicas"), "list"),
    "isr": Field(attrgetter("isr"), "list"),
    "osr": Field(attrgetter("osr"), "list"),
    "min": Field(attrgetter("min_isr")),
    "hw": _number(high_watermark),
    "leo": _number(log_end_offset),
    "lag": Field(lag),
    "version": _number(attrgetter("zk_version")),
    "lost": Field(lambda partition: len(partition.lost)),
    "duplicated": Field(lambda partition: len(partition.duplicated)),
    "diverged": Field(lambda partition: len(partition.diverged)),
}
"""What a query such as ``isr<min and topic~orders`` can name."""


def state_cell(severity: int, glyphs: "Glyphs") -> Cell:
    """The state's glyph and word."""
    word = STATE_WORDS[severity]
    return (f"{glyph_of(word, glyphs)} {word.word}", word.role)


def columns(glyphs: "Glyphs", severity_of: Mapping[str, int]) -> "list[Column[PartitionState]]":
    """The table's columns; blank OSR and the dot under LAG mean healthy."""
    quiet = glyphs.no_record

    def severity(partition: "PartitionState") -> int:
        return severity_of.get(partition.name, HEALTHY)

    def lag_cell(partition: "PartitionState") -> Cell:
        behind = lag(partition)
        return (number(behind), "warning") if behind else (quiet, "faint")

    def leader_cell(partition: "PartitionState") -> Cell:
        leader = leader_number(partition)
        return ("-", "error") if leader is None else (str(leader), "")

    return [
        Column("state", "STAT", 6, lambda p: state_cell(severity(p), glyphs), severity),
        Column("name", "TOPIC-PART", 14, lambda p: (clean(p.name), "strong"), None, grows=True),
        Column("leader", "LDR", 3, leader_cell, lambda p: _or_less(leader_number(p)), right=True),
        Column(
            "epoch",
            "EP",
            3,
            lambda p: (plain(p.leader_epoch), ""),
            lambda p: _or_less(p.leader_epoch),
            right=True,
            drop=4,
        ),
        Column(
            "replicas",
            "REPLICAS",
            8,
            lambda p: (broker_list(p.replicas), "muted"),
            lambda p: p.replicas,
            drop=5,
        ),
        Column(
            "osr",
            "OSR",
            5,
            lambda p: (broker_list(p.osr), "warning"),
            lambda p: len(p.isr) - len(p.replicas),
        ),
        Column(
            "min",
            "MIN",
            3,
            lambda p: (str(p.min_isr), "muted"),
            lambda p: p.min_isr,
            right=True,
            drop=3,
        ),
        Column(
            "hw",
            "HW",
            9,
            lambda p: (number(high_watermark(p)), ""),
            lambda p: _or_less(high_watermark(p)),
            right=True,
            drop=2,
        ),
        Column(
            "leo",
            "LEO",
            9,
            lambda p: (number(log_end_offset(p)), ""),
            lambda p: _or_less(log_end_offset(p)),
            right=True,
            drop=1,
        ),
        Column("lag", "LAG", 5, lag_cell, lambda p: -lag(p), right=True),
        Column("isr", "ISR", 9, lambda p: (brackets(p.isr), ""), lambda p: len(p.isr), wide=True),
        Column(
            "leader_isr",
            "LDR-ISR",
            9,
            lambda p: (brackets(p.leader_isr), _disagreement(p)),
            lambda p: len(p.leader_isr),
            wide=True,
        ),
        Column(
            "controller_epoch",
            "C-EP",
            4,
            lambda p: (plain(p.controller_epoch), "muted"),
            lambda p: _or_less(p.controller_epoch),
            right=True,
            wide=True,
        ),
        Column(
            "version",
            "ZKV",
            4,
            lambda p: (plain(p.zk_version), "muted"),
            lambda p: _or_less(p.zk_version),
            right=True,
            wide=True,
        ),
        Column(
            "lost",
            "LOST",
            4,
            lambda p: _count(len(p.lost), quiet),
            lambda p: -len(p.lost),
            right=True,
            wide=True,
        ),
        Column(
            "duplicated",
            "DUP",
            4,
            lambda p: _count(len(p.duplicated), quiet),
            lambda p: -len(p.duplicated),
            right=True,
            wide=True,
        ),
        Column(
            "diverged",
            "DIVG",
            4,
            lambda p: _count(len(p.diverged), quiet),
            lambda p: -len(p.diverged),
            right=True,
            wide=True,
        ),
    ]


def _or_less(value: int | None) -> int:
    return -2 if value is None else value


def _count(count: int, quiet: str) -> Cell:
    return (number(count), "error") if count else (quiet, "faint")


def _disagreement(partition: "PartitionState") -> str:
    """The ISR that the leader acts on may differ from what the znode says."""
    return "" if sorted(partition.leader_isr) == sorted(partition.isr) else "warning"
