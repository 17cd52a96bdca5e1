"""The table of consumer groups: who owns what in groups of the new protocol."""

from console.model.workspace import Stage
from console.render.group_columns import GroupRows
from emulator import events
from tests.console.fakes import ListSource, failover


def rows_after(*changes: events.Event) -> GroupRows:
    before = failover()
    stage = Stage(ListSource([*before, *changes]))
    stage.follow()
    return GroupRows(stage)


def assignment(
    number: int, consumer: str, epoch: int, state: str, *partitions: str,
    revoking: tuple[str, ...] = (), awaited: tuple[str, ...] = (),
) -> events.MemberAssignmentChanged:  # fmt: skip
    last = failover()[-1]
    place = (last.seq + number, last.time_us + number, 0)
    told = (list(partitions), list(revoking), list(awaited))
    return events.MemberAssignmentChanged(
        *place, "g", 0, consumer, f"{consumer}1", epoch, state, *told
    )


def owners(rows: GroupRows) -> dict[str, str]:
    return {row.tp: row.owner[0] for row in rows.rows()}


def test_a_member_owns_partitions_in_its_epoch_before_anything_is_committed() -> None:
    found = rows_after(assignment(1, "a", 3, "STABLE", "t-0", "t-1"))
    assert owners(found) == {"t-0": "a e3", "t-1": "a e3"}


def test_a_partition_to_be_revoked_tells_who_waits_for_it() -> None:
    found = rows_after(
        assignment(1, "b", 4, "UNRELEASED_PARTITIONS", awaited=("a1",)),
        assignment(2, "a", 3, "UNREVOKED_PARTITIONS", "t-0", revoking=("t-1",)),
    )
    assert owners(found) == {"t-0": "a e3", "t-1": "a revokes, b waits"}
    row = next(row for row in found.rows() if row.tp == "t-1")
    assert found.fields["owner"].read(row) == "a revokes, b waits"


def test_a_member_that_left_owns_nothing() -> None:
    last = failover()[-1]
    left = events.MemberLeft(last.seq + 2, last.time_us + 2, 0, "g", 0, "a", "a1", "left")
    found = rows_after(assignment(1, "a", 3, "STABLE", "t-0"), left)
    assert owners(found) == {"": ""}
