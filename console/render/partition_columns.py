"""The partitions table's columns: pure functions of one partition."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from console.model.partition_fields import high_watermark, lag, leader_number, log_end_offset
from console.model.severity import HEALTHY, RANKS
from console.render.columns import LESS, Cell, Column, count, figure
from console.render.lines import shorten_partition
from console.render.state_words import STATE_WORDS, glyph_of
from console.styles.glyphs import Glyphs
from sessions.model.health import WRITES
from sessions.model.states import PartitionState
from sessions.text import brackets, broker_list, clean

WRITES_ROLES: Final = {"nobody": "error", "refused": "error", "waiting": "warning", "ok": "faint"}
"""How the words of the column WRITES look."""


def state_cell(severity: int, glyphs: Glyphs) -> Cell:
    """The state's glyph and word."""
    word = STATE_WORDS[severity]
    return (f"{glyph_of(word, glyphs)} {word.word}", word.role)


def kraft_columns(
    columns: Sequence[Column[PartitionState]], elr: Callable[[PartitionState], list[int]]
) -> list[Column[PartitionState]]:
    """The columns of a KRaft cluster: the ELR beside ISR and OSR, and no znode's version."""
    shown: list[Column[PartitionState]] = []
    for column in columns:
        if column.id == "version":
            shown.append(replace(column, title="P-EP"))
            continue
        shown.append(column)
        if column.id == "osr":
            shown.append(
                Column(
                    "elr",
                    "ELR",
                    5,
                    lambda p: (broker_list(elr(p)), "accent"),
                    lambda p: -len(elr(p)),
                    drop=1,
                )
            )
    return shown


def columns(
    glyphs: Glyphs, severity_of: Mapping[str, int], writes: Callable[[PartitionState], str]
) -> list[Column[PartitionState]]:
    """The table's columns; blank OSR and the dot under LAG mean healthy."""
    return [
        *identity_columns(glyphs, severity_of),
        writes_column(writes),
        *replica_columns(),
        *offset_columns(glyphs.no_record),
        *wide_columns(glyphs.no_record),
    ]


def identity_columns(
    glyphs: Glyphs, severity_of: Mapping[str, int]
) -> list[Column[PartitionState]]:
    """The partition's name, state and leader."""

    def severity(partition: PartitionState) -> int:
        return severity_of.get(partition.name, HEALTHY)

    def leader_cell(partition: PartitionState) -> Cell:
        leader = leader_number(partition)
        if leader is None:
            return "-", "error"
        is_dead = severity(partition) == RANKS["leaderless"]
        return (f"{glyphs.leaderless}{leader}", "error") if is_dead else (str(leader), "")

    name = Column[PartitionState](
        "name",
        "TOPIC-PART",
        11,
        lambda p: (clean(p.name), "strong"),
        grows=True,
        sticky=True,
        shorten=shorten_partition,
    )
    state = Column(
        "state", "STAT", 6, lambda p: state_cell(severity(p), glyphs), severity, sticky=True
    )
    leader = Column(
        "leader", "LDR", 4, leader_cell, lambda p: _or_less(leader_number(p)), right=True
    )
    return [state, name, leader, figure("epoch", "EP", 3, attrgetter("leader_epoch"), drop=5)]


def writes_column(writes: Callable[[PartitionState], str]) -> Column[PartitionState]:
    """What becomes of writes with acks=all."""

    def cell(partition: PartitionState) -> Cell:
        word = writes(partition)
        return word, WRITES_ROLES[word]

    return Column("writes", "WRITES", 7, cell, lambda p: WRITES.index(writes(p)))


def replica_columns() -> list[Column[PartitionState]]:
    """The replicas, and those out of sync."""
    return [
        Column(
            "replicas",
            "REPLICAS",
            8,
            lambda p: (broker_list(p.replicas), "muted"),
            attrgetter("replicas"),
            drop=3,
        ),
        Column(
            "isr",
            "ISR",
            6,
            lambda p: (broker_list(p.isr), ""),
            lambda p: len(p.isr),
            drop=4,
        ),
        Column(
            "osr",
            "OSR",
            5,
            lambda p: (broker_list(p.osr), "warning"),
            lambda p: len(p.isr) - len(p.replicas),
        ),
        figure("min", "MIN", 3, attrgetter("min_isr"), role="muted", drop=6),
    ]


def offset_columns(quiet: str) -> list[Column[PartitionState]]:
    """The end of its log, and how much of it is not committed."""
    return [
        figure("hw", "HW", 7, high_watermark, drop=2),
        figure("leo", "LEO", 7, log_end_offset, drop=1),
        count("lag", "LAG", 5, lag, quiet, role="warning"),
    ]


def wide_columns(quiet: str) -> list[Column[PartitionState]]:
    """The columns of the wide view: the leader's own ISR, versions, losses."""
    return [
        Column(
            "leader_isr",
            "LDR-ISR",
            9,
            lambda p: (brackets(p.leader_isr), _disagreement(p)),
            lambda p: len(p.leader_isr),
            wide=True,
        ),
        figure("controller_epoch", "C-EP", 4, attrgetter("controller_epoch"), wide=True),
        figure("version", "ZKV", 4, attrgetter("zk_version"), wide=True),
        count("lost", "LOST", 4, lambda p: p.lost_count, quiet, wide=True),
        count("duplicated", "DUP", 4, lambda p: len(p.duplicated), quiet, wide=True),
        count("diverged", "DIVG", 4, lambda p: len(p.diverged), quiet, wide=True),
    ]


def _or_less(value: int | None) -> int:
    return LESS if value is None else value


def _disagreement(partition: PartitionState) -> str:
    """The ISR that the leader acts on may differ from what the znode says."""
    return "" if sorted(partition.leader_isr) == sorted(partition.isr) else "warning"
