"""What must hold is checked as it is stated; known violations of a release are told apart."""

import pytest

from emulator import events
from emulator.audit.invariants import (
    INVARIANTS,
    POWER_LOSS,
    Invariants,
    InvariantState,
    known_violations,
)
from emulator.broker.replication.replica import Replica
from emulator.events import Event
from emulator.releases.profiles import PROFILES
from emulator.simulation.kernel import Kernel, KernelState
from emulator.storage.log import Log


def _replica(end: int, high_watermark: int = 0) -> Replica:
    return Replica("t-0", 0, log=Log(end=end), log_end=end, high_watermark=high_watermark)


def _disks(replica: Replica) -> dict[int, dict[str, Replica]]:
    """The same replica on the disks of five brokers."""
    return {broker: {replica.tp: replica} for broker in range(5)}


def _checked(version: str = "3.9", end: int = 5) -> tuple[Invariants, Kernel, list[Event]]:
    seen: list[Event] = []
    kernel = Kernel(KernelState(random_state=1))
    kernel.subscribe(seen.append, [events.InvariantViolated])
    checks = Invariants(InvariantState(), kernel, PROFILES[version], _disks(_replica(end)))
    return checks, kernel, seen


def _named(seen: list[Event]) -> list[tuple[str, bool]]:
    return [(e.name, e.known) for e in seen if isinstance(e, events.InvariantViolated)]


def test_a_high_watermark_above_the_leo_is_a_violation() -> None:
    checks, kernel, seen = _checked(end=5)
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 6, 5, "append")
    checks.flush()
    assert _named(seen) == [("HighWatermarkInLog", False)]
    assert checks.state.unexpected == 1


def test_before_the_high_watermark_lived_in_the_log_that_is_known() -> None:
    checks, kernel, seen = _checked("0.10.2")
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 6, 5, "response")
    checks.flush()
    assert _named(seen) == [("HighWatermarkInLog", True)]
    assert checks.state.unexpected == 0


@pytest.mark.parametrize(("version", "known"), [("2.2", True), ("2.4", False)])
def test_a_high_watermark_that_is_left_above_a_log_that_was_truncated_is_one(
    version: str, known: bool
) -> None:
    checks, kernel, seen = _checked(version)
    checks.disks = _disks(_replica(3, high_watermark=4))
    kernel.emit(events.LogTruncated, "t-0", 1, 3, 5, "to end of epoch")
    assert seen == []
    checks.flush()
    assert _named(seen) == [("HighWatermarkInLog", known)]


def test_a_high_watermark_that_goes_with_its_log_is_none() -> None:
    checks, kernel, seen = _checked()
    checks.disks = _disks(_replica(3, high_watermark=3))
    kernel.emit(events.LogTruncated, "t-0", 1, 3, 5, "to end of epoch")
    checks.disks = {}
    kernel.emit(events.LogTruncated, "t-0", 2, 3, 5, "to end of epoch")
    checks.flush()
    assert seen == []
    assert checks.state.cut == []


@pytest.mark.parametrize(("version", "known"), [("2.0.1", True), ("2.1", False)])
def test_a_member_that_truncates_what_is_committed_is_a_violation(
    version: str, known: bool
) -> None:
    checks, kernel, seen = _checked(version)
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 0, [1, 2], 1, 0)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 0)
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 5, 0, "fetch")
    for end in (6, 5):
        kernel.emit(events.LogTruncated, "t-0", 2, end, 7, "to end of epoch")
    kernel.emit(events.LogTruncated, "t-0", 3, 4, 7, "to end of epoch")
    kernel.emit(events.LogTruncated, "t-0", 2, 4, 5, POWER_LOSS)
    checks.flush()
    assert seen == []
    kernel.emit(events.LogTruncated, "t-0", 2, 4, 5, "to high watermark")
    kernel.emit(events.LogTruncated, "t-0", 2, 4, 5, "no epoch: to high watermark")
    checks.flush()
    assert _named(seen) == [("CommittedInIsr", known)] * 2


