"""The table of groups, a row for each partition that one reads: how far it is behind."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from msgspec import Struct

from console.model.filters import NO_VALUE, Field
from console.model.group_lag import LagTimes
from console.model.workspace import Stage
from console.render.columns import Cell, Column, Rows, amount
from console.render.lines import shorten_partition
from sessions.model.states import GroupState, SharePartitionState
from sessions.text import age, clean, number

SEPARATOR = " "
"""Between a partition and its group in the key of a row: no topic's name has one."""


class GroupRow(Struct, frozen=True):
    """A group's offset of a partition; ``tp`` is empty for a group without offsets.

    ``committed`` is a share group's start offset (SPSO), before which all is done. ``end`` is the
    partition's high watermark (None: not known).
    """

    group: GroupState
    tp: str
    committed: int | None
    end: int | None

    @property
    def owner(self) -> tuple[str, str]:
        """Who reads the partition in a group of the new protocol, and its style.

        A member is shown with its epoch, and with who waits for what it has to revoke. The members
        of a share group read a partition together.
        """
        members = self.group.assignments
        if self.group.protocol == "share":
            names = [member.consumer for member in members.values() if self.tp in member.partitions]
            return " ".join(sorted(names)), "" if names else "faint"
        for name, member in members.items():
            if self.tp in member.revoking:
                waiting = [other.consumer for other in members.values() if name in other.awaited]
                awaits = f", {'+'.join(waiting)} waits" if waiting else ""
                return f"{member.consumer} revokes{awaits}", "warning"
            if self.tp in member.partitions:
                return f"{member.consumer} e{member.epoch}", ""
        return "", "faint"

    @property
    def lag(self) -> int | None:
        """How many records the group has yet to read; None if that is not known."""
        if self.committed is None or self.end is None:
            return None
        share = self.share
        return max(0, self.end - self.committed - (share.done if share is not None else 0))

    @property
    def share(self) -> SharePartitionState | None:
        """What a share group has done with the partition; None if it is not shared out."""
        return self.group.shares.get(self.tp)

    @property
    def in_flight(self) -> int:
        """How many records members of a share group have acquired."""
        return 0 if self.share is None else self.share.count("acquired")


class GroupRows(Rows[GroupRow]):
    """The offsets of all groups at the time cursor."""

    filter_hint: ClassVar[str] = (
        "words, re:pattern, !not, or lag>10, group=payments, protocol=share, acquired>0"
    )
    is_aging: ClassVar[bool] = True

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.times = LagTimes(stage.source)
        self.fields: Mapping[str, Field[GroupRow]] = {
            "group": Field(lambda row: row.group.name, "word"),
            "state": Field(lambda row: row.group.state, "word"),
            "partition": Field(lambda row: row.tp, "word"),
            "owner": Field(lambda row: row.owner[0], "word"),
            "protocol": Field(lambda row: row.group.protocol, "word"),
            "acquired": Field(lambda row: row.in_flight),
            "archived": Field(lambda row: 0 if row.share is None else row.share.archived),
            "members": Field(lambda row: len(row.group.members)),
            "committed": Field(lambda row: _or_nothing(row.committed)),
            "end": Field(lambda row: _or_nothing(row.end)),
            "lag": Field(lambda row: _or_nothing(row.lag)),
        }
        self._turn = -1
        self._keys: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> list[Column[GroupRow]]:
        quiet = self.stage.glyphs.no_record

        def lag_cell(row: GroupRow) -> Cell:
            lag = row.lag
            if not lag:
                return ("-" if lag is None and row.tp else quiet if row.tp else ""), "faint"
            return number(lag), "warning"

        def time_cell(row: GroupRow) -> Cell:
            if not row.lag or row.committed is None:
                return (quiet if row.lag == 0 else ""), "faint"
            since, is_older = self.times.since(row.tp, row.committed)
            if since is None:
                return "-", "muted"
            text = age(self.stage.source.time_us - since)
            return f">{text}" if is_older else text, "warning"

        return [
            Column(
                "group",
                "GROUP",
                14,
                lambda row: (clean(row.group.name), "strong"),
                lambda row: (row.group.name, row.tp),
                grows=True,
                sticky=True,
            ),
            Column(
                "state",
                "STATE",
                9,
                lambda row: (clean(row.group.state), ""),
                lambda row: row.group.state,
                drop=3,
            ),
            amount("members", "MEMBERS", 7, lambda r: len(r.group.members), role="muted", drop=4),
            Column(
                "partition",
                "TOPIC-PART",
                16,
                lambda row: (clean(row.tp), ""),
                lambda row: row.tp,
                shorten=shorten_partition,
            ),
            Column(
                "owner",
                "OWNER",
                16,
                lambda row: (clean(row.owner[0]), row.owner[1]),
                lambda row: row.owner[0],
                drop=5,
            ),
            Column(
                "committed",
                "COMMITTED",
                10,
                lambda row: (number(row.committed) if row.tp else "", ""),
                lambda row: -(row.committed or 0),
                right=True,
                drop=1,
            ),
            Column(
                "end",
                "END",
                10,
                lambda row: (number(row.end) if row.tp else "", ""),
                lambda row: -(row.end or 0),
                right=True,
                drop=2,
            ),
            Column("lag", "LAG", 8, lag_cell, lambda row: -(row.lag or 0), right=True),
            Column("time", "BEHIND", 7, time_cell, right=True),
        ]

    # ---- rows

    def keys(self) -> Sequence[str]:
        if self._turn != self.stage.turn:
            self._turn = self.stage.turn
            groups = self.stage.view.state.groups
            self._keys = tuple(
                f"{tp}{SEPARATOR}{name}"
                for name, group in sorted(groups.items())
                for tp in sorted({*group.offsets, *group.shares, *_owned(group)}) or ("",)
            )
        return self._keys

    def row(self, key: str) -> GroupRow:
        tp, _, name = key.partition(SEPARATOR)
        group = self.stage.view.state.groups[name]
        partition = self.stage.view.partitions.get(tp)
        leader = None if partition is None else partition.leader_replica
        end = None if leader is None or leader.high_watermark < 0 else leader.high_watermark
        share = group.shares.get(tp)
        committed = group.offsets.get(tp) if share is None else share.start
        return GroupRow(group, tp, committed, end)

    def version(self, key: str) -> Hashable:
        """Its lag in time moves without an event."""
        return self.stage.source.seq, self.stage.source.time_us

    def text(self, key: str) -> str:
        row = self.row(key)
        return f"{row.group.name}\n{row.tp}\n{row.group.state}".lower()

    def is_fault(self, key: str) -> bool:
        """Whether it has something to read."""
        return bool(self.row(key).lag)

    def value_of(self, column: Column[GroupRow]) -> Callable[[str], Any]:
        """As the column says; lag in time as lag in records."""
        value = column.value or (lambda row: -(row.lag or 0))
        return lambda key: value(self.row(key))


def _owned(group: GroupState) -> set[str]:
    """The partitions that members of the new protocol own or have to revoke."""
    return {
        tp
        for member in group.assignments.values()
        for owned in (member.partitions, member.revoking)
        for tp in owned
    }


def _or_nothing(value: int | None) -> int | float:
    return NO_VALUE if value is None else value