@pytest.mark.parametrize(("end", "found"), [(4, [("CommittedInIsr", False)]), (5, [])])
@pytest.mark.parametrize("member", [1, 3])
def test_a_member_joins_with_all_that_is_committed(
    member: int, end: int, found: list[tuple[str, bool]]
) -> None:
    checks, kernel, seen = _checked()
    kernel.emit(events.PartitionStateChanged, "t-0", 2, 0, [2], 1, 0)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 2, "leader", 2, 0)
    kernel.emit(events.HighWatermarkChanged, "t-0", 2, 5, 0, "append")
    checks.disks = _disks(_replica(end))
    kernel.emit(events.PartitionStateChanged, "t-0", 2, 0, [2, member], 1, 1)
    checks.flush()
    assert _named(seen) == found


def test_who_leads_without_having_been_in_the_isr_does_not_join_it() -> None:
    checks, kernel, seen = _checked()
    kernel.emit(events.ReplicaRoleChanged, "t-0", 2, "leader", 2, 0)
    kernel.emit(events.HighWatermarkChanged, "t-0", 2, 5, 0, "append")
    checks.disks = _disks(_replica(3))
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 1, [1], 1, 1)
    checks.flush()
    assert seen == []


@pytest.mark.parametrize(
    ("leader", "isr", "name"),
    [
        (1, [2], "LeaderInIsr"),
        (0, [1, 2], "LeaderInIsr"),
        (1, [1, 9], "IsrInAssigned"),
    ],
)
def test_a_state_that_contradicts_itself_is_a_violation(
    leader: int, isr: list[int], name: str
) -> None:
    checks, kernel, seen = _checked()
    kernel.emit(events.TopicCreated, "t", [[1, 2]], {})
    kernel.emit(events.PartitionStateChanged, "t-0", leader, 0, isr, 1, 0)
    checks.flush()
    assert (name, name in checks.known) in _named(seen)


def test_a_partition_without_a_leader_has_an_isr_all_the_same() -> None:
    checks, kernel, seen = _checked()
    kernel.emit(events.PartitionStateChanged, "t-0", -1, 3, [1], 1, 0)
    checks.flush()
    assert seen == []


def test_a_leader_epoch_that_goes_back_is_a_violation() -> None:
    checks, kernel, seen = _checked()
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 3, [1], 1, 0)
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 2, [1], 1, 1)
    checks.flush()
    assert _named(seen) == [("EpochMonotonic", False)]


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_two_leaders_in_one_epoch_are_a_violation(first: int, second: int) -> None:
    checks, kernel, seen = _checked()
    kernel.emit(events.ReplicaRoleChanged, "t-0", first, "leader", first, 3)
    kernel.emit(events.ReplicaRoleChanged, "t-0", second, "leader", second, 3)
    checks.flush()
    assert _named(seen) == [("OneLeaderPerEpoch", False)]


@pytest.mark.parametrize(
    ("broker", "role", "epoch"),
    [
        pytest.param(1, "leader", 3, id="the leader is told again"),
        pytest.param(2, "follower", 3, id="a follower in its epoch"),
        pytest.param(2, "offline", 3, id="a process that ended"),
        pytest.param(2, "leader", 2, id="who is told late that it led before"),
        pytest.param(2, "leader", 4, id="the next leader"),
    ],
)
def test_one_leader_an_epoch_is_none(broker: int, role: str, epoch: int) -> None:
    checks, kernel, seen = _checked()
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 3)
    kernel.emit(events.ReplicaRoleChanged, "t-0", broker, role, 1, epoch)
    checks.flush()
    assert seen == []


def test_a_high_watermark_that_goes_back_is_a_violation_on_the_leader_only() -> None:
    checks, kernel, seen = _checked()
    kernel.emit(events.ReplicaRoleChanged, "t-0", 2, "leader", 2, 0)
    for broker in (1, 3):
        kernel.emit(events.HighWatermarkChanged, "t-0", broker, 3, 4, "fetch")
    kernel.emit(events.HighWatermarkChanged, "t-0", 2, 3, 4, "make-leader")
    kernel.emit(events.HighWatermarkChanged, "t-0", 2, 4, 4, "fetch")
    checks.flush()
    assert seen == []
    for _ in range(2):
        kernel.emit(events.HighWatermarkChanged, "t-0", 2, 3, 4, "fetch")
    checks.flush()
    assert _named(seen) == [("HighWatermarkMonotonic", False)] * 2
    assert checks.state.violated == {"HighWatermarkMonotonic": 2}


@pytest.mark.parametrize("end", [5, 7])
def test_a_leader_with_all_that_is_committed_is_none(end: int) -> None:
    checks, kernel, seen = _checked(end=5)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 0)
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 5, 0, "fetch")
    checks.disks = _disks(_replica(end))
    kernel.emit(events.LeaderElected, "t-0", 0, 2, 1, [2], "Offline")
    checks.flush()
    assert seen == []


def test_of_a_new_partition_nothing_is_committed() -> None:
    checks, kernel, seen = _checked(end=0)
    kernel.emit(events.LeaderElected, "t-0", -1, 1, 0, [1], "New")
    checks.flush()
    assert seen == []


def test_a_replica_that_is_not_there_has_nothing() -> None:
    checks, kernel, seen = _checked()
    checks.disks = {}
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 0, 0, "response")
    checks.flush()
    assert seen == []
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 1, 0, "response")
    checks.flush()
    assert _named(seen) == [("HighWatermarkInLog", False)]


def test_what_a_leader_of_an_earlier_epoch_or_nobody_says_is_not_committed() -> None:
    checks, kernel, seen = _checked(end=5)
    for broker in (0, 1):
        kernel.emit(events.HighWatermarkChanged, "t-0", broker, 5, 0, "fetch")
    kernel.emit(events.ReplicaRoleChanged, "t-0", 2, "leader", 2, 3)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 2)
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 5, 0, "fetch")
    checks.disks = _disks(_replica(3))
    kernel.emit(events.LeaderElected, "t-0", 1, 2, 4, [2], "Offline")
    checks.flush()
    assert seen == []


@pytest.mark.parametrize("broker", [1, 3])
def test_only_a_leaders_high_watermark_says_what_is_committed(broker: int) -> None:
    checks, kernel, seen = _checked(end=5)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 2, "leader", 2, 0)
    kernel.emit(events.HighWatermarkChanged, "t-0", broker, 5, 0, "fetch")
    checks.disks = _disks(_replica(3))
    kernel.emit(events.LeaderElected, "t-0", 0, 2, 1, [2], "Offline")
    checks.flush()
    assert seen == []


def test_a_leader_without_what_was_committed_is_a_violation() -> None:
    checks, kernel, seen = _checked(end=5)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 0)
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 5, 0, "fetch")
    checks.disks = _disks(_replica(3))
    kernel.emit(events.LeaderElected, "t-0", 0, 2, 1, [2], "Offline")
    checks.flush()
    assert [name for name, _ in _named(seen)] == ["TrueLeader"]


def _lost_its_tail(loss: events.Event) -> tuple[Invariants, Kernel, list[Event]]:
    """1 led alone up to HW 5; then something happened to its log, and its LEO is 3."""
    checks, kernel, seen = _checked(end=5)
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 0, [1], 1, 0)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 0)
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 5, 0, "append")
    kernel.emit(type(loss), *[getattr(loss, name) for name in loss.__struct_fields__[3:]])
    checks.disks = _disks(_replica(3))
    return checks, kernel, seen


@pytest.mark.parametrize(
    "loss",
    [
        events.LogTruncated(1, 0, 0, "t-0", 1, 3, 5, POWER_LOSS),
        events.LogDeleted(1, 0, 0, "t-0", 1),
    ],
    ids=["power", "disk"],
)
def test_a_last_replica_that_lost_its_tail_and_leads_is_a_violation_that_is_known(
    loss: events.Event,
) -> None:
    checks, kernel, seen = _lost_its_tail(loss)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 1)
    checks.flush()
    assert _named(seen) == [("LastReplica", True)]


def test_who_joined_the_isr_again_counts_as_whole() -> None:
    checks, kernel, seen = _lost_its_tail(events.LogDeleted(1, 0, 0, "t-0", 2))
    checks.disks = _disks(_replica(5))
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 0, [1, 2], 1, 1)
    checks.disks = _disks(_replica(3))
    kernel.emit(events.LeaderElected, "t-0", 1, 2, 1, [2], "Offline")
    checks.flush()
    assert _named(seen) == [("TrueLeader", False)]


def test_a_replica_that_is_only_told_that_it_leads_is_not_looked_at_again() -> None:
    checks, kernel, seen = _lost_its_tail(events.LogDeleted(1, 0, 0, "t-0", 2))
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 1)
    checks.flush()
    assert seen == []


def test_a_violation_names_the_event_that_caused_it() -> None:
    checks, kernel, seen = _checked()
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 3, [1], 1, 0)
    seq = kernel.emit(events.PartitionStateChanged, "t-0", 1, 2, [1], 1, 1)
    checks.flush()
    assert [each.cause for each in seen] == [seq]
    assert kernel.cause == 0


def test_an_unclean_election_is_no_violation() -> None:
    checks, kernel, seen = _checked(end=5)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 0)
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 5, 0, "fetch")
    checks.disks = _disks(_replica(3))
    kernel.emit(events.LeaderElected, "t-0", 0, 2, 1, [2], "Unclean")
    checks.flush()
    assert seen == []


def test_what_an_old_leader_commits_after_an_unclean_election_is_given_up_with_the_rest() -> None:
    checks, kernel, seen = _checked(end=5)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 0)
    kernel.emit(events.LeaderElected, "t-0", 0, 2, 2, [2], "Unclean")
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 4, 0, "append")
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 1)
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 5, 4, "append")
    kernel.emit(events.ReplicaRoleChanged, "t-0", 2, "leader", 2, 2)
    checks.disks = _disks(_replica(0))
    kernel.emit(events.LeaderElected, "t-0", 0, 2, 3, [2], "Offline")
    checks.flush()
    assert seen == []


@pytest.mark.parametrize("version", PROFILES)
def test_what_a_release_breaks_is_an_invariant_with_a_reason(version: str) -> None:
    for name, reason in known_violations(PROFILES[version]).items():
        assert name in INVARIANTS
        assert reason


@pytest.mark.parametrize(("end", "found"), [(4, [("CommittedInElr", False)]), (5, [])])
def test_who_is_eligible_has_all_that_is_committed(end: int, found: list[tuple[str, bool]]) -> None:
    checks, kernel, seen = _checked("4.1")
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 0, [1, 2], 1, 0)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 0)
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 5, 0, "fetch")
    checks.eligible_of = lambda _: [2]
    checks.disks = {**_disks(_replica(5)), 2: {"t-0": _replica(end)}}
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 0, [1], 1, 1)
    checks.flush()
    assert _named(seen) == found


def test_an_eligible_replica_truncates_nothing_that_is_committed() -> None:
    checks, kernel, seen = _checked("4.1")
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 0, [1], 1, 0)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 0)
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 5, 0, "fetch")
    checks.eligible_of = lambda _: [2]
    kernel.emit(events.LogTruncated, "t-0", 2, 5, 7, "to end of epoch")
    kernel.emit(events.LogTruncated, "t-0", 3, 4, 7, "to end of epoch")
    checks.flush()
    assert seen == []
    kernel.emit(events.LogTruncated, "t-0", 2, 4, 5, "to end of epoch")
    checks.flush()
    assert _named(seen) == [("CommittedInElr", False)]


def test_an_eligible_replica_may_lose_its_tail_with_its_power() -> None:
    checks, kernel, seen = _checked("4.1")
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 0, [1, 2], 1, 0)
    kernel.emit(events.ReplicaRoleChanged, "t-0", 1, "leader", 1, 0)
    kernel.emit(events.HighWatermarkChanged, "t-0", 1, 5, 0, "fetch")
    checks.eligible_of = lambda _: [2]
    kernel.emit(events.LogTruncated, "t-0", 2, 3, 5, POWER_LOSS)
    checks.disks = {**_disks(_replica(5)), 2: {"t-0": _replica(3)}}
    kernel.emit(events.PartitionStateChanged, "t-0", 1, 0, [1], 1, 1)
    kernel.emit(events.LogTruncated, "t-0", 2, 2, 3, "to end of epoch")
    checks.flush()
    assert seen == []
